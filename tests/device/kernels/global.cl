// SPDX-License-Identifier: MIT
// A program-scope variable, and a function that no kernel calls. global.spv is built from it by ocloc 22.43 with
// -cl-std=CL2.0.
global uint counter = 5;
uint twice(uint value) { return 2 * value; }
kernel void next(global uint* out) {
  out[0] = counter;
  counter += 1;
}
