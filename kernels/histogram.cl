// SPDX-License-Identifier: MIT
// histogram: bins counted in shared local memory or registers, so that global memory sees one atomic for many values.

#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#pragma OPENCL EXTENSION cl_intel_subgroups_long : enable

// All kernels add to `bins`, which the host has zeroed.

// With SLM each work-group takes `block` values of 64 bits, and makes one global atomic a bin.
// Launch: one dimension, any group size, smaller or larger than the number of bins; ceil(n / block) work-groups.
//   in     n ulongs, read
//   bins   256 or 1024 uints, added to
//   n      number of 64-bit values
//   block  values a work-group, at least 1

void clear(local uint* slm, uint bins) {
  for (uint bin = get_local_id(0); bin < bins; bin += get_local_size(0)) slm[bin] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Empty bins are added too: without a branch, the number of global atomics is known before.
void merge(local uint* slm, global uint* bins, uint count) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint bin = get_local_id(0); bin < count; bin += get_local_size(0)) atomic_add(bins + bin, slm[bin]);
}

// 256 bins: each of the eight bytes of a value counts.
kernel void slm_256(global const ulong* in, global uint* bins, uint n, uint block) {
  local uint slm[256];
  clear(slm, 256);
  const size_t first = get_group_id(0) * (size_t)block;
  const size_t end = min(first + block, (size_t)n);
  for (size_t i = first + get_local_id(0); i < end; i += get_local_size(0)) {
    const ulong value = in[i];
#pragma unroll
    for (uint shift = 0; shift < 64; shift += 8) atomic_inc(slm + (value >> shift & 0xff));
  }
  merge(slm, bins, 256);
}

// 1024 bins: four fields of 10 bits of a value count, at bits 0, 16, 32 and 48.
kernel void slm_1024(global const ulong* in, global uint* bins, uint n, uint block) {
  local uint slm[1024];
  clear(slm, 1024);
  const size_t first = get_group_id(0) * (size_t)block;
  const size_t end = min(first + block, (size_t)n);
  for (size_t i = first + get_local_id(0); i < end; i += get_local_size(0)) {
    const ulong value = in[i];
#pragma unroll
    for (uint shift = 0; shift < 64; shift += 16) atomic_inc(slm + (value >> shift & 0x3ff));
  }
  merge(slm, bins, 1024);
}

// The same with bins that one work-item clears, while all others wait at the barrier.
kernel void slm_1024_one_clears(global const ulong* in, global uint* bins, uint n, uint block) {
  local uint slm[1024];
  if (get_local_id(0) == 0)
    for (uint bin = 0; bin < 1024; ++bin) slm[bin] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t first = get_group_id(0) * (size_t)block;
  const size_t end = min(first + block, (size_t)n);
  for (size_t i = first + get_local_id(0); i < end; i += get_local_size(0)) {
    const ulong value = in[i];
#pragma unroll
    for (uint shift = 0; shift < 64; shift += 16) atomic_inc(slm + (value >> shift & 0x3ff));
  }
  merge(slm, bins, 1024);
}

enum { kLanes = 16, kSlots = 16, kManySlots = 64, kValues = 256 };

// Adds to bins[b] how often b is a byte of the values: the same counts as `slm_256`.
// The 16 lanes of a sub-group hold 16 bins each: bin b is slot b / 16 of lane b % 16. The sub-group reads 16 values at
// a time, one a lane, and gives one after the other to all lanes; each byte is counted by the one lane whose it is. No
// two lanes count in one place, so nothing is atomic but the 16 additions a lane at the end.
// Launch: one dimension, groups of 64 or another multiple of 16; ceil(n / 256) work-items, rounded up to whole groups:
// a sub-group takes 16 * 256 values.
//   in    n ulongs, read
//   bins  256 uints, added to
//   n     number of 64-bit values
__attribute__((intel_reqd_sub_group_size(16)))
kernel void registers_256(global const ulong* in, global uint* bins, uint n) {
  const uint lane = get_sub_group_local_id();
  const size_t first = (get_global_id(0) - lane) * kValues;
  uint counts[kSlots];
#pragma unroll
  for (uint slot = 0; slot < kSlots; ++slot) counts[slot] = 0;

  // All of these bounds are the same for the whole sub-group.
  const size_t end = min(first + kLanes * kValues, (size_t)n);
  for (size_t at = first; at < end; at += kLanes) {
    // A block read takes all 16 values, so it must not be asked for the last few.
    const uint present = min(end - at, (size_t)kLanes);
    ulong mine = 0;
    if (present == kLanes)
      mine = intel_sub_group_block_read_ul(in + at);
    else if (lane < present)
      mine = in[at + lane];
    for (uint from = 0; from < present; ++from) {
      const ulong value = sub_group_broadcast(mine, from);
#pragma unroll
      for (uint shift = 0; shift < 64; shift += 8) {
        const uint bin = value >> shift & 0xff;
        if (lane == bin % kLanes) ++counts[bin / kLanes];
      }
    }
  }
#pragma unroll
  for (uint slot = 0; slot < kSlots; ++slot) atomic_add(bins + slot * kLanes + lane, counts[slot]);
}

// Adds to bins[b] how often b is one of the four 10-bit fields of the values: the same counts as `slm_1024`, in the way of
// `registers_256`. Now a lane holds 64 bins: 4 KiB a sub-group, as large as all registers of a hardware thread with 128 of
// 32 bytes, so that the compiler has to keep them in memory.
// Launch: as `registers_256`.
//   in    n ulongs, read
//   bins  1024 uints, added to
//   n     number of 64-bit values
__attribute__((intel_reqd_sub_group_size(16)))
kernel void registers_1024(global const ulong* in, global uint* bins, uint n) {
  const uint lane = get_sub_group_local_id();
  const size_t first = (get_global_id(0) - lane) * kValues;
  uint counts[kManySlots];
#pragma unroll
  for (uint slot = 0; slot < kManySlots; ++slot) counts[slot] = 0;

  const size_t end = min(first + kLanes * kValues, (size_t)n);
  for (size_t at = first; at < end; at += kLanes) {
    const uint present = min(end - at, (size_t)kLanes);
    ulong mine = 0;
    if (present == kLanes)
      mine = intel_sub_group_block_read_ul(in + at);
    else if (lane < present)
      mine = in[at + lane];
    for (uint from = 0; from < present; ++from) {
      const ulong value = sub_group_broadcast(mine, from);
#pragma unroll
      for (uint shift = 0; shift < 64; shift += 16) {
        const uint bin = value >> shift & 0x3ff;
        if (lane == bin % kLanes) ++counts[bin / kLanes];
      }
    }
  }
#pragma unroll
  for (uint slot = 0; slot < kManySlots; ++slot) atomic_add(bins + slot * kLanes + lane, counts[slot]);
}
