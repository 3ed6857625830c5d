// SPDX-License-Identifier: MIT
// Kernels that are counted, and kernels with planted defects; their lines are compared. counters.clang.spv: clang 15, -g.

kernel void ragged(global const int* in, global int* out) {
  int sum = 0;
  for (int round = 0; round < 4; ++round)
    for (int k = 0; k < (int)get_local_id(0); ++k) sum += in[k];  // line 7: 4 * 15 times together, one line each
  out[get_global_id(0)] = sum;
}

int twice(global const int* in, size_t i) { return in[i]; }  // line 11
kernel void functions(global const int* in, global int* out) {
  const size_t i = get_global_id(0);
  out[i] = twice(in, i) + twice(in, 2 * i);
}

struct pair { long first, second; };
kernel void structures(global const struct pair* in, global struct pair* out) {
  out[get_global_id(0)] = in[get_global_id(0)];
}

constant int weights[4] = {1, 2, 3, 4};
kernel void constants(global int* out) { out[get_global_id(0)] = weights[get_local_id(0) % 4]; }

kernel void clean(global const int* in, global int* out) {
  local int slm[64], total, flag;
  const size_t item = get_local_id(0);
  if (item == 0) total = 0;
  flag = 7;  // by all, but the same
  slm[item] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&total, slm[63 - item]);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = total + flag;
}

// Beyond what belongs to the access.
kernel void slm_beyond(global int* out) {
  local int slm[64], other[64];
  const size_t item = get_local_id(0);
  slm[item + 1] = (int)item;  // line 41: the last one hits `other`
  other[item] = 5;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[item] = other[item] + slm[max(item, (size_t)1)];
}

kernel void slm_argument_beyond(global int* out, local int* slm) {
  out[get_local_id(0)] = slm[get_local_id(0)];  // line 48
}

kernel void global_beyond(global const int* in, global int* out) {
  const size_t i = get_global_id(0);
  out[i + 1] = in[i + 1] + 1;  // line 53: the last one, both
}

kernel void missing_barrier(global int* out) {
  local int slm[64];
  const size_t item = get_local_id(0);
  slm[item] = (int)item;            // line 59
  out[item] = slm[(item + 1) % 64];  // line 60
}

kernel void write_write(global int* out) {
  local int slm;
  slm = (int)get_local_id(0);  // line 65
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_local_id(0)] = slm;
}

kernel void atomic_and_plain(global int* out) {
  local int slm;
  if (get_local_id(0) == 0) slm = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) < 32)
    atomic_inc(&slm);  // line 75
  else
    out[get_local_id(0)] = slm;  // line 77
}

kernel void divergent_barrier(global int* out) {
  local int slm[64];
  slm[get_local_id(0)] = 1;
  if (get_local_id(0) < 32) barrier(CLK_LOCAL_MEM_FENCE);
  out[get_local_id(0)] = slm[get_local_id(0)];
}
