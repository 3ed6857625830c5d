// SPDX-License-Identifier: MIT
// share: neighbours that give each other values, through the sub-group, shared local memory or global memory.

#pragma OPENCL EXTENSION cl_intel_subgroups : enable

// All kernels do the same: 16 neighbours form a ring. In each round each takes from the next one of its ring (the last one
// from the first):
//   value = 3 * value + next value, modulo 2^32, at first in[i]; an `in` at or past n is 0
//   out[i] = the value after `rounds` rounds
// They differ in the memory that the values go through.
// Launch: one dimension, groups of a multiple of 16; the global size is n rounded up to whole groups.
//   in      n uints, read
//   out     n uints, written
//   n       number of elements
//   rounds  any number
enum { kRing = 16 };

uint next_of(uint item) { return item / kRing * kRing + (item + 1) % kRing; }

// From register to register, without memory or barrier.
__attribute__((intel_reqd_sub_group_size(kRing)))
kernel void sub_group(global const uint* in, global uint* out, uint n, uint rounds) {
  const size_t i = get_global_id(0);
  const uint next = (get_sub_group_local_id() + 1) % kRing;
  uint value = i < n ? in[i] : 0;
  for (uint round = 0; round < rounds; ++round) value = 3 * value + intel_sub_group_shuffle(value, next);
  if (i < n) out[i] = value;
}

// Through SLM: a write, a read and two barriers a round.
//   slm  group size * 4 bytes, chosen by the host
kernel void slm(global const uint* in, global uint* out, uint n, uint rounds, local uint* slm) {
  const size_t i = get_global_id(0);
  const uint item = get_local_id(0), next = next_of(item);
  uint value = i < n ? in[i] : 0;
  for (uint round = 0; round < rounds; ++round) {
    slm[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    value = 3 * value + slm[next];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) out[i] = value;
}

// Through global memory, with the same barriers.
//   values  a uint for each work-item of the launch, written and read
kernel void global_memory(global const uint* in, global uint* out, uint n, uint rounds, global uint* values) {
  const size_t i = get_global_id(0);
  const uint item = get_local_id(0), next = next_of(item);
  uint value = i < n ? in[i] : 0;
  for (uint round = 0; round < rounds; ++round) {
    values[i] = value;
    barrier(CLK_GLOBAL_MEM_FENCE);
    value = 3 * value + values[i - item + next];
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (i < n) out[i] = value;
}
