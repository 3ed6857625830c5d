// SPDX-License-Identifier: MIT
// References for group functions: who belongs to which sub-group, inputs, and what the functions should give.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "../support.hpp"

namespace kiln::cpu::test {

/// Half precision for numbers that it can hold exactly, and infinities.
struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) {
    if (value == 0) return;
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    int exponent = 0;
    const float fraction = std::frexp(std::fabs(value), &exponent);  // 0.5 to 1
    bits = std::isinf(value)
               ? static_cast<std::uint16_t>(sign | 0x7c00)
               : static_cast<std::uint16_t>(
                     sign | ((exponent + 14) << 10 | (static_cast<int>(fraction * 2048) & 0x3ff)));
  }
  explicit operator float() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    const float size = exponent == 31 ? std::numeric_limits<float>::infinity()
                       : bits == 0    ? 0.0F
                                      : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
  }
  friend bool operator==(Half, Half) = default;
};

struct Float4 {
  std::array<float, 4> lanes;
  friend bool operator==(const Float4&, const Float4&) = default;
};

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Half>, float, T>;

// Integers wrap around, as on the device.
template <class T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return T(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
}
template <class T>
T times(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
template <class T>
T smaller(T a, T b) {
  return static_cast<Wide<T>>(b) < static_cast<Wide<T>>(a) ? b : a;
}
template <class T>
T larger(T a, T b) {
  return static_cast<Wide<T>>(a) < static_cast<Wide<T>>(b) ? b : a;
}
template <class T>
T highest() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::max();
  else
    return T(std::numeric_limits<Wide<T>>::infinity());
}
template <class T>
T lowest() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::min();
  else
    return T(-std::numeric_limits<Wide<T>>::infinity());
}

/// The same on every run. Halves are few quarters, so that their sums are exact.
template <class T>
std::vector<T> inputs(std::size_t count) {
  std::mt19937_64 random(count);
  std::uniform_real_distribution<double> reals(-3, 3);
  std::vector<T> out(count);
  for (T& value : out) {
    if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(random());
    else if constexpr (std::is_same_v<T, Half>)
      value = Half(static_cast<float>(static_cast<int>(random() % 64) - 32) / 4);
    else if constexpr (std::is_same_v<T, Float4>)
      for (float& lane : value.lanes) lane = static_cast<float>(reals(random));
    else
      value = static_cast<T>(reals(random));
  }
  return out;
}

/// Items by their linear global ids, in the order of their linear local ids.
using Team = std::vector<std::uint32_t>;

inline Team part(const Team& team, std::size_t first, std::size_t count) {
  const auto begin = team.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(count, team.size() - first))};
}

/// Groups side by side in x, split into teams of `width`.
struct Layout {
  std::uint32_t groups;
  Three size;
  std::uint32_t width;

  [[nodiscard]] std::uint32_t items() const { return groups * size[0] * size[1] * size[2]; }
  [[nodiscard]] std::vector<Team> teams() const {
    std::vector<Team> out;
    for (std::uint32_t group = 0; group < groups; ++group) {
      std::uint32_t local = 0;
      for (std::uint32_t z = 0; z < size[2]; ++z) {
        for (std::uint32_t y = 0; y < size[1]; ++y) {
          for (std::uint32_t x = 0; x < size[0]; ++x) {
            if (local++ % width == 0) out.emplace_back();
            out.back().push_back(((z * size[1] + y) * groups + group) * size[0] + x);
          }
        }
      }
    }
    return out;
  }
};

/// Compares what a kernel wrote, out[function * n + item].
template <class T>
class Expected {
 public:
  Expected(std::span<const T> out, std::uint32_t n) : out_(out), n_(n) {}

  void is(std::size_t function, std::uint32_t item, const T& value) const {
    if (out_[function * n_ + item] == value) return;
    CAPTURE(function);
    CAPTURE(item);
    FAIL_CHECK("another value than the reference");
  }

  template <class F>
  void reduce(std::size_t function, const Team& team, std::span<const T> in, F f) const {
    if (team.empty()) return;
    T sum = in[team[0]];
    for (std::size_t i = 1; i < team.size(); ++i) sum = f(sum, in[team[i]]);
    for (const std::uint32_t item : team) is(function, item, sum);
  }
  template <class F>
  void scan(std::size_t function, const Team& team, std::span<const T> in, F f) const {
    for (std::size_t i = 0; i < team.size(); ++i) {
      T sum = in[team[0]];
      for (std::size_t j = 1; j <= i; ++j) sum = f(sum, in[team[j]]);
      is(function, team[i], sum);
    }
  }
  template <class F>
  void exclusive_scan(std::size_t function, const Team& team, std::span<const T> in, F f, T identity) const {
    for (std::size_t i = 0; i < team.size(); ++i) {
      T sum = i == 0 ? identity : in[team[0]];
      for (std::size_t j = 1; j < i; ++j) sum = f(sum, in[team[j]]);
      is(function, team[i], sum);
    }
  }

 private:
  std::span<const T> out_;
  std::uint32_t n_;
};

/// What the kernel `votes` gives for one sub-group.
inline void check_votes(const Expected<std::uint32_t>& expected, const Team& team,
                        std::span<const std::uint32_t> in) {
  const auto count = static_cast<std::uint32_t>(team.size());
  std::uint32_t ayes = 0, noes = 0, odd = 0;
  bool all_equal = true;
  for (std::uint32_t lane = 0; lane < count; ++lane) {
    const bool aye = in[team[lane]] != 0;
    (aye ? ayes : noes) |= 1u << lane;
    odd ^= aye ? 1 : 0;
    all_equal = all_equal && in[team[lane]] == in[team[0]];
  }
  for (std::uint32_t lane = 0; lane < count; ++lane) {
    const auto is = [&](std::size_t function, std::uint32_t value) {
      expected.is(function, team[lane], value);
    };
    is(0, noes == 0);
    is(1, ayes != 0);
    is(2, all_equal);
    is(3, lane == 0);
    is(4, odd);
    is(5, ayes);
    is(6, ayes >> lane & 1);
    is(7, ayes >> 5 & 1);
    const std::uint32_t all = count == 32 ? ~0u : (1u << count) - 1;
    const std::uint32_t below = (1u << lane) - 1, ballot = (in[team[lane]] | 5) & all;
    is(8, static_cast<std::uint32_t>(std::popcount(ballot)));
    is(9, static_cast<std::uint32_t>(std::popcount(ballot & (below | 1u << lane))));
    is(10, static_cast<std::uint32_t>(std::popcount(ballot & below)));
    is(11, static_cast<std::uint32_t>(std::countr_zero(ballot)));
    is(12, static_cast<std::uint32_t>(31 - std::countl_zero(ballot)));
    if ((ayes >> lane & 1) != 0) continue;
    is(13, lane == static_cast<std::uint32_t>(std::countr_zero(noes)));
    is(14, noes);
    is(15, (noes >> 5) != 0);
    is(16, (noes & 31) == 0);
  }
}

}  // namespace kiln::cpu::test
