// SPDX-License-Identifier: MIT
// Floats of 16 bits: their values, and rounding to them as the host's thread rounds.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace kiln::xe {

struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};

inline float to_float(BFloat value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }

inline float to_float(Half value) {
  const std::uint32_t sign = std::uint32_t{value.bits & 0x8000U} << 16;
  const std::uint32_t exponent = value.bits >> 10 & 31U, fraction = value.bits & 0x3ffU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24F;
  return sign ? -small : small;
}

/// The nearest half, by the host's rounding mode.
inline Half to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) {
    const auto fraction = static_cast<std::uint16_t>(std::bit_cast<std::uint64_t>(value) >> 42 & 0x3ff);
    return {static_cast<std::uint16_t>(sign | 0x7c00 | 0x200 | fraction)};
  }
  const double size = std::fabs(value);
  if (std::isinf(value)) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  // In units of the last place: a whole number after rounding, which rint does as the mode says for the sign.
  int exponent = 0;
  std::frexp(size, &exponent);
  exponent = exponent < -13 ? -24 : exponent - 11;
  const double units = std::fabs(std::rint(std::ldexp(value, -exponent)));
  const double rounded = std::ldexp(units, exponent);
  if (rounded >= 65536.0) {
    // Beyond the largest: infinity, unless the mode rounds towards zero there.
    const bool to_largest = std::rint(value < 0 ? -0.75 : 0.75) == 0.0;
    return {static_cast<std::uint16_t>(sign | (to_largest ? 0x7bff : 0x7c00))};
  }
  if (rounded < 0x1p-14)
    return {static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(rounded * 0x1p24))};
  std::frexp(rounded, &exponent);
  const auto fraction = static_cast<std::uint16_t>(std::ldexp(rounded, 11 - exponent)) & 0x3ffU;
  return {static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(exponent + 14) << 10 | fraction)};
}

inline BFloat to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};
  const double odd = bits >> 16 & 1U, low = static_cast<double>(bits & 0xffffU) / 65536.0;
  const double rounded = std::fabs(std::rint(bits >> 31 ? -(odd + low) : odd + low));
  const bool up = rounded - odd >= 1;
  return {static_cast<std::uint16_t>((bits >> 16) + up)};
}

}  // namespace kiln::xe
