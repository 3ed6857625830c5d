// SPDX-License-Identifier: MIT
// Every integer function of OpenCL C 1.2 on every integer type, against 128-bit arithmetic on the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>

#include "support.hpp"

namespace kiln::cpu::test {
namespace {

#include "kernels/integer_numbers.inc"

__extension__ using Wide = __int128;
constexpr std::size_t kIntegers = 64;

template <class T>
T saturated(Wide value) {
  return static_cast<T>(
      std::clamp<Wide>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

// floor(a / 2) also below zero
Wide half(Wide a) { return a >> 1; }

// The upper half of the double-width product.
template <class T>
T high_half(T x, T y) {
  __extension__ using WideUnsigned = unsigned __int128;
  constexpr int kBits = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>((static_cast<Wide>(x) * y) >> kBits);
  else
    return static_cast<T>((static_cast<WideUnsigned>(x) * y) >> kBits);
}

template <class T>
T expected(std::uint32_t which, T x, T y, T z) {
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = 8 * sizeof(T);
  const Wide a = x, b = y, c = z;
  switch (which) {
    case integer_clz:
      return static_cast<T>(std::countl_zero(static_cast<U>(x)));
    case integer_popcount:
      return static_cast<T>(std::popcount(static_cast<U>(x)));
    case integer_abs_diff:
      return static_cast<T>(static_cast<U>(a > b ? a - b : b - a));
    case integer_add_sat:
      return saturated<T>(a + b);
    case integer_sub_sat:
      return saturated<T>(a - b);
    case integer_hadd:
      return static_cast<T>(half(a + b));
    case integer_rhadd:
      return static_cast<T>(half(a + b + 1));
    case integer_max:
      return std::max(x, y);
    case integer_min:
      return std::min(x, y);
    case integer_mul_hi:
      return static_cast<T>(high_half<T>(x, y));
    case integer_mad_hi:
      return static_cast<T>(static_cast<U>(high_half<T>(x, y)) + static_cast<U>(z));
    case integer_mad_sat:
      // Unsigned products of 64 bits do not fit Wide; then the result is the largest number.
      if constexpr (std::is_unsigned_v<T>)
        if (a > 0 && b > 0 && a > (std::numeric_limits<Wide>::max() - c) / b)
          return std::numeric_limits<T>::max();
      return saturated<T>(a * b + c);
    case integer_rotate:
      return static_cast<T>(std::rotl(static_cast<U>(x), static_cast<int>(static_cast<U>(y) % kBits)));
    case integer_bitselect:
      return static_cast<T>((x & ~z) | (y & z));
    case integer_clamp:
      return std::min(std::max(x, std::min(y, z)), std::max(y, z));
    case integer_abs:
      return static_cast<T>(a < 0 ? static_cast<U>(-a) : static_cast<U>(x));
    default:
      return 0;
  }
}

template <class T>
std::vector<T> inputs(std::size_t count, unsigned seed) {
  std::vector<T> out = {0,
                        1,
                        static_cast<T>(-1),
                        2,
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::min(),
                        static_cast<T>(std::numeric_limits<T>::max() - 1),
                        7,
                        static_cast<T>(-7),
                        100};
  std::mt19937_64 random(seed);
  std::rotate(out.begin(), out.begin() + seed % out.size(), out.end());
  while (out.size() < count) out.push_back(static_cast<T>(random()));
  return out;
}

template <class T>
void check(const Program& program, const std::string& type, unsigned width) {
  const std::string kernel = "integer_" + type + (width > 1 ? std::to_string(width) : std::string());
  CAPTURE(kernel);
  for (unsigned seed = 1; seed < 10; ++seed) {
    const auto a = inputs<T>(kIntegers * width, 0), b = inputs<T>(kIntegers * width, seed),
               c = inputs<T>(kIntegers * width, seed + 5);
    for (std::uint32_t which = 0; which < integer_count; ++which) {
      CAPTURE(which);
      std::vector<T> out(a.size());
      REQUIRE(launch(program, kernel, {4, 1, 1}, {kIntegers / 4, 1, 1}, which, a, b, c, out));
      for (std::size_t i = 0; i < a.size(); ++i) {
        T want = expected(which, a[i], b[i], c[i]);
        const std::size_t first = i / width * width;
        const auto is_negative = [](T value) { return value >> (8 * sizeof(T) - 1) & 1; };
        if (which == integer_select) want = (width > 1 ? is_negative(c[i]) : c[i] != 0) ? b[i] : a[i];
        if (which == integer_any) want = std::any_of(&a[first], &a[first] + width, is_negative);
        if (which == integer_all) want = std::all_of(&a[first], &a[first] + width, is_negative);
        CAPTURE(+a[i]);
        CAPTURE(+b[i]);
        CAPTURE(+c[i]);
        CHECK(+out[i] == +want);
      }
    }
  }
}

}  // namespace

TEST_CASE("integer functions") {
  for (const char* generator : {"ocloc", "clang"}) {
    CAPTURE(generator);
    const BuildResult result = build_from_spirv(read_file("integer." + std::string(generator) + ".spv"), {});
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    const Program& program = *result.program;
    for (const unsigned width : {1u, 16u}) check<std::int8_t>(program, "char", width);
    for (const unsigned width : {1u, 3u}) check<std::uint8_t>(program, "uchar", width);
    for (const unsigned width : {1u, 8u}) check<std::int16_t>(program, "short", width);
    for (const unsigned width : {1u, 2u}) check<std::uint16_t>(program, "ushort", width);
    for (const unsigned width : {1u, 2u, 3u, 4u, 8u, 16u}) check<std::int32_t>(program, "int", width);
    for (const unsigned width : {1u, 4u}) check<std::uint32_t>(program, "uint", width);
    for (const unsigned width : {1u, 3u}) check<std::int64_t>(program, "long", width);
    for (const unsigned width : {1u, 4u}) check<std::uint64_t>(program, "ulong", width);
  }
}

TEST_CASE("24-bit products and upsample") {
  for (const char* generator : {"ocloc", "clang"}) {
    CAPTURE(generator);
    const BuildResult result = build_from_spirv(read_file("integer." + std::string(generator) + ".spv"), {});
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    const auto a = inputs<std::int32_t>(kIntegers, 0), b = inputs<std::int32_t>(kIntegers, 3),
               c = inputs<std::int32_t>(kIntegers, 5);
    std::vector<std::int32_t> out(4 * kIntegers);
    REQUIRE(launch(*result.program, "multiply24", {kIntegers, 1, 1}, {1, 1, 1}, a, b, c, out));
    for (std::size_t i = 0; i < kIntegers; ++i) {
      const std::int64_t x = static_cast<std::int32_t>(static_cast<std::uint32_t>(a[i]) << 8) >> 8;
      const std::int64_t y = static_cast<std::int32_t>(static_cast<std::uint32_t>(b[i]) << 8) >> 8;
      const std::uint64_t ux = static_cast<std::uint32_t>(a[i]) & 0xffffff,
                          uy = static_cast<std::uint32_t>(b[i]) & 0xffffff;
      CHECK(out[4 * i] == static_cast<std::int32_t>(x * y));
      CHECK(out[4 * i + 1] == static_cast<std::int32_t>(x * y + c[i]));
      CHECK(out[4 * i + 2] == static_cast<std::int32_t>(ux * uy));
      CHECK(out[4 * i + 3] == static_cast<std::int32_t>(ux * uy + static_cast<std::uint32_t>(c[i])));
    }
    std::vector<std::int64_t> up(8 * kIntegers);
    REQUIRE(launch(*result.program, "upsample_all", {kIntegers, 1, 1}, {1, 1, 1}, a, b, up));
    for (std::size_t i = 0; i < kIntegers; ++i) {
      const std::int32_t x = a[i], y = b[i];
      const auto next = [](std::int32_t value) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) + 1);
      };
      const auto short_of = [](std::int32_t high, std::int32_t low) {
        return static_cast<std::int16_t>(static_cast<std::uint16_t>((high & 0xff) << 8 | (low & 0xff)));
      };
      CHECK(up[8 * i] == short_of(x, y));
      CHECK(up[8 * i + 1] == static_cast<std::uint16_t>(short_of(x, y)));
      CHECK(up[8 * i + 2] == static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << 16 |
                                                       (static_cast<std::uint32_t>(y) & 0xffff)));
      CHECK(up[8 * i + 3] == static_cast<std::uint32_t>(static_cast<std::uint32_t>(x) << 16 |
                                                        (static_cast<std::uint32_t>(y) & 0xffff)));
      const auto both = static_cast<std::int64_t>(
          static_cast<std::uint64_t>(static_cast<std::uint32_t>(x)) << 32 | static_cast<std::uint32_t>(y));
      CHECK(up[8 * i + 4] == both);
      CHECK(up[8 * i + 5] == both);
      CHECK(up[8 * i + 6] == short_of(x, y));
      CHECK(up[8 * i + 7] == short_of(next(x), next(y)));
    }
  }
}

}  // namespace kiln::cpu::test
