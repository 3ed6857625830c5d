// SPDX-License-Identifier: MIT
// histogram: bins counted in shared local memory, so that global memory sees one atomic a bin and work-group.

// Both kernels add to `bins`, which the host has zeroed. Each work-group takes `block` values of 64 bits.
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
