// SPDX-License-Identifier: MIT
// bank_conflict: neighbours that touch shared local memory `stride` words apart, so that fewer banks serve them, or at one
// word.

// SLM has 16 banks of 4 bytes: words a multiple of 16 apart are in one bank and are served one after another. With an
// odd stride 16 neighbours use all banks, with stride 16 or 32 a single one: 1/16 of the rate.
// Each work-item counts its own word up; then it copies the `stride` words that begin at that of the next work-item of
// its group (the last one takes the first one's), so a wrong stride or a missing barrier gives a wrong answer.
//   out[i * stride] = in[next(i)] + rounds, modulo 2^32; the stride - 1 words behind it are 0; an `in` at or past n is 0
// Launch: one dimension, groups of 32 for the guide's case, any other size too; the global size is n rounded up to whole
// groups.
//   in      n uints, read
//   out     n * stride uints, written
//   n       number of elements
//   stride  words between the work-items' words, at least 1
//   rounds  times that each word is counted up
//   slm     group size * stride * 4 bytes, chosen by the host
kernel void stride(global const uint* in, global uint* out, uint n, uint stride, uint rounds, local uint* slm) {
  const size_t i = get_global_id(0);
  const uint item = get_local_id(0);
  const uint size = get_local_size(0);
  slm[item * stride] = i < n ? in[i] : 0;
  for (uint gap = 1; gap < stride; ++gap) slm[item * stride + gap] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint round = 0; round < rounds; ++round) {
    slm[item * stride]++;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const uint next = item + 1 < size ? item + 1 : 0;
  if (i < n)
    for (uint word = 0; word < stride; ++word) out[i * stride + word] = slm[next * stride + word];
}

// All work-items of a group read the same word at a time, one word after the other. A bank that gives one word gives it to
// all who ask: no conflict, 1 turn a read, however many ask.
//   out[i] = sum over w < group size of in[first + w] * (item + w), modulo 2^32; an `in` at or past n is 0
// where `first` is the group's first element and `item` the work-item's place in the group.
// Launch: one dimension, any group size; the global size is n rounded up to whole groups.
//   in   n uints, read
//   out  n uints, written
//   n    number of elements
//   slm  group size * 4 bytes, chosen by the host
kernel void broadcast(global const uint* in, global uint* out, uint n, local uint* slm) {
  const size_t i = get_global_id(0);
  const uint item = get_local_id(0);
  const uint size = get_local_size(0);
  slm[item] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = 0;
  for (uint word = 0; word < size; ++word) sum += slm[word] * (item + word);
  if (i < n) out[i] = sum;
}
