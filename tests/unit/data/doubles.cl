// SPDX-License-Identifier: MIT
// One kernel of two calculates in doubles: `doubles.spv` is this by ocloc 22.43, `-spv_only`.
kernel void single(global float* o) { o[0] = 1; }
kernel void dbl(global float* o) { double x = o[1]; o[0] = x * 1.23456789 ; }
