// SPDX-License-Identifier: MIT
// vload and vstore, half, shuffles, relations, geometry, atomics, async copies, arguments by value, printf.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <numeric>

#include "drivers/cpu/runtime/printf.hpp"
#include "support.hpp"

namespace kiln::cpu::test {
namespace {

// Half of 16 bits to double, exactly.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31)
    value =
        mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return bits & 0x8000 ? -value : value;
}

enum class Rounding : std::uint8_t { nearest, zero, up, down };

// The half that `value` rounds to, found by search over all of them.
std::uint16_t half_bits(double value, Rounding rounding) {
  if (std::isnan(value)) return 0x7e00;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  std::uint16_t low = 0;  // the largest half not above `size`
  for (std::uint16_t step = 0x4000; step > 0; step /= 2)
    if (low + step <= 0x7c00 && half_value(static_cast<std::uint16_t>(low + step)) <= size)
      low = static_cast<std::uint16_t>(low + step);
  if (half_value(low) == size) return sign | low;
  const auto high = static_cast<std::uint16_t>(low + 1);
  const bool away = (rounding == Rounding::up && sign == 0) || (rounding == Rounding::down && sign != 0);
  if (rounding == Rounding::nearest) {
    // Between the largest half and infinity the border is where the next half would be.
    const double above = high == 0x7c00 ? 65536 : half_value(high), below = half_value(low);
    const double middle = (below + above) / 2;
    if (size > middle || (size == middle && low % 2 == 1)) return sign | high;
    return sign | low;
  }
  return sign | (away ? high : low);
}

BuildResult build(const char* generator) {
  return build_from_spirv(read_file("memory." + std::string(generator) + ".spv"), {});
}

constexpr const char* kGenerators[] = {"ocloc", "clang"};

}  // namespace

TEST_CASE("vload and vstore") {
  for (const char* generator : kGenerators) {
    CAPTURE(generator);
    const BuildResult result = build(generator);
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    std::vector<float> in(64), out(64, -1), want(64, -1);
    std::iota(in.begin(), in.end(), 0.0F);
    const auto copy = [&](std::size_t width, std::size_t from, std::size_t to) {
      for (std::size_t i = 0; i < width; ++i) want[1 + to * width + i] = 2 * in[1 + from * width + i];
    };
    copy(2, 1, 0), copy(3, 1, 1), copy(4, 2, 2), copy(8, 2, 2), copy(16, 2, 2);
    REQUIRE(launch(*result.program, "vectors", {1, 1, 1}, {1, 1, 1}, in, out));
    CHECK(out == want);
  }
}

TEST_CASE("half in memory") {
  for (const char* generator : kGenerators) {
    CAPTURE(generator);
    const BuildResult result = build(generator);
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    std::vector<std::uint16_t> halves(65536);
    std::iota(halves.begin(), halves.end(), std::uint16_t{0});
    for (std::size_t i = 0; i < 16; ++i) halves[i] = static_cast<std::uint16_t>(0x3c00 + 77 * i);
    std::vector<float> wide(65536 + 64);
    REQUIRE(launch(*result.program, "half_load", {256, 1, 1}, {256, 1, 1}, halves, wide));
    int wrong = 0;
    for (std::size_t i = 0; i < 65536; ++i) wrong += ulp_error<float>(wide[i], half_value(halves[i])) != 0;
    CHECK(wrong == 0);
    for (std::size_t i = 0; i < 12; ++i) CHECK(wide[65536 + i] == half_value(halves[i]));
    for (std::size_t i = 0; i < 12; ++i) CHECK(wide[65548 + i] == half_value(halves[i / 3 * 4 + i % 3]));
    for (std::size_t i = 0; i < 32; ++i) CHECK(wide[65560 + i] == half_value(halves[i % 16]));

    std::vector<float> in = real_inputs<float>(512, -70000, 70000, 3);
    for (std::size_t i = 40; i < 300; ++i) in[i] = std::ldexp(in[i], -static_cast<int>(i % 42));
    for (std::size_t i = 300; i < 400; ++i)
      in[i] = static_cast<float>(half_value(static_cast<std::uint16_t>(i * 64)) +
                                 half_value(static_cast<std::uint16_t>(i * 64 + 1))) /
              2;
    const auto n = static_cast<std::uint32_t>(in.size());
    std::vector<std::uint16_t> out(8 * in.size());
    REQUIRE(launch(*result.program, "half_store", {n / 64, 1, 1}, {64, 1, 1}, in, out, n));
    constexpr Rounding kRoundings[] = {Rounding::nearest, Rounding::nearest, Rounding::zero,    Rounding::up,
                                       Rounding::down,    Rounding::zero,    Rounding::nearest, Rounding::up};
    for (std::size_t k = 0; k < 8; ++k) {
      for (std::size_t i = 0; i < in.size(); ++i) {
        CAPTURE(k);
        CAPTURE(in[i]);
        const std::uint16_t got = out[k * n + i];
        if (std::isnan(in[i]))
          CHECK(std::isnan(half_value(got)));
        else
          CHECK(got == half_bits(in[i], kRoundings[k]));
      }
    }
  }
}

TEST_CASE("shuffles, relations, geometry") {
  for (const char* generator : kGenerators) {
    CAPTURE(generator);
    const BuildResult result = build(generator);
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    const std::vector<float> in = {0, 1, 2, 3, 4, 5, 6, 7};
    const std::vector<std::uint32_t> mask = {3, 6, 1, 0, 7, 4, 9, 3};
    std::vector<float> out(28);
    REQUIRE(launch(*result.program, "shuffles", {1, 1, 1}, {1, 1, 1}, in, mask, out));
    CHECK(out == std::vector<float>{3, 2, 1, 0, 7, 4, 1, 3, 7, 6, 0, 0, 0, 0,
                                    0, 0, 3, 6, 1, 0, 7, 4, 1, 3, 3, 2, 1, 0});

    const std::vector<float> a = real_inputs<float>(200, -4, 4, 1);
    for (unsigned seed = 1; seed < 9; ++seed) {
      const std::vector<float> b = real_inputs<float>(200, -4, 4, seed);
      std::vector<std::int32_t> bits(6 * a.size());
      REQUIRE(launch(*result.program, "relations", {200, 1, 1}, {1, 1, 1}, a, b, bits));
      for (std::size_t i = 0; i < a.size(); ++i) {
        const float x = a[i], y = b[i];
        CAPTURE(x);
        CAPTURE(y);
        const bool either_nan = std::isnan(x) || std::isnan(y);
        const int want = (x == y) | (x != y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x < y) << 4 |
                         (x <= y) << 5 | (x < y || x > y) << 6 | std::isfinite(x) << 7 | std::isinf(x) << 8 |
                         std::isnan(x) << 9 | std::isnormal(x) << 10 | !either_nan << 11 | either_nan << 12 |
                         std::signbit(x) << 13;
        CHECK(bits[6 * i] == want);
        const bool any_less = x < y || -x < y, all_less = false;
        const int vectors = any_less | all_less << 1 | either_nan << 2 |
                            (std::isfinite(x) && std::isfinite(y)) << 3 | (y == y) << 4 |
                            std::signbit(x) << 5 | std::isinf(x) << 6;
        CHECK(bits[6 * i + 1] == vectors);
        CHECK(bits[6 * i + 2] == std::bit_cast<std::int32_t>(i % 2 == 1 ? y : x));
        CHECK(bits[6 * i + 3] == std::bit_cast<std::int32_t>(x > y ? y : x));
        const auto cx = std::bit_cast<std::uint32_t>(x), cy = std::bit_cast<std::uint32_t>(y);
        const auto mixed = std::bit_cast<float>((cx & ~0x0ff0f00fu) | (cy & 0x0ff0f00fu));
        if (!std::isnan(mixed)) CHECK(bits[6 * i + 4] == std::bit_cast<std::int32_t>(mixed));
        CHECK(bits[6 * i + 5] == ((x == y) | std::isnan(x) << 1 | std::signbit(x) << 2));
      }
    }

    std::vector<float> p(80), q(80), g(20 * 16);
    std::mt19937 random(1);
    for (float& x : p) x = static_cast<float>(random() % 2001) / 100 - 10;
    for (float& x : q) x = static_cast<float>(random() % 2001) / 100 - 10;
    std::fill_n(p.begin(), 4, 0.0F);
    std::fill_n(p.begin() + 4, 4, 1e30F);
    REQUIRE(launch(*result.program, "geometry", {20, 1, 1}, {1, 1, 1}, p, q, g));
    for (std::size_t i = 0; i < 20; ++i) {
      const float *x = &p[4 * i], *y = &q[4 * i], *o = &g[16 * i];
      long double dot = 0, squares = 0, far = 0;
      for (int k = 0; k < 4; ++k)
        dot += static_cast<long double>(x[k]) * y[k], squares += static_cast<long double>(x[k]) * x[k],
            far += (static_cast<long double>(x[k]) - y[k]) * (static_cast<long double>(x[k]) - y[k]);
      const long double length = std::sqrt(squares);
      CAPTURE(i);
      CHECK(std::fabs(o[0] - dot) <= 1e-4L * (1 + std::fabs(dot)));
      CHECK(ulp_error(o[1], length) <= 4.5L);
      CHECK(ulp_error(o[2], std::sqrt(far)) <= 4.5L);
      CHECK(ulp_error(o[3], std::sqrt(squares - static_cast<long double>(x[3]) * x[3])) <= 8192);
      for (int k = 0; k < 4; ++k) CHECK(ulp_error(o[4 + k], length == 0 ? 0 : x[k] / length) <= 4.5L);
      if (i > 1) {
        for (int k = 0; k < 3; ++k) {
          const long double exact = static_cast<long double>(x[(k + 1) % 3]) * y[(k + 2) % 3] -
                                    static_cast<long double>(x[(k + 2) % 3]) * y[(k + 1) % 3];
          CHECK(std::fabs(o[8 + k] - exact) <= 1e-4L);
        }
        CHECK(o[11] == 0);
      }
      CHECK(o[12] == doctest::Approx(std::hypot(x[0] - y[0], x[1] - y[1])));
      CHECK(o[13] == o[5]);
      CHECK(o[14] == static_cast<float>(length));
      CHECK(o[15] == x[0] * y[0]);
    }

    std::vector<std::uint32_t> nans(2);
    std::vector<std::uint64_t> wide(1);
    REQUIRE(launch(*result.program, "not_numbers", {1, 1, 1}, {1, 1, 1}, nans, wide));
    CHECK(nans == std::vector<std::uint32_t>{0x7fc00005, 0x7fc00009});
    CHECK(wide[0] == 0x7ff800000000000b);
  }
}

TEST_CASE("atomics") {
  for (const char* generator : kGenerators) {
    CAPTURE(generator);
    const BuildResult result = build(generator);
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    constexpr std::int32_t kCount = 64 * 128;
    constexpr std::int32_t kSum = kCount * (kCount - 1) / 2;
    std::vector<std::int32_t> a(11), seen(kCount);
    a[6] = -1;
    std::vector<std::uint32_t> u = {0xffffffff, 0};
    std::vector<float> f(1);
    REQUIRE(launch(*result.program, "atomics32", {128, 1, 1}, {64, 1, 1}, a, u, f, seen));
    int xored = 0;
    for (int i = 0; i < kCount; ++i) xored ^= i;
    CHECK(a == std::vector<std::int32_t>{kSum, -kSum, kCount, -kCount, -100, kCount - 101, -1 - 0x7fffffff,
                                         0x7fffffff, xored, kCount, 3 * kCount});
    CHECK(u == std::vector<std::uint32_t>{0, 0xffffffff});
    CHECK(f[0] == 2.5F);
    std::sort(seen.begin(), seen.end());
    CHECK(seen[0] == 0);
    CHECK(std::unique(seen.begin(), seen.end()) == seen.end());

    std::vector<std::int64_t> l(10);
    l[6] = -1;
    std::vector<std::uint64_t> w(1);
    std::vector<std::int32_t> low(128);
    REQUIRE(launch(*result.program, "atomics64", {128, 1, 1}, {64, 1, 1}, l, w, low));
    const std::int64_t sum = std::int64_t{kSum} << 33;
    const std::int64_t big = std::int64_t{1} << 40;
    CHECK(l == std::vector<std::int64_t>{sum, -sum, kCount, -kCount, -big, big + kCount - 1,
                                         std::numeric_limits<std::int64_t>::min(),
                                         std::numeric_limits<std::int64_t>::max(), std::int64_t{xored} << 35,
                                         kSum + kCount * big});
    CHECK(w[0] == static_cast<std::uint64_t>(-1));
    CHECK(low == std::vector<std::int32_t>(128, 5));
  }
}

TEST_CASE("async copies and arguments by value") {
  for (const char* generator : kGenerators) {
    CAPTURE(generator);
    const BuildResult result = build(generator);
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    std::vector<float> in(4 * 32 * 3), out(in.size()), want(in.size());
    std::iota(in.begin(), in.end(), 0.0F);
    std::transform(in.begin(), in.end(), want.begin(), [](float x) { return 2 * x; });
    std::vector<std::int32_t> far(64), near(48);
    std::iota(far.begin(), far.end(), 0);
    REQUIRE(launch(*result.program, "copies", {3, 1, 1}, {32, 1, 1}, in, out, far, near, local(32 * 16)));
    CHECK(out == want);
    for (std::int32_t i = 0; i < 48; ++i) CHECK(near[static_cast<std::size_t>(i)] == i / 16 + 3 * (i % 16));

    struct alignas(32) Pair {
      std::int32_t first;
      alignas(32) double second[4];
    };
    struct alignas(8) Short3 {
      std::int16_t value[4];
    };
    struct alignas(64) Float16 {
      float value[16];
    };
    const Pair pair{40, {1, 2, 3, 4}};
    Float16 wide{};
    wide.value[15] = 1.5F;
    std::vector<double> values(8);
    const std::vector<std::int32_t> table = {100, 200};
    REQUIRE(launch(*result.program, "values", {1, 1, 1}, {1, 1, 1}, pair, std::int8_t{-3},
                   Short3{{1, 2, -7, 0}}, std::uint64_t{1} << 40, wide, values, table));
    CHECK(values == std::vector<double>{45, 41, 3, -3, -7, 1099511627776.0, 1.5, 202});
  }
}

TEST_CASE("printf") {
  for (const char* generator : kGenerators) {
    CAPTURE(generator);
    const BuildResult result = build(generator);
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    std::fflush(stdout);
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    const int saved = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    const bool ok = launch(*result.program, "prints", {1, 1, 1}, {1, 1, 1}, std::int32_t{-42}, 1.25F);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    REQUIRE(ok);
    std::rewind(file);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    CHECK(text ==
          "-42   -42|-42  |-0042 7 ff FF 10 k %\n"
          "1.250000 1.25 1.250000e+00 1.25 text|    wide\n"
          "1,-2,3,-42 0.500000,1.250000 1,2,-3,4\n"
          "-5 5 -6\n"
          "plain\n");
  }
}

TEST_CASE("printf takes integers of every length") {
  const auto text = [](const char* format, std::uint64_t value, unsigned bytes) {
    const std::array words{printf_tag(PrintfKind::integer, bytes, 1), value};
    return format_printf(format, words);
  };
  constexpr std::uint64_t kMinusTwo = ~std::uint64_t{1};
  CHECK(text("%lli|", kMinusTwo, 8) == "-2|");
  CHECK(text("%lld", kMinusTwo, 8) == "-2");
  CHECK(text("%li", kMinusTwo, 8) == "-2");
  CHECK(text("%llu", kMinusTwo, 8) == "18446744073709551614");
  CHECK(text("%llx", kMinusTwo, 8) == "fffffffffffffffe");
  CHECK(text("%llX", 255, 8) == "FF");
  CHECK(text("%llo", 8, 8) == "10");
  CHECK(text("%+6lli", 5, 8) == "    +5");
  CHECK(text("%i", 0xfffffffe, 4) == "-2");
  CHECK(text("%hi", 0xfffe, 2) == "-2");
  CHECK(text("%hhi", 0xfe, 1) == "-2");
  const std::array pair{printf_tag(PrintfKind::integer, 8, 2), kMinusTwo, std::uint64_t{7}};
  CHECK(format_printf("%v2lli", pair) == "-2,7");
}

}  // namespace kiln::cpu::test
