// SPDX-License-Identifier: MIT
// Kernels whose work-groups wait for each other, for cooperative launches. grid.spv comes from ocloc 22.43.
void __attribute__((overloadable)) __spirv_ControlBarrier(int execution, int memory, int semantics);

// Four rounds: each item adds the round to its number, takes that of its mirror image in the grid, and adds
// what its neighbour in the group had before. Groups of 16 items.
kernel void reverse(global int* data, global int* other) {
  local int before[16];
  const size_t n = get_global_size(0), i = get_global_id(0), l = get_local_id(0);
  for (int round = 0; round < 4; ++round) {
    before[l] = data[i];
    other[i] = data[i] + round;
    global_barrier();
    data[i] = other[n - 1 - i] + before[(l + 1) % 16];
    global_barrier();
  }
}

// The same once, with the scope of SPIR-V (Device) in the place of the function.
kernel void by_scope(global int* data, global int* other) {
  const size_t n = get_global_size(0), i = get_global_id(0);
  other[i] = data[i];
  __spirv_ControlBarrier(1, 1, 0x210);
  data[i] = other[n - 1 - i];
}

// Groups 0 and 1 end, the others wait for them.
kernel void some_groups(global int* data) {
  if (get_group_id(0) > 1) global_barrier();
  data[get_global_id(0)] = 1;
}

// Three items of each group wait, the others end.
kernel void some_items(global int* data) {
  if (get_local_id(0) < 3) global_barrier();
  data[get_global_id(0)] = 1;
}

kernel void alone(global int* data) { data[get_global_id(0)] = 1; }
