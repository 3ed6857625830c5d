// SPDX-License-Identifier: MIT
// slm_table: six ways to bring a lookup table into shared local memory before the work-group uses it.

// All kernels answer out[i] = table[index[i]] for i < n; each index must be below the table's entries.
// They differ in how many reads of the table in global memory this costs, and in what they ask of the group.
//
//   table    the entries, uint each, read
//   index    n of them, read
//   out      n of them, written
//   n        lookups; the global size is n rounded up to whole groups, the surplus only helps to copy
//   entries  the table's length, at least 1 (the first three kernels know it: kEntries)
//   slm      the copy, chosen by the host: its length in uints is given at each kernel

// Literals, not `constant` variables: these would become global memory that each work-item reads.
enum { kEntries = 256, kCopies = 4 };

// Every work-item copies the whole table: entries reads per work-item, all but one group's share of them wasted.
// Launch: one dimension, any group size.
kernel void every_item(global const uint* table, global const uint* index, global uint* out, uint n) {
  local uint slm[kEntries];
  for (uint entry = 0; entry < kEntries; ++entry) slm[entry] = table[entry];
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t i = get_global_id(0);
  if (i < n) out[i] = slm[index[i]];
}

// The work-items share the copy: entries reads per work-group, neighbours read neighbouring entries.
// Launch: one dimension, any group size.
kernel void strided(global const uint* table, global const uint* index, global uint* out, uint n) {
  local uint slm[kEntries];
  for (uint entry = get_local_id(0); entry < kEntries; entry += get_local_size(0)) slm[entry] = table[entry];
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t i = get_global_id(0);
  if (i < n) out[i] = slm[index[i]];
}

// The group is as large as the table, so each work-item copies one entry and no loop is left.
// Launch: two dimensions, group x * y = 256 exactly; lookup i is the work-item's row-major place in the grid.
kernel void one_each(global const uint* table, global const uint* index, global uint* out, uint n) {
  local uint slm[kEntries];
  const uint entry = get_local_id(0) + get_local_id(1) * get_local_size(0);
  slm[entry] = table[entry];
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t i = get_global_id(0) + get_global_id(1) * get_global_size(0);
  if (i < n) out[i] = slm[index[i]];
}

// The table may be smaller than the group: `min` keeps the surplus work-items inside it, without a branch.
// Launch: one dimension, group size >= entries. slm: one uint per work-item, so that no two write the same place.
kernel void one_each_smaller(global const uint* table, global const uint* index, global uint* out, uint n,
                             uint entries, local uint* slm) {
  const uint item = get_local_id(0);
  slm[item] = table[min(item, entries - 1)];
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t i = get_global_id(0);
  if (i < n) out[i] = slm[index[i]];
}

// The table is bigger than the group by a known factor: four copies at fixed offsets, still without a loop.
// Launch: one dimension, 4 * group size >= entries. slm: 4 uints per work-item.
kernel void one_each_bigger(global const uint* table, global const uint* index, global uint* out, uint n,
                            uint entries, local uint* slm) {
  const uint size = get_local_size(0);
  const uint item = get_local_id(0);
#pragma unroll
  for (uint copy = 0; copy < kCopies; ++copy) {
    const uint entry = item + copy * size;
    slm[entry] = table[min(entry, entries - 1)];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t i = get_global_id(0);
  if (i < n) out[i] = slm[index[i]];
}

// Nothing is known about the table: the loop of `strided`, with a bound from the host.
// Launch: one dimension, any group size. slm: entries uints.
kernel void one_each_any(global const uint* table, global const uint* index, global uint* out, uint n,
                         uint entries, local uint* slm) {
  for (uint entry = get_local_id(0); entry < entries; entry += get_local_size(0)) slm[entry] = table[entry];
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t i = get_global_id(0);
  if (i < n) out[i] = slm[index[i]];
}
