// SPDX-License-Identifier: MIT
// kiln/kiln.h compiled alone, as C and as C++ of an older standard: what it makes of zeros and constants.
#include "kiln/kiln.h"

// Twice, so that a missing #pragma once shows.
#include "kiln/kiln.h"

#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
#define SAME(condition) static_assert(condition, #condition)
#else
#define SAME(condition) _Static_assert(condition, #condition)
#endif

// Fixed for ever, as arrays are made of them.
SAME(sizeof(kiln_argument) == 24);
SAME(sizeof(kiln_memory_file) == 24);
SAME(sizeof(kiln_extent) == 12);

kiln_launch_info header_compiles(const float* value);
kiln_launch_info header_compiles(const float* value) {
  static kiln_argument arguments[2];
  kiln_launch_info launch = KILN_INIT(kiln_launch_info);
  arguments[0] = kiln_value(value, sizeof *value);
  arguments[1] = kiln_local_argument(1024);
  launch.arguments = arguments;
  launch.argument_count = 2;
  return launch;
}
