// SPDX-License-Identifier: MIT
// Sub-groups are beyond the CPU device for now: the build must say so.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void sums_sub_group(global int* a) {
  const int i = get_global_id(0);
  a[i] = sub_group_reduce_add(a[i]) + get_sub_group_local_id();
}
