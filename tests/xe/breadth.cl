// SPDX-License-Identifier: MIT
// Kernels that use what the samples do not, for the execution unit. S: the sub-group size; D: the product has doubles.
#pragma OPENCL FP_CONTRACT OFF
#define K __attribute__((intel_reqd_sub_group_size(S))) kernel
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#ifdef D
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
K void ints(global const int* a, global const int* b, global int* out, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  int x = a[i], y = b[i];
  // No divisor twice: ocloc 22.43 takes the signed and the unsigned quotient of the same operands for one, on dg2.
  int r = x / (y | 1) + x % (y | 3);
  r ^= (int)(((uint)x / (uint)(y | 9)) ^ ((uint)x % (uint)(y | 5)));
  r += mul_hi(x, y) + (int)mul_hi((uint)x, (uint)y) + popcount((uint)x) + clz(y) + ctz((uint)(x | 1));
  r ^= rotate(x, y & 31) + (x >> (y & 31)) + (int)((uint)x >> (x & 31)) + (x << (y & 7));
  r += add_sat(x, y) ^ sub_sat(x, y) ^ (int)add_sat((uint)x, (uint)y) ^ (int)abs(x) ^ hadd(x, y) ^ rhadd(x, y);
  r += max(x, y) - min(x, y) + (int)max((uint)x, (uint)y) + (x < y ? 3 : 5) + clamp(x, -100, 100);
  r ^= mad24(x & 0xffff, y & 0xffff, x) + mul24(x & 0xfff, y & 0xfff);
  out[i] = r;
}
K void longs(global const long* a, global const long* b, global long* out, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  long x = a[i], y = b[i];
  long r = x * y + (x ^ y) - (x & y);
  r ^= (x << (y & 63)) + (x >> (x & 63)) + (long)((ulong)y >> (x & 31));
  r += x / (y | 1) + (long)((ulong)x % (ulong)(y | 1));
  r ^= max(x, y) + (long)min((ulong)x, (ulong)y) + (x < y) + ((ulong)x < (ulong)y) * 7;
  r += mul_hi(x, y) + popcount(x) + clz(y);
  out[i] = r;
}
K void shorts(global const short* a, global const char* b, global short* out, global uchar* out2, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  short x = a[i]; char y = b[i];
  out[i] = (short)(x * y + (x >> 3) - (x / (y | 1))) ^ add_sat(x, (short)y);
  out2[i] = (uchar)(x + y) ^ convert_uchar_sat(x) ^ (uchar)(y >> 2);
}
K void floats(global const float* a, global const float* b, global float* out, global int* iout, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  float x = a[i], y = b[i];
  float r = fma(x, y, 1.5f) + x * y - floor(x) + ceil(y) + trunc(x) + rint(y) + fmin(x, y) + fmax(x, 2.0f) + fabs(y);
  r += x < y ? x : y; r += copysign(x, y) + (isnan(x) ? 1 : 2) + (isinf(y) ? 3 : 4);
  out[i] = r;
  iout[i] = convert_int_sat(x * 100.0f) + convert_int_rte(y) + convert_int_rtp(x) + convert_int_rtn(y) + (int)convert_uchar_sat(x) + convert_short_sat(y * 1000);
}
K void conversions(global const float* a, global const int* b, global float* out, global half* hout, global long* lout, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  float x = a[i]; int y = b[i];
  out[i] = (float)y + (float)(uint)y * 0.5f + (float)(char)y + (float)((long)y * 12345);
  hout[i] = (half)x * 1.5h + (half)2;
  lout[i] = (long)x * 3 + (ulong)fabs(x);
}
K void flow(global const uint* a, global uint* out, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  uint x = a[i], r = 0;
  for (uint k = 0; k < (x & 31); ++k) {
    if ((x >> k & 3) == 0) continue;
    if ((x >> k & 15) == 9) break;
    switch ((x + k) % 5) { case 0: r += k; break; case 1: r ^= x; case 2: r *= 3; break; default: r -= 7; }
    uint j = k; do { r += j; j = j * 3 + 1; if (r % 11 == 4) { r ^= 5; break; } } while (j < 50);
  }
  while (x > 1 && r < 100000) { x = (x & 1) ? 3 * (x >> 8) + 1 : x >> 1; ++r; }
  out[i] = r;
}
K void subgroups(global const int* a, global int* out, uint n) {
  size_t i = get_global_id(0);
  int x = a[i]; uint l = get_sub_group_local_id();
  int r = sub_group_reduce_add(x) + sub_group_scan_inclusive_add(x) * 3 + sub_group_scan_exclusive_max(x);
  r ^= intel_sub_group_shuffle_xor(x, 3) + intel_sub_group_shuffle_down(x, x, 1) + intel_sub_group_shuffle_up(x, x, 2);
  r += sub_group_broadcast(x, 5) + (sub_group_any(x > 1000) ? 1 : 2) + (sub_group_all(x > -1) ? 4 : 8) + intel_sub_group_shuffle(x, (l * 7 + 1) % get_sub_group_size());
  if (x & 1) r += sub_group_reduce_max(x);
  out[i] = r;
}
K void atomics(global int* c, global const int* a, uint n, local int* slm) {
  size_t i = get_global_id(0);
  if (get_local_id(0) < 16) slm[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) {
    int x = a[i];
    atomic_add(c, x); atomic_min(c + 1, x); atomic_max(c + 2, x); atomic_and(c + 3, x | 0xff); atomic_or(c + 4, x & 0xff00); atomic_xor(c + 5, x);
    atomic_inc(c + 6); atomic_dec(c + 7);
    int old = c[8]; while (1) { int seen = atomic_cmpxchg(c + 8, old, old + (x & 7)); if (seen == old) break; old = seen; }
    atomic_add(slm + (x & 15), 1); atomic_max(slm + (x & 7), x & 0x3ff);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) < 16) atomic_add(c + 16 + get_local_id(0), slm[get_local_id(0)]);
}
K void special(global const float* a, global float* out, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  float x = fabs(a[i]) + 0.25f;
  out[8*i] = sqrt(x); out[8*i+1] = rsqrt(x); out[8*i+2] = native_exp2(x * 0.1f); out[8*i+3] = native_log2(x);
  out[8*i+4] = native_sin(x); out[8*i+5] = native_exp(-x); out[8*i+6] = native_powr(x, 1.7f); out[8*i+7] = x / (x + 3.0f);
}
float helper(float x, int k) __attribute__((noinline)); 
float helper(float x, int k) { float s = 0; for (int i = 0; i < k; ++i) s += x * i; return s; }
K void calls(global const float* a, global float* out, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  out[i] = helper(a[i], i & 7) + helper(a[i] + 1, 3);
}
#if S != 32
K void blocks(global const uint* in, global uint* out) {
  uint g = get_group_id(0) * get_local_size(0) + get_sub_group_id() * get_sub_group_size();
  uint4 v = intel_sub_group_block_read4((global const uint*)in + 4 * g);
  intel_sub_group_block_write4(out + 4 * g, v * 3 + (uint4)(1, 2, 3, 4));
}
#endif
#ifdef D
K void doubles(global const double* a, global const double* b, global double* out, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  double x = a[i], y = b[i];
  double r = fma(x, y, 1.5) + x * y - floor(x) + (double)(float)y + (double)(int)x + fmin(x, y);
  r += x < y ? x : y;
  out[i] = r + (double)(long)(x * 1000);
}
K void divide_double(global const double* a, global const double* b, global double* out, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  out[i] = a[i] / b[i] + sqrt(fabs(a[i]));
}
#endif
K void halves(global const half* a, global const half* b, global half* out, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  half x = a[i], y = b[i];
  out[i] = fma(x, y, x) + x * y - floor(y) + (x < y ? x : y) + (half)(int)x;
}
K void long_atomics(global ulong* c, global const ulong* a, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  atom_add(c, a[i]); atom_max(c + 1, a[i]); atom_xor(c + 2, a[i]);
}
// More values than there are registers, so that the compiler keeps some in scratch memory.
K void spilled(global const uint* a, global uint* out, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  uint v[180], s = 0;
#pragma unroll
  for (uint k = 0; k < 180; ++k) v[k] = a[(i * 7 + k * 13) % n] * (k + 1);
#pragma unroll
  for (uint k = 0; k < 180; ++k) s = s * 31 + (v[k] ^ v[(k * 7 + 5) % 180]);
  out[i] = s;
}
// Indexed by values, so that it lies in memory; read behind a barrier, when all threads of the group have written theirs.
K void privately(global const uint* a, global uint* out, uint n) {
  size_t i = get_global_id(0);
  uint v[32], s = 0;
  for (uint k = 0; k < 32; ++k) v[k] = a[i % n] * (k + 1);
  for (uint k = 0; k < 32; ++k) v[a[(i + k) % n] & 31] += k;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < 32; ++k) s = s * 31 + v[a[(i + 3 * k) % n] >> 3 & 31];
  out[i] = s;
}
K void vectors(global const uchar16* a, global uchar16* out, uint n) {
  size_t i = get_global_id(0); if (i >= n) return;
  uchar16 x = a[i] + (uchar16)3;
  out[i] = x.s1032547698badcfe;
}
