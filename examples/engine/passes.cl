// SPDX-License-Identifier: MIT
// passes: four of the five kernels of the example engine; the fifth, convolve.cl, is loaded again while frames run.

// Sums that a work-item of the product carries through one walk along k.
enum { kSums = 4 };

// product = image * weights, all n x n and row-major, from row `first` on; tiles of edge x edge in shared local memory.
// Launch: 16 x 16 work-items; ceil(n / edge) work-groups by as many as there are rows of tiles. A group takes its tile
// in rounds of 256 * kSums elements, so that the tile may be larger than the group.
//   image    n * n bytes, read
//   weights  n * n floats, read
//   product  n * n floats, written
//   first    first row, a multiple of edge
//   edge     of a tile in elements, at least 1
//   a_tile, b_tile  edge * edge * 4 bytes each
kernel void multiply(global const uchar* image, global const float* weights, global float* product, uint n, uint first,
                     uint edge, local float* a_tile, local float* b_tile) {
  const uint items = get_local_size(0) * get_local_size(1);
  const uint item = get_local_id(0) + get_local_id(1) * get_local_size(0);
  const uint area = edge * edge;
  const uint top = first + get_group_id(1) * edge;
  const uint left = get_group_id(0) * edge;

  // `base` is the same for the whole group, so all its work-items meet at each barrier.
  for (uint base = 0; base < area; base += items * kSums) {
    float sums[kSums];
#pragma unroll
    for (uint s = 0; s < kSums; ++s) sums[s] = 0.0f;

    for (uint step = 0; step < n; step += edge) {
      for (uint element = item; element < area; element += items) {
        const uint row = element / edge;
        const uint column = element % edge;
        const bool in_a = top + row < n && step + column < n;
        const bool in_b = step + row < n && left + column < n;
        a_tile[element] = in_a ? (float)image[(size_t)(top + row) * n + step + column] : 0.0f;
        b_tile[element] = in_b ? weights[(size_t)(step + row) * n + left + column] : 0.0f;
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
      const uint row = top + element / edge;
      const uint column = left + element % edge;
      if (element < area && row < n && column < n) product[(size_t)row * n + column] = sums[s];
    }
  }
}

// Adds to bins[b] how often b is among `count` bytes. The host has zeroed the bins.
// Launch: one dimension, 256 work-items; ceil(count / block) work-groups.
//   image  count bytes, read
//   bins   256 uints, added to
//   block  bytes a work-group takes, at least 1
kernel void histogram(global const uchar* image, global uint* bins, uint count, uint block) {
  local uint slm[256];
  for (uint bin = get_local_id(0); bin < 256; bin += get_local_size(0)) slm[bin] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t first = get_group_id(0) * (size_t)block;
  const size_t end = min(first + block, (size_t)count);
  for (size_t i = first + get_local_id(0); i < end; i += get_local_size(0)) atomic_inc(slm + image[i]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint bin = get_local_id(0); bin < 256; bin += get_local_size(0)) atomic_add(bins + bin, slm[bin]);
}

// out[i] = in[0] + ... + in[i], modulo 2^32.
// Launch: one work-group of one dimension, any size; a longer array is taken in pieces of that size.
//   in    n uints, read
//   out   n uints, written
//   tile  group size * 4 bytes
kernel void scan(global const uint* in, global uint* out, uint n, local uint* tile) {
  const uint item = get_local_id(0);
  const uint items = get_local_size(0);
  uint before = 0;  // the sum of all earlier pieces
  for (uint first = 0; first < n; first += items) {
    tile[item] = first + item < n ? in[first + item] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < items; step *= 2) {
      const uint left = item >= step ? tile[item - step] : 0;
      barrier(CLK_LOCAL_MEM_FENCE);
      tile[item] += left;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (first + item < n) out[first + item] = before + tile[item];
    before += tile[items - 1];
    barrier(CLK_LOCAL_MEM_FENCE);  // before the next piece overwrites the tile
  }
}

// out[group] = the sum of the `block` elements that are the group's, modulo 2^32. Run once more over its own results,
// with one group, it gives the sum of all.
// Launch: one dimension, a power of two of work-items; ceil(count / block) work-groups.
//   in     count uints, read
//   out    a uint a work-group, written
//   block  elements a work-group takes, at least 1
//   tile   group size * 4 bytes
kernel void reduce(global const uint* in, global uint* out, uint count, uint block, local uint* tile) {
  const uint item = get_local_id(0);
  const size_t first = get_group_id(0) * (size_t)block;
  const size_t end = min(first + block, (size_t)count);
  uint sum = 0;
  for (size_t i = first + item; i < end; i += get_local_size(0)) sum += in[i];
  tile[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint width = get_local_size(0) / 2; width > 0; width /= 2) {
    if (item < width) tile[item] += tile[item + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) out[get_group_id(0)] = tile[0];
}
