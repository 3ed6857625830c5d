// SPDX-License-Identifier: MIT
// Conversions between all scalar types with every rounding mode and saturation, against the host's rounding
// modes.
#include <doctest/doctest.h>

#include <cfenv>
#include <utility>

#include "support.hpp"

namespace kiln::cpu::test {
namespace {

constexpr std::size_t kConverted = 96;
constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};

// The host converts under the rounding mode; volatile keeps the compiler from doing it beforehand.
template <class To, class From>
To rounded(From value, int mode) {
  std::fesetround(mode);
  volatile From input = value;
  volatile To output;
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    output = static_cast<To>(std::nearbyint(input));
  else
    output = static_cast<To>(input);
  std::fesetround(FE_TONEAREST);
  return output;
}

template <class To, class From>
bool in_range(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return true;
  } else if constexpr (std::is_floating_point_v<From>) {
    // Well inside, so that no rounding leaves the range; the limits themselves are checked with saturation.
    return value >= static_cast<long double>(std::numeric_limits<To>::min()) &&
           value <= static_cast<long double>(std::numeric_limits<To>::max()) - (sizeof(To) == 8 ? 2048 : 1);
  } else {
    return std::in_range<To>(value);
  }
}

template <class To, class From>
To saturated(From value, int mode) {
  if constexpr (std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    std::fesetround(mode);
    volatile From input = value;
    const long double whole = std::nearbyint(input);
    std::fesetround(FE_TONEAREST);
    if (whole <= static_cast<long double>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    if (whole >= static_cast<long double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return static_cast<To>(whole);
  } else {
    if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (std::cmp_greater(value, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  }
}

template <class From>
std::vector<From> inputs() {
  if constexpr (std::is_floating_point_v<From>) {
    std::vector<From> out = real_inputs<From>(kConverted, -300, 300, 1);
    for (std::size_t i = 30; i < 60; ++i)
      out[i] = static_cast<From>(out[i] * std::ldexp(1.0, static_cast<int>(i * 2 - 60)));
    for (int i = 0; i < 8; ++i) out[60 + i] = static_cast<From>(i % 2 == 0 ? -127.5 - i / 2 : 126.5 + i / 2);
    return out;
  } else {
    std::vector<From> out = {0, 1, static_cast<From>(-1), std::numeric_limits<From>::max(),
                             std::numeric_limits<From>::min()};
    std::mt19937_64 random(1);
    while (out.size() < kConverted)
      out.push_back(static_cast<From>(random() >> random() % (8 * sizeof(From))));
    return out;
  }
}

template <class From, class To>
void check(const Program& program, const std::string& from, const std::string& to) {
  const std::string kernel = from + "_to_" + to;
  CAPTURE(kernel);
  const std::vector<From> in = inputs<From>();
  for (std::uint32_t which = 0; which < (std::is_integral_v<To> ? 8u : 4u); ++which) {
    CAPTURE(which);
    std::vector<To> out(in.size());
    REQUIRE(launch(program, kernel, {2, 1, 1}, {kConverted / 2, 1, 1}, in, out, which));
    for (std::size_t i = 0; i < in.size(); ++i) {
      CAPTURE(+in[i]);
      CAPTURE(+out[i]);
      if (which < 4) {
        if (!in_range<To>(in[i])) continue;
        const To want = rounded<To>(in[i], kModes[which]);
        CHECK((out[i] == want || (want != want && out[i] != out[i])));
      } else if constexpr (std::is_integral_v<To>) {
        constexpr int kSaturatedModes[] = {FE_TOWARDZERO, FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};
        CHECK(+out[i] == +saturated<To>(in[i], kSaturatedModes[which - 4]));
      }
    }
  }
}

template <class From>
void check_from(const Program& program, const std::string& from) {
  check<From, std::int8_t>(program, from, "char");
  check<From, std::uint8_t>(program, from, "uchar");
  check<From, std::int16_t>(program, from, "short");
  check<From, std::uint16_t>(program, from, "ushort");
  check<From, std::int32_t>(program, from, "int");
  check<From, std::uint32_t>(program, from, "uint");
  check<From, std::int64_t>(program, from, "long");
  check<From, std::uint64_t>(program, from, "ulong");
  check<From, float>(program, from, "float");
  check<From, double>(program, from, "double");
}

}  // namespace

TEST_CASE("conversions") {
  for (const char* generator : {"ocloc", "clang"}) {
    CAPTURE(generator);
    const BuildResult result = build_from_spirv(read_file("convert." + std::string(generator) + ".spv"), {});
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    const Program& program = *result.program;
    check_from<std::int8_t>(program, "char");
    check_from<std::uint8_t>(program, "uchar");
    check_from<std::int16_t>(program, "short");
    check_from<std::uint16_t>(program, "ushort");
    check_from<std::int32_t>(program, "int");
    check_from<std::uint32_t>(program, "uint");
    check_from<std::int64_t>(program, "long");
    check_from<std::uint64_t>(program, "ulong");
    check_from<float>(program, "float");
    check_from<double>(program, "double");

    std::vector<float> a(32);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = 37.3F * static_cast<float>(i) - 300.6F;
    std::vector<std::int8_t> bytes(32);
    std::vector<std::int32_t> ints(16);
    std::vector<std::uint32_t> uints(6);
    std::vector<double> doubles(4);
    REQUIRE(launch(program, "vectors", {2, 1, 1}, {1, 1, 1}, a, bytes, ints, uints, doubles));
    for (std::size_t i = 0; i < 32; ++i) CHECK(+bytes[i] == +saturated<std::int8_t>(a[i], FE_TOWARDZERO));
    for (std::size_t i = 0; i < 16; ++i) CHECK(ints[i] == static_cast<std::int32_t>(std::ceil(a[i])));
    for (std::size_t i = 0; i < 6; ++i) CHECK(uints[i] == saturated<std::uint32_t>(a[i], FE_TONEAREST));
    for (std::size_t i = 0; i < 4; ++i) CHECK(doubles[i] == a[i]);

    std::vector<std::int32_t> codes(32);
    std::vector<std::uint8_t> parts(128);
    REQUIRE(launch(program, "reinterpret", {2, 1, 1}, {16, 1, 1}, a, codes, parts));
    CHECK(std::memcmp(codes.data(), a.data(), 128) == 0);
    CHECK(std::memcmp(parts.data(), a.data(), 128) == 0);
  }
}

}  // namespace kiln::cpu::test
