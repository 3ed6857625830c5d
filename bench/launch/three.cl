// SPDX-License-Identifier: MIT
// The kernel of the launch benchmark: one argument of each kind, next to no work.

// Launch: one dimension, any group size. tile: one float a work-item.
kernel void three(float factor, global float* data, local float* tile) {
  const size_t item = get_local_id(0);
  tile[item] = data[get_global_id(0)];
  data[get_global_id(0)] = factor * tile[item];
}
