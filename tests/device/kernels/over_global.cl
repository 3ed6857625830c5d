// SPDX-License-Identifier: MIT
// A program-scope variable of 1 TiB. over_global.spv is built from it by ocloc 22.43 with -cl-std=CL2.0.
global char too_much[1ul << 40];
kernel void touch(global char* out, ulong i) {
  out[0] = too_much[i];
  too_much[i + 1] = out[1];
}
