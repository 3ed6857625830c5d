// SPDX-License-Identifier: MIT
// Exact values of OpenCL's math functions, computed in long double.
#pragma once

#include <cmath>
#include <limits>
#include <string_view>

namespace kiln::cpu::test::reference {

using Real = long double;
inline constexpr Real kPi = 3.14159265358979323846264338327950288L;
inline constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

#define KILN_SAME(name) \
  inline Real name(Real x) { return std::name(x); }
// The names look like declarations to the formatter.
// clang-format off
KILN_SAME(acos) KILN_SAME(acosh) KILN_SAME(asin) KILN_SAME(asinh) KILN_SAME(atan) KILN_SAME(atanh)
KILN_SAME(cbrt) KILN_SAME(ceil) KILN_SAME(cos) KILN_SAME(cosh) KILN_SAME(erf) KILN_SAME(erfc)
KILN_SAME(exp) KILN_SAME(exp2) KILN_SAME(expm1) KILN_SAME(fabs) KILN_SAME(floor) KILN_SAME(lgamma)
KILN_SAME(log) KILN_SAME(log10) KILN_SAME(log1p) KILN_SAME(log2) KILN_SAME(logb) KILN_SAME(rint)
KILN_SAME(round) KILN_SAME(sin) KILN_SAME(sinh) KILN_SAME(sqrt) KILN_SAME(tan) KILN_SAME(tanh)
KILN_SAME(tgamma) KILN_SAME(trunc)
// clang-format on
#undef KILN_SAME

#define KILN_SAME(name) \
  inline Real name(Real x, Real y) { return std::name(x, y); }
    // The names look like declarations to the formatter.
    // clang-format off
KILN_SAME(atan2) KILN_SAME(copysign) KILN_SAME(fdim) KILN_SAME(fmax) KILN_SAME(fmin) KILN_SAME(fmod)
KILN_SAME(hypot) KILN_SAME(nextafter) KILN_SAME(pow) KILN_SAME(remainder)
// clang-format on
#undef KILN_SAME

            inline Real acospi(Real x) {
  return std::acos(x) / kPi;
}
inline Real asinpi(Real x) { return std::asin(x) / kPi; }
inline Real atanpi(Real x) { return std::atan(x) / kPi; }
inline Real atan2pi(Real y, Real x) { return std::atan2(y, x) / kPi; }
inline Real exp10(Real x) { return std::pow(10.0L, x); }
inline Real recip(Real x) { return 1 / x; }
inline Real rsqrt(Real x) { return 1 / std::sqrt(x); }
inline Real degrees(Real x) { return x * 180 / kPi; }
inline Real radians(Real x) { return x * kPi / 180; }
inline Real sign(Real x) { return std::isnan(x) ? 0 : x > 0 ? 1 : x < 0 ? -1 : x; }

// Exact at multiples of a quarter turn, where sin(pi * x) of a rounded pi is not.
inline Real sinpi(Real x) {
  if (!std::isfinite(x)) return kNan;
  const Real turn = std::remainder(x, 2.0L);
  if (turn == 0 || turn == 1 || turn == -1) return 0;
  return std::sin(kPi * (turn > 0.5L ? 1 - turn : turn < -0.5L ? -1 - turn : turn));
}
inline Real cospi(Real x) {
  if (!std::isfinite(x)) return kNan;
  const Real turn = std::fabs(std::remainder(x, 2.0L));
  return turn == 0.5L ? 0 : turn > 0.25L ? std::sin(kPi * (0.5L - turn)) : std::cos(kPi * turn);
}
inline Real tanpi(Real x) {
  if (!std::isfinite(x)) return kNan;
  const Real turn = std::remainder(x, 1.0L);
  if (turn == 0) return 0;
  const Real infinity = std::numeric_limits<Real>::infinity();
  if (std::fabs(turn) == 0.5L) return std::fmod(std::floor(x), 2.0L) == 0 ? infinity : -infinity;
  return sinpi(turn) / cospi(turn);
}

inline Real max(Real x, Real y) { return x < y ? y : x; }
inline Real min(Real x, Real y) { return y < x ? y : x; }
inline Real step(Real edge, Real x) { return x < edge ? 0 : 1; }
inline Real maxmag(Real x, Real y) {
  return std::fabs(x) > std::fabs(y) ? x : std::fabs(y) > std::fabs(x) ? y : std::fmax(x, y);
}
inline Real minmag(Real x, Real y) {
  return std::fabs(x) < std::fabs(y) ? x : std::fabs(y) < std::fabs(x) ? y : std::fmin(x, y);
}
inline Real powr(Real x, Real y) {
  if (std::isnan(x) || std::isnan(y) || x < 0) return kNan;
  if ((x == 0 && y == 0) || (std::isinf(x) && y == 0) || (x == 1 && std::isinf(y))) return kNan;
  return std::pow(std::fabs(x), y);
}
inline Real rootn(Real x, int n) {
  if (n == 0 || (x < 0 && n % 2 == 0) || std::isnan(x)) return kNan;
  if (x == 0)
    return n > 0        ? 0
           : n % 2 == 0 ? std::numeric_limits<Real>::infinity()
                        : std::copysign(std::numeric_limits<Real>::infinity(), x);
  return std::copysign(std::pow(std::fabs(x), 1.0L / n), x);
}

/// What OpenCL leaves open: min and max with a NaN.
inline bool is_open(std::string_view name, Real x, Real y) {
  return (name == "max" || name == "min") && (std::isnan(x) || std::isnan(y));
}

}  // namespace kiln::cpu::test::reference
