// SPDX-License-Identifier: MIT
// Sub-group and work-group functions. Results go to out[function * n + item]. group.ocloc.spv comes from ocloc 22.43
// (-device pvc -spv_only -options -cl-std=CL2.0), group.clang.spv from clang 15 (-cl-std=CL3.0 -O1 without passes,
// opencl-c.h, -Dcl_intel_subgroups=1 and its _short, _char and _long, -DDECLARE_BLOCKS), opt (sroa, early-cse) and
// llvm-spirv.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_subgroups : enable

#define GROUP_KERNEL(prefix, type)                                     \
  kernel void prefix##_##type(global const type* in, global type* out, uint n) { \
    const uint i = get_global_linear_id();                             \
    const type x = in[i];                                              \
    out[i] = prefix##_reduce_add(x);                                   \
    out[n + i] = prefix##_reduce_min(x);                               \
    out[2 * n + i] = prefix##_reduce_max(x);                           \
    out[3 * n + i] = prefix##_scan_inclusive_add(x);                   \
    out[4 * n + i] = prefix##_scan_inclusive_min(x);                   \
    out[5 * n + i] = prefix##_scan_inclusive_max(x);                   \
    out[6 * n + i] = prefix##_scan_exclusive_add(x);                   \
    out[7 * n + i] = prefix##_scan_exclusive_min(x);                   \
    out[8 * n + i] = prefix##_scan_exclusive_max(x);                   \
  }

#define SHUFFLE_KERNEL(type)                                           \
  kernel void shuffle_##type(global const type* in, global type* out, uint n) { \
    const uint i = get_global_linear_id();                             \
    const uint lane = get_sub_group_local_id(), size = get_sub_group_size(); \
    const type x = in[i];                                              \
    out[i] = sub_group_broadcast(x, 2);                                \
    out[n + i] = sub_group_non_uniform_broadcast(x, 1);                \
    out[2 * n + i] = sub_group_broadcast_first(x);                     \
    out[3 * n + i] = sub_group_shuffle(x, (lane * 5 + 3) % size);      \
    out[4 * n + i] = sub_group_shuffle_xor(x, 3);                      \
    out[5 * n + i] = sub_group_shuffle_up(x, 2);                       \
    out[6 * n + i] = sub_group_shuffle_down(x, 1);                     \
  }

#define DIVERGENT_KERNEL(type)                                         \
  kernel void divergent_##type(global const type* in, global type* out, uint n) { \
    const uint i = get_global_linear_id();                             \
    const type x = in[i];                                              \
    out[9 * n + i] = sub_group_clustered_reduce_add(x, 4);             \
    out[10 * n + i] = sub_group_clustered_reduce_max(x, 2);            \
    if (i % 3 == 0) return;                                            \
    if (i % 3 == 1) {                                                  \
      out[i] = sub_group_non_uniform_reduce_add(x);                    \
      out[n + i] = sub_group_non_uniform_reduce_mul(x);                \
      out[2 * n + i] = sub_group_non_uniform_reduce_min(x);            \
      out[3 * n + i] = sub_group_non_uniform_reduce_max(x);            \
    } else {                                                           \
      out[4 * n + i] = sub_group_non_uniform_scan_inclusive_add(x);    \
      out[5 * n + i] = sub_group_non_uniform_scan_exclusive_mul(x);    \
      out[6 * n + i] = sub_group_non_uniform_scan_exclusive_min(x);    \
      out[7 * n + i] = sub_group_non_uniform_scan_exclusive_max(x);    \
    }                                                                  \
    out[8 * n + i] = sub_group_non_uniform_reduce_add(x);              \
  }

#define BITWISE_KERNEL(type)                                           \
  kernel void bitwise_##type(global const type* in, global type* out, uint n) { \
    const uint i = get_global_linear_id();                             \
    const type x = in[i];                                              \
    out[i] = sub_group_non_uniform_reduce_and(x);                      \
    out[n + i] = sub_group_non_uniform_scan_inclusive_or(x);           \
    out[2 * n + i] = sub_group_non_uniform_scan_exclusive_xor(x);      \
    out[3 * n + i] = sub_group_non_uniform_scan_exclusive_and(x);      \
  }

#define INTEL_SHUFFLE_KERNEL(type)                                     \
  kernel void intel_shuffle_##type(global const type* in, global type* out, uint n, uint distance) { \
    const uint i = get_global_linear_id();                             \
    const uint lane = get_sub_group_local_id(), size = get_sub_group_size(); \
    const type x = in[i], y = in[n + i];                               \
    out[i] = intel_sub_group_shuffle(x, (lane * 5 + 3) % size);        \
    out[n + i] = intel_sub_group_shuffle_down(x, y, distance);         \
    out[2 * n + i] = intel_sub_group_shuffle_up(x, y, distance);       \
    out[3 * n + i] = intel_sub_group_shuffle_xor(x, distance);         \
  }

GROUP_KERNEL(sub_group, char)
GROUP_KERNEL(sub_group, uchar)
GROUP_KERNEL(sub_group, short)
GROUP_KERNEL(sub_group, ushort)
GROUP_KERNEL(sub_group, int)
GROUP_KERNEL(sub_group, uint)
GROUP_KERNEL(sub_group, long)
GROUP_KERNEL(sub_group, ulong)
GROUP_KERNEL(sub_group, half)
GROUP_KERNEL(sub_group, float)
GROUP_KERNEL(sub_group, double)
GROUP_KERNEL(work_group, int)
GROUP_KERNEL(work_group, uint)
GROUP_KERNEL(work_group, long)
GROUP_KERNEL(work_group, ulong)
GROUP_KERNEL(work_group, float)
GROUP_KERNEL(work_group, double)
SHUFFLE_KERNEL(char)
SHUFFLE_KERNEL(ushort)
SHUFFLE_KERNEL(int)
SHUFFLE_KERNEL(ulong)
SHUFFLE_KERNEL(half)
SHUFFLE_KERNEL(float)
SHUFFLE_KERNEL(double)
DIVERGENT_KERNEL(int)
DIVERGENT_KERNEL(ulong)
DIVERGENT_KERNEL(float)
BITWISE_KERNEL(int)
BITWISE_KERNEL(ulong)
BITWISE_KERNEL(uchar)
INTEL_SHUFFLE_KERNEL(short)
INTEL_SHUFFLE_KERNEL(int)
INTEL_SHUFFLE_KERNEL(ulong)
INTEL_SHUFFLE_KERNEL(float)
INTEL_SHUFFLE_KERNEL(float4)

// Each sub-group moves its own block of size * width elements.
#define BLOCK_KERNEL(type, suffix, width, vector)                      \
  kernel void block_##type##width(global const type* in, global type* out, global type* copy) { \
    const uint groups = get_num_sub_groups(), size = get_max_sub_group_size(); \
    const uint block = (get_group_id(0) * groups + get_sub_group_id()) * size * width; \
    const vector x = intel_sub_group_block_read##suffix(in + block);   \
    vstore##width(x, get_global_id(0), out);                           \
    intel_sub_group_block_write##suffix(copy + block, x);              \
  }
#define vstore1(x, i, p) (p)[i] = (x)
#ifdef DECLARE_BLOCKS
#define DECLARE_BLOCK(type, suffix, vector)                            \
  vector __attribute__((overloadable)) intel_sub_group_block_read##suffix(const global type*); \
  void __attribute__((overloadable)) intel_sub_group_block_write##suffix(global type*, vector);
DECLARE_BLOCK(uchar, _uc, uchar)
DECLARE_BLOCK(uchar, _uc2, uchar2)
DECLARE_BLOCK(uchar, _uc4, uchar4)
DECLARE_BLOCK(uchar, _uc8, uchar8)
DECLARE_BLOCK(uchar, _uc16, uchar16)
DECLARE_BLOCK(ulong, _ul, ulong)
DECLARE_BLOCK(ulong, _ul2, ulong2)
DECLARE_BLOCK(ulong, _ul4, ulong4)
DECLARE_BLOCK(ulong, _ul8, ulong8)
#endif
BLOCK_KERNEL(uchar, _uc, 1, uchar)
BLOCK_KERNEL(uchar, _uc2, 2, uchar2)
BLOCK_KERNEL(uchar, _uc4, 4, uchar4)
BLOCK_KERNEL(uchar, _uc8, 8, uchar8)
BLOCK_KERNEL(uchar, _uc16, 16, uchar16)
BLOCK_KERNEL(ushort, _us, 1, ushort)
BLOCK_KERNEL(ushort, _us2, 2, ushort2)
BLOCK_KERNEL(ushort, _us4, 4, ushort4)
BLOCK_KERNEL(ushort, _us8, 8, ushort8)
BLOCK_KERNEL(uint, , 1, uint)
BLOCK_KERNEL(uint, 2, 2, uint2)
BLOCK_KERNEL(uint, 4, 4, uint4)
BLOCK_KERNEL(uint, 8, 8, uint8)
BLOCK_KERNEL(ulong, _ul, 1, ulong)
BLOCK_KERNEL(ulong, _ul2, 2, ulong2)
BLOCK_KERNEL(ulong, _ul4, 4, ulong4)
BLOCK_KERNEL(ulong, _ul8, 8, ulong8)

#ifdef DECLARE_BLOCKS
// cl_intel_subgroup_local_block_io, which ocloc 22.43 does not have.
uint __attribute__((overloadable)) intel_sub_group_block_read(const local uint*);
void __attribute__((overloadable)) intel_sub_group_block_write(local uint*, uint);
kernel void local_block(global uint* out, local uint* tile) {
  const uint i = get_local_id(0);
  tile[i] = i * 3;
  const uint x = intel_sub_group_block_read(tile);
  intel_sub_group_block_write(tile, x + 1);
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[i];
}
#endif

// Lanes read what others write next to them: all read before one writes.
kernel void rotate_block(global uint* data) {
  const uint x = intel_sub_group_block_read(data);
  intel_sub_group_block_write(data + 1, x);
}

kernel void sub_group_ids(global uint* out, uint n) {
  const uint i = get_global_linear_id();
  out[i] = get_sub_group_id();
  out[n + i] = get_sub_group_local_id();
  out[2 * n + i] = get_sub_group_size();
  out[3 * n + i] = get_max_sub_group_size();
  out[4 * n + i] = get_num_sub_groups();
  out[5 * n + i] = get_enqueued_num_sub_groups();
  const uint4 masks[] = {get_sub_group_eq_mask(), get_sub_group_ge_mask(), get_sub_group_gt_mask(),
                         get_sub_group_le_mask(), get_sub_group_lt_mask()};
  for (uint m = 0; m < 5; ++m) out[(6 + m) * n + i] = masks[m].x | masks[m].y | masks[m].z | masks[m].w;
}

kernel void votes(global const uint* in, global uint* out, uint n) {
  const uint i = get_global_linear_id();
  const uint x = in[i];
  out[i] = sub_group_all(x);
  out[n + i] = sub_group_any(x);
  out[2 * n + i] = sub_group_non_uniform_all_equal(x);
  out[3 * n + i] = sub_group_elect();
  out[4 * n + i] = sub_group_non_uniform_reduce_logical_xor(x);
  out[5 * n + i] = sub_group_ballot(x).x;
  const uint4 ballot = sub_group_ballot(x);
  out[6 * n + i] = sub_group_inverse_ballot(ballot);
  out[7 * n + i] = sub_group_ballot_bit_extract(ballot, 5);
  const uint4 all = (uint4)(x | 5, ~0u, ~0u, ~0u);
  out[8 * n + i] = sub_group_ballot_bit_count(all);
  out[9 * n + i] = sub_group_ballot_inclusive_scan(all);
  out[10 * n + i] = sub_group_ballot_exclusive_scan(all);
  out[11 * n + i] = sub_group_ballot_find_lsb(all);
  out[12 * n + i] = sub_group_ballot_find_msb(all);
  if (x == 0) {
    out[13 * n + i] = sub_group_elect();
    out[14 * n + i] = sub_group_ballot(1).x;
    out[15 * n + i] = sub_group_non_uniform_any(get_sub_group_local_id() > 4);
    out[16 * n + i] = sub_group_non_uniform_all(get_sub_group_local_id() > 4);
  }
}

// Items leave the loop one after another; behind it they are together again.
kernel void divergent_loop(global uint* out, uint n) {
  const uint i = get_global_linear_id();
  const uint lane = get_sub_group_local_id();
  uint sum = 0;
  for (uint k = 0; k < lane; ++k) {
    if ((k & 1) != 0) continue;
    sum += sub_group_non_uniform_reduce_add(1u);
  }
  out[i] = sum;
  out[n + i] = sub_group_reduce_add(sum);
}

// The same with a break, behind which compilers may place the loop's body, and a function that would take less.
kernel void divergent_break(global uint* out, uint n) {
  const uint i = get_global_linear_id();
  const uint lane = get_sub_group_local_id();
  uint sum = 0;
  for (uint k = 0;; ++k) {
    if (k >= lane) break;
    sum += sub_group_non_uniform_reduce_add(1u);
  }
  out[i] = sum;
  out[n + i] = sub_group_non_uniform_reduce_add(sum);
}

kernel void work_group_votes(global const int* in, global int* out, uint n) {
  const uint i = get_global_linear_id();
  out[i] = work_group_all(in[i]);
  out[n + i] = work_group_any(in[i]);
  out[2 * n + i] = work_group_broadcast(in[i], 3, 1);
}

kernel void barriers_in_loop(global uint* out, local uint* tile, uint rounds) {
  const uint i = get_local_linear_id(), count = get_local_size(0) * get_local_size(1);
  tile[i] = i;
  for (uint k = 0; k < rounds; ++k) {
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    const uint next = tile[(i + 1) % count] + sub_group_reduce_max(k);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    tile[i] = next;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_linear_id()] = tile[i];
}

kernel void hangs_at_barrier(global int* out) {
  if (get_local_id(0) % 2 == 0) work_group_barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = 1;
}
kernel void hangs_at_two_barriers(global int* out) {
  if (get_local_id(0) < 5) {
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[0] = 1;
  } else {
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[1] = 1;
  }
}
kernel void hangs_at_reduction(global int* out) {
  const int i = get_global_id(0);
  if (i == 3) return;
  out[i] = sub_group_reduce_add(1);
}
kernel void hangs_at_work_group_scan(global int* out) {
  const int i = get_global_id(0);
  if (i < 40) out[i] = work_group_scan_inclusive_add(1);
}
kernel void hangs_in_second_group(global int* out) {
  if (get_group_id(0) == 1 && get_local_id(0) == 0) return;
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = 1;
}
