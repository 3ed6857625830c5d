// SPDX-License-Identifier: MIT
// Kernels for the tests of the CPU driver; kernels.spv is built from it by ocloc 22.43, -spv_only -options -cl-std=CL2.0.

global uint counter = 40;

kernel void add(global uint* data, uint value) { data[get_global_id(0)] += value; }

// A chain of dependent steps that no compiler can shorten: time grows with `rounds`.
kernel void slow(global uint* data, uint rounds) {
  uint x = (uint)get_global_id(0) + 1;
  for (uint i = 0; i < rounds; ++i) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  data[get_global_id(0)] = x;
}

// Each item gets its neighbour's value through local memory.
kernel void rotate_left(global uint* data, local uint* tile) {
  const size_t i = get_local_id(0);
  tile[i] = data[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  data[get_global_id(0)] = tile[(i + 1) % get_local_size(0)];
}

// 4 KiB of its own and as much as the host asks for.
kernel void both(global uint* data, local uint* extra) {
  local uint own[1024];
  const size_t i = get_local_id(0);
  own[i] = data[get_global_id(0)];
  extra[i] = own[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  data[get_global_id(0)] = own[get_local_size(0) - 1 - i] + extra[i];
}

kernel __attribute__((reqd_work_group_size(8, 2, 1))) void fixed(global uint* data) {
  data[get_global_id(1) * get_global_size(0) + get_global_id(0)] = (uint)get_local_id(0);
}

kernel void offset_ids(global uint* data) { data[get_global_id(0) - get_global_offset(0)] = (uint)get_global_id(0); }

kernel void bump(global uint* data) { data[0] = atomic_inc(&counter); }
