// SPDX-License-Identifier: MIT
// 160 KiB of static local memory: more than any product has; over_static.spv is built from it by ocloc 22.43.
kernel void over(global uint* data) {
  local uint own[40960];
  for (uint i = get_local_id(0); i < 40960; i += get_local_size(0)) own[i] = data[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  data[get_global_id(0)] = own[40959 - get_local_id(0)];
}
kernel void innocent(global uint* data) { data[get_global_id(0)] = 1; }
