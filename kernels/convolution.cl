// SPDX-License-Identifier: MIT
// convolution: each output is a weighted sum of its input and that input's neighbours, in one dimension.

// out[i] = sum over j < m of taps[j] * in[i + j - m / 2]; an input outside the array counts as 0.
// Launch: one dimension, groups of 256 for the guide's case, any other size too; the global size is n rounded up to
// whole groups.
//   in    n floats, read
//   taps  m floats, read
//   out   n floats, written
//   n     number of inputs
//   m     number of taps, at least 1, odd or even

// Each work-item reads its m inputs from global memory: n * m reads minus those that the edges spare.
kernel void global_1d(global const float* in, global const float* taps, global float* out, uint n, uint m) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  const long first = (long)i - m / 2;
  float sum = 0.0f;
  for (uint j = 0; j < m; ++j) {
    const long at = first + j;
    if (at >= 0 && at < n) sum += taps[j] * in[at];
  }
  out[i] = sum;
}

// The work-group reads its inputs once, to SLM: each work-item its own, the first and the last one the halo of m / 2
// inputs on their side. What lies outside the array is 0 there, so that the sum needs no comparison.
//   tile  (group size + 2 * (m / 2)) * 4 bytes, chosen by the host
kernel void slm_1d(global const float* in, global const float* taps, global float* out, uint n, uint m,
                   local float* tile) {
  const size_t i = get_global_id(0);
  const uint item = get_local_id(0);
  const uint size = get_local_size(0);
  const uint halo = m / 2;
  tile[halo + item] = i < n ? in[i] : 0.0f;
  if (item == 0)
    for (uint h = 0; h < halo; ++h) {
      const long at = (long)i - halo + h;
      tile[h] = at >= 0 && at < n ? in[at] : 0.0f;
    }
  if (item == size - 1)
    for (uint h = 0; h < halo; ++h) {
      const size_t at = i + 1 + h;
      tile[halo + size + h] = at < n ? in[at] : 0.0f;
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i >= n) return;
  float sum = 0.0f;
  for (uint j = 0; j < m; ++j) sum += taps[j] * tile[item + j];
  out[i] = sum;
}
