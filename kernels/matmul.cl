// SPDX-License-Identifier: MIT
// matmul: c = a * b with square tiles in shared local memory, whose edge the host chooses at the launch.

// Sums that a work-item carries through one walk along k. More would spill on small register files.
enum { kSums = 8 };

// Row-major: a is m x k, b is k x n, c is m x n, floats; no size needs to be a multiple of anything.
// Launch: two dimensions, ceil(n / edge) x ceil(m / edge) work-groups, one for each tile of c, and any group size:
// edge x edge gives each work-item one element. A smaller group takes its tile in rounds of kSums elements a
// work-item and walks along k once a round, so that sums live in registers whatever the edge.
// Each element of c is added up in the order of k.
//   a, b    read
//   c       written
//   m, k, n sizes
//   edge    of a tile in elements, at least 1
//   a_tile, b_tile  edge * edge * 4 bytes each: 2 * edge * edge * 4 bytes of shared local memory per work-group
kernel void tiled(global const float* a, global const float* b, global float* c, uint m, uint k, uint n, uint edge,
                  local float* a_tile, local float* b_tile) {
  const uint items = get_local_size(0) * get_local_size(1);
  const uint item = get_local_id(0) + get_local_id(1) * get_local_size(0);
  const uint area = edge * edge;
  const size_t top = get_group_id(1) * (size_t)edge;
  const size_t left = get_group_id(0) * (size_t)edge;

  // `base` is the same for the whole group, so all its work-items meet at each barrier.
  for (uint base = 0; base < area; base += items * kSums) {
    float sums[kSums];
#pragma unroll
    for (uint s = 0; s < kSums; ++s) sums[s] = 0.0f;

    for (size_t step = 0; step < k; step += edge) {
      for (uint element = item; element < area; element += items) {
        const size_t row = element / edge;
        const size_t column = element % edge;
        const bool in_a = top + row < m && step + column < k;
        const bool in_b = step + row < k && left + column < n;
        a_tile[element] = in_a ? a[(top + row) * k + step + column] : 0.0f;
        b_tile[element] = in_b ? b[(step + row) * n + left + column] : 0.0f;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
      for (uint s = 0; s < kSums; ++s) {
        const uint element = base + s * items + item;
        if (element < area) {
          local const float* row = a_tile + element / edge * edge;
          local const float* column = b_tile + element % edge;
          for (uint t = 0; t < edge; ++t) sums[s] += row[t] * column[t * edge];
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);  // before the next step overwrites the tiles
    }

#pragma unroll
    for (uint s = 0; s < kSums; ++s) {
      const uint element = base + s * items + item;
      const size_t row = top + element / edge;
      const size_t column = left + element % edge;
      if (element < area && row < m && column < n) c[row * n + column] = sums[s];
    }
  }
}
