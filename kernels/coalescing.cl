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

// The same four floats a work-item in shared local memory: a group copies its floats there, neighbour by neighbour; then
// each work-item reads and writes its own four; then the group copies them back. `last_few` is not needed: what is past n
// is 0 in SLM, and is not copied back.
//   slm  group size * 4 floats, chosen by the host; work-items of the launch: any number of whole groups
void copy_in(global const float* in, uint n, local float* slm) {
  const uint first = get_group_id(0) * get_local_size(0) * kEach;
  for (uint k = 0; k < kEach; ++k) {
    const uint place = get_local_id(0) + k * get_local_size(0);
    slm[place] = first + place < n ? in[first + place] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
void copy_out(local const float* slm, global float* out, uint n) {
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint first = get_group_id(0) * get_local_size(0) * kEach;
  for (uint k = 0; k < kEach; ++k) {
    const uint place = get_local_id(0) + k * get_local_size(0);
    if (first + place < n) out[first + place] = slm[place];
  }
}

// The indices are constants apart: one wide access of SLM can be made of four.
kernel void slm_contiguous(global const float* in, global float* out, uint n, local float* slm) {
  copy_in(in, n, slm);
  const uint base = get_local_id(0) * kEach;
  float values[kEach];
#pragma unroll
  for (uint k = 0; k < kEach; ++k) values[k] = slm[base + k];
#pragma unroll
  for (uint k = 0; k < kEach; ++k) slm[base + k] = 2.0f * values[k] + k;
  copy_out(slm, out, n);
}

// In the order of `offsets`, a permutation of 0 to 3: four accesses of SLM.
kernel void slm_indirect(global const float* in, global float* out, uint n, local float* slm,
                         global const uint* offsets) {
  copy_in(in, n, slm);
  const uint base = get_local_id(0) * kEach;
  float values[kEach];
#pragma unroll
  for (uint k = 0; k < kEach; ++k) values[k] = slm[base + offsets[k]];
#pragma unroll
  for (uint k = 0; k < kEach; ++k) slm[base + offsets[k]] = 2.0f * values[k] + offsets[k];
  copy_out(slm, out, n);
}

// One wide access of SLM by construction.
kernel void slm_vector(global const float* in, global float* out, uint n, local float* slm) {
  copy_in(in, n, slm);
  const uint base = get_local_id(0) * kEach;
  vstore4(2.0f * vload4(0, slm + base) + (float4)(0.0f, 1.0f, 2.0f, 3.0f), 0, slm + base);
  copy_out(slm, out, n);
}
