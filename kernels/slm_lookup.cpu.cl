// SPDX-License-Identifier: MIT
// slm_lookup for CPUs: straight from the table, whose cache lines are as near as a copy of them would be.

// out[i] = table[index[i]] for i < n; each index must be below 256. On a CPU, SLM is memory like any other: a copy there
// costs reads, writes and a barrier, and gains nothing.
// Launch and arguments: as slm_lookup.cl.
kernel void lookup(global const uint* table, global const uint* index, global uint* out, uint n) {
  const size_t i = get_global_id(0);
  if (i < n) out[i] = table[index[i]];
}
