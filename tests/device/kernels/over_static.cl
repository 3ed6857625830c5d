// SPDX-License-Identifier: MIT
// More static SLM than any device of the profiles has: 200 KiB. over_static.spv is built from it by ocloc 22.43.
kernel void too_much(global uint* out) {
  local uint own[50 * 1024];
  const uint item = get_local_id(0);
  for (uint i = item; i < 50 * 1024; i += get_local_size(0)) own[i] = i * item;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = 0;
  for (uint i = 0; i < 50 * 1024; ++i) sum += own[i];
  out[get_global_id(0)] = sum;
}

// The driver refuses the whole module, so this one too.
kernel void innocent(global uint* out) { out[get_global_id(0)] = 7; }
