// SPDX-License-Identifier: MIT
// slm_scatter: a transposition, whose writes are scattered over global memory or over shared local memory.

// All kernels answer out[x * n + y] = in[y * n + x] for x and y < n.
// Launch: two dimensions, groups of 16 x 16 that cover n x n.
//   in   n * n uints, read
//   out  n * n uints, written
//   n    edge of the square
enum { kEdge = 16 };

// 16 neighbours read one cache line of 64 bytes and write to 16.
kernel void direct(global const uint* in, global uint* out, uint n) {
  const size_t x = get_global_id(0), y = get_global_id(1);
  if (x < n && y < n) out[x * n + y] = in[y * n + x];
}

// The group turns a tile in SLM, so that 16 neighbours write one line too. A row of the tile has a word to spare: with 16,
// the column that neighbours read would lie in one bank.
kernel void through_slm(global const uint* in, global uint* out, uint n) {
  local uint tile[kEdge][kEdge + 1];
  const uint column = get_local_id(0), row = get_local_id(1);
  const size_t x = get_group_id(0) * kEdge, y = get_group_id(1) * kEdge;
  if (x + column < n && y + row < n) tile[row][column] = in[(y + row) * n + x + column];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x + row < n && y + column < n) out[(x + row) * n + y + column] = tile[column][row];
}
