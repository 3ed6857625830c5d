// SPDX-License-Identifier: MIT
// slm_limit: a work-group whose shared local memory grows with its size, to find where a device says no.

// Each work-item writes `words` words into the tile and then adds up those of the next work-item of its group
// (the last one takes the first one's), so a wrong tile size or a missing barrier gives a wrong sum.
//   out[i] = sum over w < words of (in[next(i)] + w), modulo 2^32; an `in` at or past n counts as 0
// Launch: one dimension, any group size that fits; the global size is n rounded up to whole groups.
//   in     n uints, read
//   out    n uints, written
//   n      number of elements
//   words  words (4 bytes) of shared local memory per work-item, at least 1
//   tile   group size * words * 4 bytes, chosen by the host
kernel void dynamic_tile(global const uint* in, global uint* out, uint n, uint words, local uint* tile) {
  const size_t i = get_global_id(0);
  const size_t item = get_local_id(0);
  const size_t size = get_local_size(0);
  const uint value = i < n ? in[i] : 0;
  // Word by word across the group: neighbours write neighbouring words, which are in different banks.
  for (uint word = 0; word < words; ++word) tile[word * size + item] = value + word;
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t next = item + 1 < size ? item + 1 : 0;
  uint sum = 0;
  for (uint word = 0; word < words; ++word) sum += tile[word * size + next];
  if (i < n) out[i] = sum;
}
