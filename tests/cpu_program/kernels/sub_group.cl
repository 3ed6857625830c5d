// SPDX-License-Identifier: MIT
// Kernels that require a sub-group size.
#define REQUIRES_KERNEL(size)                                                                           \
  __attribute__((intel_reqd_sub_group_size(size))) kernel void requires_##size(global uint* out) {      \
    out[get_global_id(0)] = get_max_sub_group_size() + 100 * sub_group_reduce_add(1u);                  \
  }
REQUIRES_KERNEL(8)
REQUIRES_KERNEL(16)
REQUIRES_KERNEL(32)
