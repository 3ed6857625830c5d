// SPDX-License-Identifier: MIT
// Runs one math function, chosen by number, over arrays; the numbers come from the .inc files.
#include "math_numbers.inc"

#define vload1(i, p) (p)[i]
#define vstore1(x, i, p) (p)[i] = (x)
#define float1 float
#define double1 double
#define int1 int

#define REAL float
#define WIDTH 1
#include "math_body.inc"
#undef WIDTH
#define WIDTH 2
#include "math_body.inc"
#undef WIDTH
#define WIDTH 3
#include "math_body.inc"
#undef WIDTH
#define WIDTH 4
#include "math_body.inc"
#undef WIDTH
#define WIDTH 8
#include "math_body.inc"
#undef WIDTH
#define WIDTH 16
#include "math_body.inc"
#undef WIDTH
#undef REAL

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define REAL double
#define WIDTH 1
#include "math_body.inc"
#undef WIDTH
#define WIDTH 4
#include "math_body.inc"

kernel void quick_float4(uint which, global const float* a, global float* out) {
  const size_t i = get_global_id(0);
  const float4 x = vload4(i, a);
  float4 r = 0;
  switch (which) {
#define Q(name, ...) case quick_##name: r = name(x); break;
#include "math_quick.inc"
#undef Q
  }
  vstore4(r, i, out);
}
