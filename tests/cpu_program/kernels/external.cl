// SPDX-License-Identifier: MIT
// A function that no module defines: the build must name it.
int elsewhere(int x);
kernel void calls_elsewhere(global int* a) { a[get_global_id(0)] = elsewhere(3); }
