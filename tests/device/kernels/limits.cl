// SPDX-License-Identifier: MIT
// Kernels at the edges of what a device allows; limits.spv is built from it by ocloc 22.43, -spv_only.

// Static SLM and a `__local` argument together: 4096 B of its own.
kernel void both(global uint* out, local uint* extra, uint words) {
  local uint own[1024];
  const uint item = get_local_id(0);
  for (uint i = item; i < 1024; i += get_local_size(0)) own[i] = i;
  for (uint i = item; i < words; i += get_local_size(0)) extra[i] = i;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = 0;
  for (uint i = 0; i < 1024; ++i) sum += own[i];
  for (uint i = 0; i < words; ++i) sum += extra[i];
  out[get_global_id(0)] = sum;
}

// `__local` arguments of several alignments: 1, 16 and 4 bytes.
kernel void aligned(global uint* out, local uchar* bytes, local float4* vectors, local uint* words) {
  const uint item = get_local_id(0);
  bytes[item] = (uchar)item;
  vectors[item] = (float4)(item);
  words[item] = item;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = bytes[0] + (uint)vectors[0].x + words[0] + item;
}

kernel __attribute__((reqd_work_group_size(8, 4, 2))) void fixed_group(global uint* out) {
  const size_t row = get_global_id(1) + get_global_id(2) * get_global_size(1);
  out[get_global_id(0) + row * get_global_size(0)] =
      (uint)(get_local_id(0) + 8 * (get_local_id(1) + 4 * get_local_id(2)));
}

// All kinds of values, and one that the kernel does not use.
typedef struct {
  uint a;
  float b;
  ulong c;
} Mixed;
kernel void values(global ulong* out, char a, ushort b, int c, ulong d, float e, float4 g, Mixed h,
                   uint unused) {
  const size_t i = get_global_id(0);
  out[i] = (ulong)(a + b + c) + d + (ulong)(e + g.x + g.y + g.z + g.w) + h.a + (ulong)h.b + h.c;
}
