// SPDX-License-Identifier: MIT
// Kernels on memory, vectors, relations and work-groups: one or a few built-ins each.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

kernel void vectors(global const float* in, global float* out) {
  vstore2(vload2(1, in + 1) * 2, 0, out + 1);
  vstore3(vload3(1, in + 1) * 2, 1, out + 1);
  vstore4(vload4(2, in + 1) * 2, 2, out + 1);
  vstore8(vload8(2, in + 1) * 2, 2, out + 1);
  vstore16(vload16(2, in + 1) * 2, 2, out + 1);
}

kernel void half_load(global const half* in, global float* out) {
  const size_t i = get_global_id(0);
  out[i] = vload_half(i, in);
  if (i < 4) {
    vstore3(vload_half3(i, in), i, out + 65536);
    vstore3(vloada_half3(i, in), i, out + 65536 + 12);
    vstore4(vload_half4(i, in), i, out + 65536 + 24);
    vstore4(vloada_half4(i, in), i, out + 65536 + 40);
  }
}

kernel void half_store(global const float* in, global half* out, uint n) {
  const size_t i = get_global_id(0);
  vstore_half(in[i], i, out);
  vstore_half_rte(in[i], n + i, out);
  vstore_half_rtz(in[i], 2 * n + i, out);
  vstore_half_rtp(in[i], 3 * n + i, out);
  vstore_half_rtn(in[i], 4 * n + i, out);
  vstore_half_rtz((double)in[i], 5 * n + i, out);
  if (i % 4 == 0) {
    vstore_half4(vload4(i / 4, in), i / 4, out + 6 * n);
    vstorea_half4_rtp(vload4(i / 4, in), i / 4, out + 7 * n);
  }
}

kernel void shuffles(global const float4* in, global const uint4* mask, global float* out) {
  vstore4(shuffle(in[0], mask[0]), 0, out);
  vstore4(shuffle2(in[0], in[1], mask[1]), 1, out);
  vstore2(shuffle(in[1], mask[0].xy), 4, out);
  vstore8(shuffle2(in[0], in[1], (uint8)(mask[0], mask[1])), 2, out);
  vstore4(in[0].wzyx, 6, out);
}

kernel void relations(global const float* a, global const float* b, global int* out) {
  const size_t i = get_global_id(0);
  const float x = a[i], y = b[i];
  const float4 v = (float4)(x, y, -x, y), w = (float4)(y);
  int r = isequal(x, y) | isnotequal(x, y) << 1 | isgreater(x, y) << 2 | isgreaterequal(x, y) << 3 | isless(x, y) << 4 |
          islessequal(x, y) << 5 | islessgreater(x, y) << 6 | isfinite(x) << 7 | isinf(x) << 8 | isnan(x) << 9 |
          isnormal(x) << 10 | isordered(x, y) << 11 | isunordered(x, y) << 12 | signbit(x) << 13;
  out[6 * i] = r;
  r = any(isless(v, w)) | all(isless(v, w)) << 1 | any(isnan(v)) << 2 | all(isfinite(v)) << 3 |
      (isequal(v, w).s1 == -1) << 4 | (signbit(v).s0 == -1) << 5 | (isinf(v).s2 != 0) << 6;
  out[6 * i + 1] = r;
  out[6 * i + 2] = as_int(select(x, y, (int)i & 1));
  out[6 * i + 3] = as_int(select(v, w, isgreater(v, w)).s0);
  out[6 * i + 4] = as_int(bitselect(x, y, as_float(0x0ff0f00f)));
  out[6 * i + 5] = isequal((double)x, (double)y) | isnan((double)x) << 1 | signbit((double)x) << 2;
}

kernel void geometry(global const float4* a, global const float4* b, global float* out) {
  const size_t i = get_global_id(0);
  const float4 x = a[i], y = b[i];
  out += 16 * i;
  out[0] = dot(x, y);
  out[1] = length(x);
  out[2] = distance(x, y);
  out[3] = fast_length(x.xyz);
  vstore4(normalize(x), 1, out);
  vstore4(cross(x, y), 2, out);
  out[12] = fast_distance(x.xy, y.xy);
  out[13] = fast_normalize(x).y;
  out[14] = (float)length(convert_double4(x));
  out[15] = dot(x.x, y.x);
}

kernel void not_numbers(global uint* out, global ulong* wide) {
  out[0] = as_uint(nan(5u));
  out[1] = as_uint(nan((uint2)(7u, 9u)).y);
  wide[0] = as_ulong(nan(11ul));
}

kernel void atomics32(global int* a, global uint* u, global float* f, global int* seen) {
  const int i = get_global_id(0);
  atomic_add(&a[0], i);
  atomic_sub(&a[1], i);
  atomic_inc(&a[2]);
  atomic_dec(&a[3]);
  atomic_min(&a[4], i - 100);
  atomic_max(&a[5], i - 100);
  atomic_and(&a[6], ~(1 << (i % 31)));
  atomic_or(&a[7], 1 << (i % 31));
  atomic_xor(&a[8], i);
  atomic_min(&u[0], (uint)i - 100u);
  atomic_max(&u[1], (uint)i - 100u);
  seen[i] = atomic_add(&a[9], 1);
  atomic_xchg(&f[0], 2.5f);
  int old = a[10];
  for (;;) {
    const int found = atomic_cmpxchg(&a[10], old, old + 3);
    if (found == old) break;
    old = found;
  }
}

kernel void atomics64(global long* a, global ulong* u, global int* out) {
  local long sum;
  local int low;
  const long i = get_global_id(0);
  if (get_local_id(0) == 0) {
    sum = 0;
    low = 1000;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atom_add(&sum, i + (1l << 40));
  atomic_min(&low, (int)get_local_id(0) + 5);
  barrier(CLK_LOCAL_MEM_FENCE);
  atom_add(&a[0], i << 33);
  atom_sub(&a[1], i << 33);
  atom_inc(&a[2]);
  atom_dec(&a[3]);
  atom_min(&a[4], i - (1l << 40));
  atom_max(&a[5], i + (1l << 40));
  atom_and(&a[6], ~(1l << (i % 63)));
  atom_or(&a[7], 1l << (i % 63));
  atom_xor(&a[8], i << 35);
  atom_max(&u[0], (ulong)(i - 100));
  if (get_local_id(0) == 0) {
    atom_add(&a[9], sum);
    out[get_group_id(0)] = low;
  }
}

kernel void copies(global const float4* in, global float4* out, global const int* far, global int* near, local float4* tile) {
  local int picked[16];
  const size_t group = get_group_id(0), n = get_local_size(0);
  event_t done = async_work_group_copy(tile, in + group * n, n, 0);
  done = async_work_group_strided_copy(picked, far + group, 16, 3, done);
  prefetch(in, 4);
  wait_group_events(1, &done);
  tile[get_local_id(0)] *= 2.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  event_t back = async_work_group_copy(out + group * n, tile, n, 0);
  wait_group_events(1, &back);
  if (get_local_id(0) < 16) near[group * 16 + get_local_id(0)] = picked[get_local_id(0)];
}

struct pair {
  int first;
  double4 second;
};
constant int primes[5] = {2, 3, 5, 7, 11};

int change(struct pair p) {
  p.first += (int)p.second.w;
  return p.first;
}

kernel void values(struct pair p, char c, short3 s, ulong u, float16 f, global double* out, constant int* table) {
  p.first += 1;
  out[0] = change(p);
  out[1] = p.first;
  out[2] = p.second.z;
  out[3] = c;
  out[4] = s.z;
  out[5] = u;
  out[6] = f.sf;
  out[7] = primes[get_global_id(0)] + table[1];
}

kernel void prints(int i, float f) {
  printf("%d %5d|%-5d|%05d %u %x %X %o %c %%\n", i, i, i, i, 7u, 255, 255, 8, 'k');
  printf("%f %.2f %e %g %s|%8s\n", f, f, f, f, "text", "wide");
  printf("%v4d %v2f %v4hhd\n", (int4)(1, -2, 3, i), (float2)(0.5f, f), (char4)(1, 2, -3, 4));
  printf("%ld %lu %hd\n", -5l, 5ul, (short)-6);
  printf("plain\n");
}
