// SPDX-License-Identifier: MIT
// coalescing: four neighbouring floats a work-item, which the compiler may or may not join to one wide access.

// All kernels answer out[i] = 2 * in[i] + i % 4.
// Launch: one dimension, any group size, at least ceil(n / 4) work-items; the surplus does nothing.
//   in   n floats, read
//   out  n floats, written
//   n    number of floats; the last work-item may have fewer than four

enum { kEach = 4 };

void last_few(global const float* in, global float* out, uint n, uint base) {
  for (uint i = base; i < n; ++i) out[i] = 2.0f * in[i] + (i - base);
}

// The indices are constants apart, known when this is compiled: one wide load and one wide store.
kernel void contiguous(global const float* in, global float* out, uint n) {
  const uint base = get_global_id(0) * kEach;
  if (base >= n) return;
  if (n - base < kEach) {
    last_few(in, out, n, base);
    return;
  }
  float values[kEach];
#pragma unroll
  for (uint k = 0; k < kEach; ++k) values[k] = in[base + k];
#pragma unroll
  for (uint k = 0; k < kEach; ++k) out[base + k] = 2.0f * values[k] + k;
}

// The same floats in the order of `offsets`, a permutation of 0 to 3 that only the host knows: four loads, four stores.
kernel void indirect(global const float* in, global float* out, uint n, global const uint* offsets) {
  const uint base = get_global_id(0) * kEach;
  if (base >= n) return;
  if (n - base < kEach) {
    last_few(in, out, n, base);
    return;
  }
  float values[kEach];
#pragma unroll
  for (uint k = 0; k < kEach; ++k) values[k] = in[base + offsets[k]];
#pragma unroll
  for (uint k = 0; k < kEach; ++k) out[base + offsets[k]] = 2.0f * values[k] + offsets[k];
}

// One wide access by construction; the address need be that of a float only.
kernel void vector(global const float* in, global float* out, uint n) {
  const uint base = get_global_id(0) * kEach;
  if (base >= n) return;
  if (n - base < kEach) {
    last_few(in, out, n, base);
    return;
  }
  vstore4(2.0f * vload4(0, in + base) + (float4)(0.0f, 1.0f, 2.0f, 3.0f), 0, out + base);
}

// The same through pointers to float4, whose addresses are multiples of 16.
kernel void vector_pointer(global const float* in, global float* out, uint n) {
  const uint item = get_global_id(0);
  const uint base = item * kEach;
  if (base >= n) return;
  if (n - base < kEach) {
    last_few(in, out, n, base);
    return;
  }
  ((global float4*)out)[item] = 2.0f * ((global const float4*)in)[item] + (float4)(0.0f, 1.0f, 2.0f, 3.0f);
}
