// SPDX-License-Identifier: MIT
// scan: prefix sums of a work-group, one barrier after each of two phases a step: as heavy in barriers as kernels get.

// out[i] = sum of in from the first work-item of i's group up to i, modulo 2^32.
// Launch: one dimension, any group size; the global size is n exactly.
//   in, out  n uints
//   tile     group size * 4 bytes
kernel void scan(global const uint* in, global uint* out, local uint* tile) {
  const uint item = get_local_id(0);
  const uint size = get_local_size(0);
  tile[item] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 1; step < size; step *= 2) {
    const uint before = item >= step ? tile[item - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[item] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = tile[item];
}
