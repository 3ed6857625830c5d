// SPDX-License-Identifier: MIT
// sub_groups: a sum by sub-groups, in a file of its own as not every OpenCL has them.

#pragma OPENCL EXTENSION cl_khr_subgroups : enable

// out[g] = the sum of the numbers that group g has, `each` for a work-item, modulo 2^32.
// Launch: one dimension, groups of at most 1024.
kernel void sum(global const uint* in, global uint* out, uint each) {
  local uint sums[128];
  const size_t first = get_group_id(0) * get_local_size(0) * each + get_local_id(0);
  uint own = 0;
  for (uint i = 0; i < each; ++i) own += in[first + i * get_local_size(0)];
  own = sub_group_reduce_add(own);
  if (get_sub_group_local_id() == 0) sums[get_sub_group_id()] = own;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) != 0) return;
  uint all = 0;
  for (uint i = 0; i < get_num_sub_groups(); ++i) all += sums[i];
  out[get_group_id(0)] = all;
}
