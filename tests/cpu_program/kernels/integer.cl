// SPDX-License-Identifier: MIT
// Runs one integer function, chosen by number, over arrays of every integer type.
#include "integer_numbers.inc"

#define vload1(i, p) (p)[i]
#define vstore1(x, i, p) (p)[i] = (x)
#define char1 char
#define as_char1 as_char
#define uchar1 uchar
#define as_uchar1 as_uchar
#define short1 short
#define as_short1 as_short
#define ushort1 ushort
#define as_ushort1 as_ushort
#define int1 int
#define as_int1 as_int
#define uint1 uint
#define as_uint1 as_uint
#define long1 long
#define as_long1 as_long
#define ulong1 ulong
#define as_ulong1 as_ulong

#define INT char
#define SIGNED char
#define WIDTH 1
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 16
#include "integer_body.inc"
#undef WIDTH
#undef INT
#undef SIGNED

#define INT uchar
#define SIGNED char
#define WIDTH 1
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 3
#include "integer_body.inc"
#undef WIDTH
#undef INT
#undef SIGNED

#define INT short
#define SIGNED short
#define WIDTH 1
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 8
#include "integer_body.inc"
#undef WIDTH
#undef INT
#undef SIGNED

#define INT ushort
#define SIGNED short
#define WIDTH 1
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 2
#include "integer_body.inc"
#undef WIDTH
#undef INT
#undef SIGNED

#define INT int
#define SIGNED int
#define WIDTH 1
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 2
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 3
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 4
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 8
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 16
#include "integer_body.inc"
#undef WIDTH
#undef INT
#undef SIGNED

#define INT uint
#define SIGNED int
#define WIDTH 1
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 4
#include "integer_body.inc"
#undef WIDTH
#undef INT
#undef SIGNED

#define INT long
#define SIGNED long
#define WIDTH 1
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 3
#include "integer_body.inc"
#undef WIDTH
#undef INT
#undef SIGNED

#define INT ulong
#define SIGNED long
#define WIDTH 1
#include "integer_body.inc"
#undef WIDTH
#define WIDTH 4
#include "integer_body.inc"
#undef WIDTH
#undef INT
#undef SIGNED

kernel void multiply24(global const int* a, global const int* b, global const int* c, global int* out) {
  const size_t i = get_global_id(0);
  const int x = a[i] << 8 >> 8, y = b[i] << 8 >> 8;
  const uint ux = a[i] & 0xffffff, uy = b[i] & 0xffffff;
  vstore4((int4)(mul24(x, y), mad24(x, y, c[i]), mul24(ux, uy), mad24(ux, uy, (uint)c[i])), i, out);
}

kernel void upsample_all(global const int* a, global const int* b, global long* out) {
  const size_t i = get_global_id(0);
  const int x = a[i], y = b[i];
  const short2 s = upsample((char2)(x, x + 1), (uchar2)(y, y + 1));
  out[8 * i] = upsample((char)x, (uchar)y);
  out[8 * i + 1] = upsample((uchar)x, (uchar)y);
  out[8 * i + 2] = upsample((short)x, (ushort)y);
  out[8 * i + 3] = upsample((ushort)x, (ushort)y);
  out[8 * i + 4] = upsample(x, (uint)y);
  out[8 * i + 5] = upsample((uint)x, (uint)y);
  out[8 * i + 6] = s.x;
  out[8 * i + 7] = s.y;
}
