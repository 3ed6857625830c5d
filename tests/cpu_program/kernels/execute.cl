// SPDX-License-Identifier: MIT
// Work-item functions, barriers in odd places, large private arrays.
kernel void ids(global ulong* out) {
  const size_t at = (get_global_id(0) - get_global_offset(0)) +
                    get_global_size(0) * ((get_global_id(1) - get_global_offset(1)) +
                                          get_global_size(1) * (get_global_id(2) - get_global_offset(2)));
  global ulong* o = out + 24 * at;
  for (uint d = 0; d < 3; ++d) {
    o[d] = get_global_id(d);
    o[3 + d] = get_local_id(d);
    o[6 + d] = get_group_id(d);
    o[9 + d] = get_global_size(d);
    o[12 + d] = get_local_size(d);
    o[15 + d] = get_num_groups(d);
    o[18 + d] = get_global_offset(d);
  }
  o[21] = get_work_dim();
}

void step_down(local int* tile, uint n) {
  if (get_local_id(0) < n) tile[get_local_id(0)] += tile[get_local_id(0) + n];
  barrier(CLK_LOCAL_MEM_FENCE);
}

kernel void reduce(global const int* in, global int* out, local int* tile) {
  tile[get_local_id(0)] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint n = get_local_size(0) / 2; n > 0; n /= 2) step_down(tile, n);
  if (get_local_id(0) == 0) out[get_group_id(0)] = tile[0];
}

kernel void uneven(global int* out) {
  const int i = get_local_id(0);
  if (i % 3 == 0) {
    out[i] = 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] += 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] += 1;
  } else if (i % 3 == 1) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = 7;
  } else {
    out[i] = 9;
  }
}

kernel void large_private(global int* out, int k) {
  int a[20000];
  const int i = get_global_id(0);
  for (int j = 0; j < 20000; ++j) a[j] = j * k + i;
  int s = 0;
  for (int j = 0; j < 20000; j += 7) s += a[(j * k + i) % 20000];
  out[i] = s;
}

kernel void large_private_barrier(global int* out, int k, local int* tile) {
  int a[20000];
  const int i = get_local_id(0);
  for (int j = 0; j < 20000; ++j) a[j] = j * k + i;
  tile[i] = a[(k * 31 + i) % 20000];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[(i + 1) % get_local_size(0)] + a[i];
}

kernel void transpose(global const float* in, global float* out, uint width) {
  local float tile[8][9];
  const uint x = get_local_id(0), y = get_local_id(1);
  tile[y][x] = in[get_global_id(1) * width + get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(get_group_id(0) * 8 + y) * get_global_size(1) + get_group_id(1) * 8 + x] = tile[x][y];
}

kernel void count(global int* counter) { atomic_inc(counter); }
