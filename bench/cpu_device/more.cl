// SPDX-License-Identifier: MIT
// more: what kernels of applications do, a kernel each: transposition, stencil, sparse product, sort, n-body.

enum { kEdge = 16 };

// out = the transpose of in, n x n floats, through a tile whose rows are one longer than it is wide.
// Launch: two dimensions, n / 16 x n / 16 groups of 16 x 16; n is a multiple of 16.
kernel void transpose(global const float* in, global float* out, uint n) {
  local float tile[kEdge][kEdge + 1];
  const uint x = get_local_id(0), y = get_local_id(1);
  const uint left = get_group_id(0) * kEdge, top = get_group_id(1) * kEdge;
  tile[y][x] = in[(size_t)(top + y) * n + left + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(size_t)(left + y) * n + top + x] = tile[x][y];
}

// out = each element of in and its four neighbours, added up; outside there are zeros. n x n floats.
// Launch: two dimensions, n x n work-items.
kernel void stencil(global const float* in, global float* out, uint n) {
  const uint x = get_global_id(0), y = get_global_id(1);
  const size_t at = (size_t)y * n + x;
  float sum = in[at];
  if (x > 0) sum += in[at - 1];
  if (x + 1 < n) sum += in[at + 1];
  if (y > 0) sum += in[at - n];
  if (y + 1 < n) sum += in[at + n];
  out[at] = sum;
}

// out = the matrix in rows (starts has one more than there are rows) times x.
// Launch: one dimension, a work-item a row.
kernel void sparse(global const uint* starts, global const uint* columns, global const float* values,
                   global const float* x, global float* out) {
  const uint row = get_global_id(0);
  float sum = 0.0f;
  for (uint i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
  out[row] = sum;
}

// out = the numbers of in, those of each group sorted.
// Launch: one dimension, the group size is a power of two.
//   tile  group size * 4 bytes
kernel void bitonic(global const uint* in, global uint* out, local uint* tile) {
  const uint item = get_local_id(0), size = get_local_size(0);
  tile[item] = in[get_global_id(0)];
  for (uint length = 2; length <= size; length *= 2)
    for (uint step = length / 2; step > 0; step /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint other = item ^ step;
      if (other > item) {
        const uint a = tile[item], b = tile[other];
        const bool rises = (item & length) == 0;
        tile[item] = rises ? min(a, b) : max(a, b);
        tile[other] = rises ? max(a, b) : min(a, b);
      }
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[item];
}

// out = the acceleration of each body by all: x, y, z and mass in, x, y, z and 0 out.
// Launch: one dimension, n work-items in groups of what n is a multiple of.
//   tile  group size * 16 bytes
kernel void bodies(global const float4* in, global float4* out, uint n, local float4* tile) {
  const uint item = get_local_id(0), size = get_local_size(0);
  const float4 own = in[get_global_id(0)];
  float3 sum = 0.0f;
  for (uint first = 0; first < n; first += size) {
    tile[item] = in[first + item];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < size; ++i) {
      const float3 far = tile[i].xyz - own.xyz;
      const float square = far.x * far.x + far.y * far.y + far.z * far.z + 0.01f;
      sum += far * (tile[i].w / (square * sqrt(square)));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = (float4)(sum, 0.0f);
}
