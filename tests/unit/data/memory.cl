// SPDX-License-Identifier: MIT
// Memory of hardware threads, hints, globals and printf: `memory.pvc.bin` is this by ocloc 22.43, for pvc, with
// `-options -cl-std=CL2.0 -exclude_ir -internal_options -cl-intel-allow-zebin`.
__attribute__((work_group_size_hint(32,2,1))) __attribute__((intel_reqd_sub_group_size(16)))
__kernel void spills(__global float* out, int n) {
  float a[300]; for (int i = 0; i < 300; ++i) a[i] = out[i * n];
  for (int k = 0; k < n; ++k) for (int i = 0; i < 300; ++i) a[i] = a[(i * 7 + k) % 300] * a[i] + k;
  for (int i = 0; i < 300; ++i) out[i] = a[i];
}
__kernel void private_array(__global float* out, int n) {
  float a[20000]; for (int i = 0; i < 20000; ++i) a[(i * n) % 20000] = i; out[get_global_id(0)] = a[n];
}
__kernel void prints(__global int* out) { printf("%d\n", out[0]); }
__constant int table[4] = {1,2,3,4};
__global int counter = 7;
__kernel void atomics(__global int* out) { atomic_add(out, 1); atomic_add(&counter, 2); out[2] = table[out[1] & 3]; }
