// SPDX-License-Identifier: MIT
// Fifty kernels that differ, for the time that a module takes to be made: each sums over a strip of the input
// and mixes through SLM.

// Launch: one dimension, groups of up to 256 work-items.
#define KERNEL(n)                                                                              \
  kernel void k##n(global const float* in, global float* out, uint strip, local float* tile) { \
    const size_t item = get_local_id(0);                                                       \
    float sum = n;                                                                             \
    for (uint i = 0; i < strip; ++i) sum = mad(in[get_global_id(0) * strip + i], n + 0.5f, sum); \
    tile[item] = sum;                                                                          \
    barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    out[get_global_id(0)] = tile[item ^ (n & 7)] + native_sqrt(sum * sum + n);                 \
  }
#define TEN(t) \
  KERNEL(t##0) KERNEL(t##1) KERNEL(t##2) KERNEL(t##3) KERNEL(t##4) KERNEL(t##5) KERNEL(t##6) KERNEL(t##7) KERNEL(t##8) KERNEL(t##9)
TEN(1)
TEN(2)
TEN(3)
TEN(4)
TEN(5)
