// SPDX-License-Identifier: MIT
// Computes in the next wider type where that gives the accuracy that OpenCL 1.2 section 7.4 asks for.
#include "drivers/cpu/compiler/builtins/host_math.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

namespace {

constexpr long double kPi = 3.14159265358979323846264338327950288L;

template <class T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

// The type in which a function of T is computed.
template <class T>
struct WiderOf;
template <>
struct WiderOf<float> {
  using type = double;
};
template <>
struct WiderOf<double> {
  using type = long double;
};
template <class T>
using Wider = typename WiderOf<T>::type;

template <class T>
T over_pi(Wider<T> x) {
  return static_cast<T>(x / static_cast<Wider<T>>(kPi));
}

// sin(pi * x) of x within [-1/4, 1/4], and cos likewise
template <class T>
Wider<T> near_sine(T x) {
  return std::sin(static_cast<Wider<T>>(kPi) * static_cast<Wider<T>>(x));
}
template <class T>
Wider<T> near_cosine(T x) {
  return std::cos(static_cast<Wider<T>>(kPi) * static_cast<Wider<T>>(x));
}

// x = rest + quadrant / 2 with |rest| <= 1/4, exactly; quadrant in 0..3
template <class T>
T reduce(T x, int& quadrant) {
  const T turn = std::remainder(x, T(2));  // within [-1, 1]
  const T half_turns = std::nearbyint(turn * 2);
  quadrant = static_cast<int>(half_turns) & 3;
  return turn - half_turns / 2;
}

template <class T>
T any_sinpi(T x) {
  if (!std::isfinite(x)) return kNan<T>;
  if (x == std::trunc(x)) return std::copysign(T(0), x);
  int quadrant = 0;
  const T rest = reduce(x, quadrant);
  const Wider<T> value = quadrant % 2 == 0 ? near_sine(rest) : near_cosine(rest);
  return static_cast<T>(quadrant < 2 ? value : -value);
}

template <class T>
T any_cospi(T x) {
  if (!std::isfinite(x)) return kNan<T>;
  int quadrant = 0;
  const T rest = reduce(x, quadrant);
  if (quadrant % 2 == 1 && rest == 0) return 0;  // halves: always +0
  const Wider<T> value = quadrant % 2 == 0 ? near_cosine(rest) : near_sine(rest);
  return static_cast<T>(quadrant == 0 || quadrant == 3 ? value : -value);
}

// OpenCL 1.2 section 7.5.1: +-0 at whole numbers and infinities halfway, with signs that alternate.
template <class T>
T any_tanpi(T x) {
  if (!std::isfinite(x)) return kNan<T>;
  int quadrant = 0;
  const T rest = reduce(x, quadrant);
  if (rest == 0) {
    const bool odd = std::fmod(std::floor(std::fabs(x)), T(2)) == 1;
    if (quadrant % 2 == 0) return std::copysign(T(0), odd ? -x : x);
    const T infinity = std::numeric_limits<T>::infinity();
    return std::fmod(std::floor(x), T(2)) == 0 ? infinity : -infinity;
  }
  const Wider<T> sine = near_sine(rest), cosine = near_cosine(rest);
  return static_cast<T>(quadrant % 2 == 0 ? sine / cosine : -cosine / sine);
}

template <class T>
T any_powr(T x, T y) {
  const bool infinite = std::isinf(x) || std::isinf(y);
  if (std::isnan(x) || std::isnan(y) || x < 0) return kNan<T>;
  if (x == 0 && y == 0) return kNan<T>;
  if (infinite && ((x == 1) || (y == 0))) return kNan<T>;
  return std::pow(std::fabs(x), y);
}

template <class T>
T any_rootn(T x, std::int32_t n) {
  if (n == 0 || (x < 0 && n % 2 == 0)) return kNan<T>;
  if (x == 0) {
    const T zero_or_infinity = n > 0 ? T(0) : std::numeric_limits<T>::infinity();
    return n % 2 == 0 ? zero_or_infinity : std::copysign(zero_or_infinity, x);
  }
  const Wider<T> root = std::pow(static_cast<Wider<T>>(std::fabs(x)), Wider<T>(1) / n);
  return std::copysign(static_cast<T>(root), x);
}

template <class T>
std::int32_t any_ilogb(T x) {
  // OpenCL C fixes the two special values; those of the host's libm differ between systems.
  if (x == 0) return std::numeric_limits<std::int32_t>::min();
  if (std::isnan(x)) return std::numeric_limits<std::int32_t>::max();
  if (std::isinf(x)) return std::numeric_limits<std::int32_t>::max();
  return std::ilogb(x);
}

template <class T>
T any_frexp(T x, std::int32_t* exponent) {
  *exponent = 0;
  if (x == 0 || !std::isfinite(x)) return x;
  int value = 0;
  const T fraction = std::frexp(x, &value);
  *exponent = value;
  return fraction;
}

// OpenCL wants seven bits of the quotient, C's remquo only three.
template <class T>
T any_remquo(T x, T y, std::int32_t* quotient) {
  *quotient = 0;
  if (std::isnan(x) || std::isnan(y) || std::isinf(x) || y == 0) return kNan<T>;
  if (std::isinf(y)) return x;
  const T divisor = std::fabs(y);
  T rest = std::fmod(std::fabs(x), divisor * 128);  // an overflow to infinity leaves x, which is then small
  std::int32_t bits = 0;
  for (int k = 6; k >= 0; --k) {
    const T part = std::ldexp(divisor, k);
    if (rest >= part) {
      rest -= part;
      bits += 1 << k;
    }
  }
  const T missing = divisor - rest;
  if (rest > missing || (rest == missing && bits % 2 == 1)) {
    rest = -missing;
    ++bits;
  }
  bits &= 127;
  *quotient = std::signbit(x) != std::signbit(y) ? -bits : bits;
  if (rest == 0) return std::copysign(T(0), x);
  return std::signbit(x) ? -rest : rest;
}

// x to the n, near enough for a float: each product is off by half an ULP of a double. Kernels have small
// exponents, for which a few products take the place of a logarithm and an exponential.
double whole_power(double x, std::int32_t n) {
  constexpr std::int32_t kMost = 64;
  if (n < -kMost || n > kMost) return std::pow(x, n);
  double power = x, product = 1;
  for (auto rest = static_cast<std::uint32_t>(std::abs(n)); rest != 0; rest >>= 1) {
    if (rest & 1) product *= power;
    power *= power;
  }
  return n < 0 ? 1 / product : product;
}

}  // namespace

float kiln_acospif(float x) { return over_pi<float>(std::acos(static_cast<double>(x))); }
double kiln_acospi(double x) { return over_pi<double>(std::acos(static_cast<long double>(x))); }
float kiln_asinpif(float x) { return over_pi<float>(std::asin(static_cast<double>(x))); }
double kiln_asinpi(double x) { return over_pi<double>(std::asin(static_cast<long double>(x))); }
float kiln_atanpif(float x) { return over_pi<float>(std::atan(static_cast<double>(x))); }
double kiln_atanpi(double x) { return over_pi<double>(std::atan(static_cast<long double>(x))); }
float kiln_atan2pif(float y, float x) {
  return over_pi<float>(std::atan2(static_cast<double>(y), static_cast<double>(x)));
}
double kiln_atan2pi(double y, double x) {
  return over_pi<double>(std::atan2(static_cast<long double>(y), static_cast<long double>(x)));
}
float kiln_cbrtf(float x) { return std::cbrt(x); }
// The double function of glibc 2.36 is off by 2.2 ULP at times, and OpenCL allows 2.
double kiln_cbrt(double x) { return static_cast<double>(std::cbrt(static_cast<long double>(x))); }
float kiln_cospif(float x) { return any_cospi(x); }
double kiln_cospi(double x) { return any_cospi(x); }
float kiln_sinpif(float x) { return any_sinpi(x); }
double kiln_sinpi(double x) { return any_sinpi(x); }
float kiln_tanpif(float x) { return any_tanpi(x); }
double kiln_tanpi(double x) { return any_tanpi(x); }
// lgamma itself writes a global variable.
float kiln_lgammaf(float x) {
  int sign = 0;
  return lgammaf_r(x, &sign);
}
double kiln_lgamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}
float kiln_pownf(float x, std::int32_t n) { return static_cast<float>(whole_power(x, n)); }
double kiln_pown(double x, std::int32_t n) { return std::pow(x, static_cast<double>(n)); }
float kiln_powrf(float x, float y) { return any_powr(x, y); }
double kiln_powr(double x, double y) { return any_powr(x, y); }
float kiln_rootnf(float x, std::int32_t n) { return any_rootn(x, n); }
double kiln_rootn(double x, std::int32_t n) { return any_rootn(x, n); }
std::int32_t kiln_ilogbf(float x) { return any_ilogb(x); }
std::int32_t kiln_ilogb(double x) { return any_ilogb(x); }
float kiln_frexpf(float x, std::int32_t* exponent) { return any_frexp(x, exponent); }
double kiln_frexp(double x, std::int32_t* exponent) { return any_frexp(x, exponent); }
float kiln_remquof(float x, float y, std::int32_t* quotient) { return any_remquo(x, y, quotient); }
double kiln_remquo(double x, double y, std::int32_t* quotient) { return any_remquo(x, y, quotient); }
