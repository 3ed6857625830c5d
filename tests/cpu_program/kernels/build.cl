// SPDX-License-Identifier: MIT
// What the build tests damage: a kernel with SLM and a barrier, one without, a specialization would be in .spvasm.
kernel void sum(global const int* in, global int* out, local int* tile) {
  local int total;
  const uint i = get_local_id(0);
  tile[i] = in[get_global_id(0)];
  if (i == 0) total = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i == 0) {
    for (uint k = 0; k < get_local_size(0); ++k) total += tile[k];
    out[get_group_id(0)] = total;
  }
}

kernel __attribute__((reqd_work_group_size(8, 4, 1))) void twice(global float* a) { a[get_global_id(0)] *= 2; }
