// SPDX-License-Identifier: MIT
// Conversions between all scalar types, saturated and with rounding modes; and some between vectors.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define CONVERT(FROM, TO)                                                            \
  kernel void FROM##_to_##TO(global const FROM* a, global TO* out, uint which) {     \
    const size_t i = get_global_id(0);                                               \
    const FROM x = a[i];                                                             \
    TO r = 0;                                                                        \
    switch (which) {                                                                 \
      case 0: r = convert_##TO##_rte(x); break;                                      \
      case 1: r = convert_##TO##_rtz(x); break;                                      \
      case 2: r = convert_##TO##_rtp(x); break;                                      \
      case 3: r = convert_##TO##_rtn(x); break;                                      \
      SATURATED(TO)                                                                  \
    }                                                                                \
    out[i] = r;                                                                      \
  }
#define SATURATED_(TO)                                 \
  case 4: r = convert_##TO##_sat(x); break;            \
  case 5: r = convert_##TO##_sat_rte(x); break;        \
  case 6: r = convert_##TO##_sat_rtp(x); break;        \
  case 7: r = convert_##TO##_sat_rtn(x); break;
#define NOTHING_(TO)

#define FROM_ALL(TO)                                                                              \
  CONVERT(char, TO) CONVERT(uchar, TO) CONVERT(short, TO) CONVERT(ushort, TO) CONVERT(int, TO)    \
  CONVERT(uint, TO) CONVERT(long, TO) CONVERT(ulong, TO) CONVERT(float, TO) CONVERT(double, TO)

#define SATURATED SATURATED_
FROM_ALL(char) FROM_ALL(uchar) FROM_ALL(short) FROM_ALL(ushort)
FROM_ALL(int) FROM_ALL(uint) FROM_ALL(long) FROM_ALL(ulong)
#undef SATURATED
#define SATURATED NOTHING_
FROM_ALL(float) FROM_ALL(double)

kernel void vectors(global const float* a, global char* c, global int* n, global uint* u, global double* d) {
  const size_t i = get_global_id(0);
  vstore16(convert_char16_sat(vload16(i, a)), i, c);
  vstore8(convert_int8_rtp(vload8(i, a)), i, n);
  vstore3(convert_uint3_sat_rte(vload3(i, a)), i, u);
  vstore2(convert_double2(vload2(i, a)), i, d);
}

kernel void reinterpret(global const float* a, global int* out, global uchar* bytes) {
  const size_t i = get_global_id(0);
  out[i] = as_int(a[i]);
  vstore4(as_uchar4(a[i]), i, bytes);
}
