// SPDX-License-Identifier: MIT
// Kernels that go on until data[0] is not 0, in every way in which kernels are run. endless.spv comes from ocloc 22.43.

kernel void plain(global volatile int* data) {
  while (data[0] == 0) data[1] += 1;
}

kernel void in_mathematics(global volatile int* data) {
  float x = 1;
  while (data[0] == 0) {
    x = pow(sin(x), 3) + 1;
    data[1] = (int)x;
  }
}

kernel void behind_a_barrier(global volatile int* data) {
  local int sum;
  if (get_local_id(0) == 0) sum = data[1];
  barrier(CLK_LOCAL_MEM_FENCE);
  while (data[0] == 0) data[1] = sum;
}

kernel void at_barriers(global volatile int* data) {
  while (data[0] == 0) barrier(CLK_GLOBAL_MEM_FENCE);
}

kernel void of_the_grid(global volatile int* data) {
  while (data[0] == 0) global_barrier();
}

// Ends, but has very many work-groups: half a second of them at least.
kernel void many_groups(global volatile int* data) {
  for (int i = 0; i < 20000; ++i) data[1] = i;
}

kernel void good(global volatile int* data) { data[get_global_id(0)] = 1 + get_global_id(0); }
