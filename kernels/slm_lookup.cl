// SPDX-License-Identifier: MIT
// slm_lookup: lookups through a table in shared local memory; slm_lookup.cpu.cl has the same kernel for CPUs.

// out[i] = table[index[i]] for i < n; each index must be below 256.
// The work-group copies the table once: 256 reads of global memory a work-group, and a barrier.
// Launch: one dimension, any group size; the global size is n rounded up to whole groups.
//   table  256 uints, read
//   index  n of them, read
//   out    n of them, written
//   n      lookups
kernel void lookup(global const uint* table, global const uint* index, global uint* out, uint n) {
  local uint slm[256];
  for (uint entry = get_local_id(0); entry < 256; entry += get_local_size(0)) slm[entry] = table[entry];
  barrier(CLK_LOCAL_MEM_FENCE);
  const size_t i = get_global_id(0);
  if (i < n) out[i] = slm[index[i]];
}
