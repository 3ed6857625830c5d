// SPDX-License-Identifier: MIT
// 16 MB of private memory a work-item, which is more than any device has for all of its hardware threads;
// private_memory.spv is built from it by ocloc 22.43, -spv_only.
kernel void private_array(global int* out, int n) {
  int a[4000000];
  for (int i = 0; i < 4000000; ++i) a[i] = out[i] * n + i;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += a[(i * 7919) % 4000000];
  out[get_global_id(0)] = sum;
}
