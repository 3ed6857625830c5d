// SPDX-License-Identifier: MIT
// convolve: the kernel of the example engine that is loaded again while frames run, when this file changes.

// filtered[y][x] = the sum over j, i < 2 * radius + 1 of taps[j] * taps[i] * product[y + j - radius][x + i - radius], as
// an integer, plus cumulative[image[y][x]]; a product outside counts as 0. All but taps and cumulative are n x n and
// row-major.
// Launch: two dimensions of work-items, 16 x 16 or any others; the global size is n rounded up to whole groups.
//   product     floats that are whole numbers, read
//   image       bytes, read
//   cumulative  256 uints, read
//   taps        2 * radius + 1 floats, read
//   filtered    uints, written
//   tile        (width of a group + 2 * radius) * (height + 2 * radius) * 4 bytes
kernel void convolve(global const float* product, global const uchar* image, global const uint* cumulative,
                     global const float* taps, global uint* filtered, uint n, uint radius, local float* tile) {
  const uint width = get_local_size(0) + 2 * radius;
  const uint height = get_local_size(1) + 2 * radius;
  const int left = (int)(get_group_id(0) * get_local_size(0)) - (int)radius;
  const int top = (int)(get_group_id(1) * get_local_size(1)) - (int)radius;
  const uint items = get_local_size(0) * get_local_size(1);
  for (uint at = get_local_id(0) + get_local_id(1) * get_local_size(0); at < width * height; at += items) {
    const int x = left + (int)(at % width);
    const int y = top + (int)(at / width);
    const bool inside = x >= 0 && y >= 0 && x < (int)n && y < (int)n;
    tile[at] = inside ? product[(size_t)y * n + x] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const uint x = get_global_id(0);
  const uint y = get_global_id(1);
  if (x >= n || y >= n) return;
  const uint size = 2 * radius + 1;
  float sum = 0.0f;
  for (uint j = 0; j < size; ++j) {
    float row = 0.0f;
    for (uint i = 0; i < size; ++i) row += taps[i] * tile[(get_local_id(1) + j) * width + get_local_id(0) + i];
    sum += taps[j] * row;
  }
  const size_t at = (size_t)y * n + x;
  filtered[at] = (uint)sum + cumulative[image[at]];
}
