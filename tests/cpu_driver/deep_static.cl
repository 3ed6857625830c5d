// SPDX-License-Identifier: MIT
// 96 KiB of static local memory: fits bmg, not tgllp; deep_static.spv is built from it by ocloc 22.43.
kernel void deep(global uint* data) {
  local uint own[24576];
  for (uint i = get_local_id(0); i < 24576; i += get_local_size(0)) own[i] = data[i % 16];
  barrier(CLK_LOCAL_MEM_FENCE);
  data[get_global_id(0)] = own[24575 - get_local_id(0)];
}
