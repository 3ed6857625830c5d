// SPDX-License-Identifier: MIT
// Kernels whose sub-groups go different ways, and the items of each the same. Each work-item writes out[i], and reads
// in[0..63] and its group's tile, of 8 ints a work-item. sub_groups.ocloc.spv comes from ocloc 22.43 (-device pvc
// -spv_only -options -cl-std=CL2.0).
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups : enable

#define HEAD                                                                                     \
  const uint items = get_local_size(0) * get_local_size(1) * get_local_size(2);                  \
  const uint item = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)); \
  const uint group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2)); \
  const uint i = group * items + item;                                                           \
  const uint lane = get_sub_group_local_id(), sub = get_sub_group_id(), size = get_sub_group_size()
#define KERNEL(name) kernel void name(global const int* in, global int* out, int n, local int* tile)

// As often as the sub-group's number says, a sum that goes on.
KERNEL(turns) {
  HEAD;
  int sum = in[item % 64];
  for (uint k = 0; k < sub % 3 + (uint)n; ++k) sum = sub_group_reduce_add(sum + (int)k) - sum * (int)lane;
  out[i] = sum;
}

// Each item's value in turn is looked at by all, in a loop that ends at another for each sub-group; private counts.
KERNEL(counts) {
  HEAD;
  int own[6];
  for (uint k = 0; k < 6; ++k) own[k] = n;
  const int mine = in[(item * 7 + group) % 64];
  for (uint from = 0; from < min(size, sub + 3); ++from) {
    const int value = sub_group_broadcast(mine, from);
    if (lane == (uint)value % size) ++own[(uint)value % 6];
    own[(uint)value % 5] += lane;
  }
  int sum = 0;
  for (uint k = 0; k < 6; ++k) sum = sum * 31 + own[k];
  out[i] = sum;
}

// Ids of a dimension without the lane, as an offset of the sub-group.
KERNEL(offsets) {
  HEAD;
  const uint first = (uint)get_global_id(0) - lane;
  int sum = 0;
  for (uint at = first; at < first + sub_group_reduce_max((uint)in[first % 64]) % 5 + 1; ++at)
    sum += sub_group_scan_inclusive_add(in[(at + lane) % 64]) * (int)at;
  out[i] = sum + (int)get_local_id(1) * 3 + (int)get_local_id(2) * 5;
}

// Floating-point sums keep their order; truth values, and what one has for all.
KERNEL(kinds) {
  HEAD;
  int sum = 0;
  if (sub % 2 == 0) {
    const float x = in[item % 64] * 0.1f;
    const float total = sub_group_reduce_add(x), before = sub_group_scan_exclusive_add(x);
    sum = as_int(total) ^ as_int(before);
    if (sub_group_any(in[item % 64] > 90)) sum += sub_group_reduce_min(in[item % 64]);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  } else {
    const long wide = ((long)in[item % 64] << 33) - item;
    sum = (int)(sub_group_scan_inclusive_max(wide) >> 7) + (int)sub_group_reduce_add(wide);
    if (sub_group_all(in[item % 64] < 95)) sum ^= sub_group_broadcast(sum, size - 1);
  }
  out[i] = sum;
}

// Values that all of a sub-group have go into branches, loops and addresses of others.
KERNEL(uniform) {
  HEAD;
  int value = in[(item + sub) % 64];
  int sum = 0;
  for (int round = 0; round < n; ++round) {
    const int most = sub_group_reduce_max(value);
    if (most % 2 == 0) {
      value += sub_group_broadcast(value, (uint)most % size);
      tile[item] = value;
      sub_group_barrier(CLK_LOCAL_MEM_FENCE);
      sum += tile[item - lane + ((uint)most + lane) % size];
      sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    } else {
      for (int k = 0; k < most % 4; ++k) value ^= intel_sub_group_shuffle(value, (lane + k) % size) + k;
    }
    if (sub_group_reduce_add(value & 1) == 1) break;
    value -= round + (int)lane;
  }
  out[i] = sum * 31 + value;
}

// One item has more to do than the others, which may wait: such a kernel runs a fiber a work-item.
KERNEL(apart) {
  HEAD;
  int sum = in[item % 64];
  for (uint k = 0; k < lane % 2 + 1; ++k) sum += intel_sub_group_shuffle(sum, lane ^ 1);
  out[i] = sum + sub_group_reduce_add(in[item % 64]);
}
