// SPDX-License-Identifier: MIT
// A kernel that keeps more values than a hardware thread has registers, and one that does not. registers.spv is built
// from it by ocloc 22.43.
kernel void spills(global float* out, global const float* in, int n) {
  float a[160];
  #pragma unroll
  for (int i = 0; i < 160; ++i) a[i] = in[get_global_id(0) * 160 + i];
  for (int k = 0; k < n; ++k)
    #pragma unroll
    for (int i = 0; i < 160; ++i) a[i] = a[i] * a[(i * 7 + 3) % 160] + in[k + i];
  float s = 0;
  #pragma unroll
  for (int i = 0; i < 160; ++i) s += a[i];
  out[get_global_id(0)] = s;
}
kernel void light(global float* out) { out[get_global_id(0)] = 1; }
