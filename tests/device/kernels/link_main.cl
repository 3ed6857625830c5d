// SPDX-License-Identifier: MIT
// Calls a function that link_part.cl defines.
int twice(int value);
kernel void doubled(global int* data) { data[get_global_id(0)] = twice(data[get_global_id(0)]); }
