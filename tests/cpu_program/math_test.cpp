// SPDX-License-Identifier: MIT
// Every math function of OpenCL C 1.2, in all vector widths, against long double on the host.
#include "reference/math.hpp"

#include <doctest/doctest.h>

#include "support.hpp"

namespace kiln::cpu::test {
namespace {

#include "kernels/math_numbers.inc"

constexpr std::size_t kItems = 48;

struct Row1 {
  const char* name;
  long double ulp;
  double low, high;
  long double (*exact)(long double);
};
struct Row2 {
  const char* name;
  long double ulp;
  double low, high;
  long double (*exact)(long double, long double);
};

constexpr Row1 kUnary[] = {
#define F(name, ulp, low, high) {#name, ulp, low, high, reference::name},
#include "kernels/math_unary.inc"
#undef F
};
constexpr Row2 kBinary[] = {
#define F(name, ulp, low, high) {#name, ulp, low, high, reference::name},
#include "kernels/math_binary.inc"
#undef F
};
constexpr Row1 kQuick[] = {
#define Q(name, exact, low, high) {#name, 8192, low, high, reference::exact},
#include "kernels/math_quick.inc"
#undef Q
};

template <class T>
constexpr const char* kRealName = sizeof(T) == 4 ? "float" : "double";

// The functions that the reference computes in long double but that have to be exact in T.
template <class T>
long double exact_in(const char* name, T x, T y) {
  const std::string_view function = name;
  if (function == "nextafter") return std::nextafter(x, y);
  if (function == "fdim") return std::fdim(x, y);
  return std::numeric_limits<long double>::signaling_NaN();
}

template <class T>
void check_unary(const Program& program, unsigned width) {
  const std::string kernel =
      "unary_" + std::string(kRealName<T>) + (width > 1 ? std::to_string(width) : std::string());
  for (std::uint32_t which = 0; which < unary_count; ++which) {
    const Row1& row = kUnary[which];
    const std::string function = row.name;
    CAPTURE(function);
    CAPTURE(kernel);
    const std::vector<T> in = real_inputs<T>(kItems * width, row.low, row.high, 1);
    std::vector<T> out(in.size());
    REQUIRE(launch(program, kernel, {3, 1, 1}, {kItems / 3, 1, 1}, which, in, out));
    long double worst = 0;
    T at = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const long double error = ulp_error(out[i], row.exact(in[i]));
      if (error > worst) worst = error, at = in[i];
    }
    CAPTURE(at);
    CHECK(worst <= std::max(row.ulp, 0.5L));
  }
}

template <class T>
void check_binary(const Program& program, unsigned width) {
  const std::string kernel =
      "binary_" + std::string(kRealName<T>) + (width > 1 ? std::to_string(width) : std::string());
  for (std::uint32_t which = 0; which < binary_count; ++which) {
    const Row2& row = kBinary[which];
    const std::string function = row.name;
    CAPTURE(function);
    CAPTURE(kernel);
    for (unsigned seed = 2; seed < 8; ++seed) {
      const std::vector<T> a = real_inputs<T>(kItems * width, row.low, row.high, 1);
      const std::vector<T> b = real_inputs<T>(kItems * width, row.low, row.high, seed);
      std::vector<T> out(a.size());
      REQUIRE(launch(program, kernel, {3, 1, 1}, {kItems / 3, 1, 1}, which, a, b, out));
      for (std::size_t i = 0; i < a.size(); ++i) {
        long double exact = exact_in(row.name, a[i], b[i]);
        if (std::isnan(exact)) exact = row.exact(a[i], b[i]);
        if (reference::is_open(row.name, a[i], b[i])) continue;
        CAPTURE(a[i]);
        CAPTURE(b[i]);
        CAPTURE(out[i]);
        CHECK(ulp_error(out[i], exact) <= std::max(row.ulp, 0.5L));
      }
    }
  }
}

template <class T>
void check_other(const Program& program, unsigned width) {
  const std::string kernel =
      "other_" + std::string(kRealName<T>) + (width > 1 ? std::to_string(width) : std::string());
  CAPTURE(kernel);
  const std::vector<T> a = real_inputs<T>(kItems * width, -50, 50, 1),
                       b = real_inputs<T>(kItems * width, -50, 50, 4),
                       c = real_inputs<T>(kItems * width, -50, 50, 9);
  std::vector<std::int32_t> n(a.size());
  for (std::size_t i = 0; i < n.size(); ++i) n[i] = static_cast<std::int32_t>(i % 11) - 5;
  for (std::uint32_t which = 0; which < other_count; ++which) {
    CAPTURE(which);
    std::vector<T> out(a.size()), out2(a.size());
    std::vector<std::int32_t> out3(a.size());
    REQUIRE(launch(program, kernel, {3, 1, 1}, {kItems / 3, 1, 1}, which, a, b, c, n, out, out2, out3));
    for (std::size_t i = 0; i < a.size(); ++i) {
      const T x = a[i], y = b[i], z = c[i];
      CAPTURE(x);
      CAPTURE(y);
      CAPTURE(z);
      CAPTURE(n[i]);
      const auto near = [&](T got, long double exact, long double ulp) {
        CAPTURE(got);
        CHECK(ulp_error(got, exact) <= ulp);
      };
      const bool finite = std::isfinite(x) && std::isfinite(y) && std::isfinite(z);
      switch (which) {
        case other_fma:
          near(out[i], std::fma(x, y, z), 0.5L);
          break;
        case other_mad:
          if (finite && std::fabs(x) < 1000 && std::fabs(y) < 1000 && std::fabs(z) < 1000)
            CHECK(std::fabs(out[i] - std::fma(x, y, z)) <= std::numeric_limits<T>::epsilon() * 1e7);
          break;
        case other_clamp:
          if (!std::isnan(x) && !std::isnan(y) && !std::isnan(z))
            near(out[i], std::fmin(std::fmax(x, std::fmin(y, z)), std::fmax(y, z)), 0);
          break;
        case other_mix:
          if (finite && std::fabs(x) < 1e6 && std::fabs(y) < 1e6 && std::fabs(z) < 1e6)
            near(out[i], x + (y - x) * z, 0.5L);
          break;
        case other_smoothstep:
          if (finite && y != z && std::fabs(y - z) > T(1e-3)) {
            const T low = std::fmin(y, z), high = std::fmax(y, z);
            const T t = std::fmin(std::fmax((x - low) / (high - low), T(0)), T(1));
            CHECK(std::fabs(out[i] - t * t * (3 - 2 * t)) <= std::numeric_limits<T>::epsilon() * 4);
          }
          break;
        case other_fract:
          near(out2[i], std::floor(x), 0);
          if (std::isinf(x))
            near(out[i], std::copysign(T(0), x), 0);
          else
            near(out[i], std::isnan(x) ? x : std::fmin(x - std::floor(x), std::nextafter(T(1), T(0))), 0);
          break;
        case other_modf: {
          T whole = 0;
          near(out[i], std::modf(x, &whole), 0);
          near(out2[i], whole, 0);
          CHECK((std::isnan(x) || std::signbit(out[i]) == std::signbit(x)));
          break;
        }
        case other_sincos:
          near(out[i], reference::sin(x), 4);
          near(out2[i], reference::cos(x), 4);
          break;
        case other_frexp: {
          int exponent = 0;
          near(out[i], std::frexp(x, &exponent), 0);
          if (std::isfinite(x)) CHECK(out3[i] == exponent);
          break;
        }
        case other_lgamma_r:
          if (x > 0 && std::isfinite(x)) {
            near(out[i], std::lgamma(static_cast<long double>(x)), 8192);
            CHECK(out3[i] == 1);
          }
          break;
        case other_remquo: {
          near(out[i], std::remainder(x, y), 0);
          if (std::isfinite(x) && std::isfinite(y) && y != 0 && std::fabs(x / y) < 1e6) {
            const long double whole =
                std::nearbyint(static_cast<long double>(x) / static_cast<long double>(y));
            const auto bits = static_cast<std::int32_t>(std::fmod(std::fabs(whole), 128.0L));
            CHECK(std::abs(out3[i]) % 128 == bits);
          }
          break;
        }
        case other_ldexp:
          near(out[i], std::ldexp(x, n[i]), 0.5L);
          break;
        case other_pown:
          near(out[i], std::pow(static_cast<long double>(x), n[i]), 16);
          break;
        case other_rootn:
          near(out[i], reference::rootn(x, n[i]), 16);
          break;
        case other_ilogb:
          if (x != 0 && std::isfinite(x)) CHECK(out3[i] == std::ilogb(x));
          if (x == 0) CHECK(out3[i] == std::numeric_limits<std::int32_t>::min());
          if (std::isnan(x)) CHECK(out3[i] == std::numeric_limits<std::int32_t>::max());
          break;
      }
    }
  }
}

void check_quick(const Program& program) {
  for (std::uint32_t which = 0; which < quick_count; ++which) {
    const Row1& row = kQuick[which];
    const std::string function = row.name;
    CAPTURE(function);
    const std::vector<float> in = real_inputs<float>(kItems * 4, row.low, row.high, 1);
    std::vector<float> out(in.size());
    REQUIRE(launch(program, "quick_float4", {3, 1, 1}, {kItems / 3, 1, 1}, which, in, out));
    for (std::size_t i = 26; i < in.size(); ++i) {  // the special numbers are the implementation's business
      CAPTURE(in[i]);
      CAPTURE(out[i]);
      CHECK(ulp_error(out[i], row.exact(in[i])) <= row.ulp);
    }
  }
}

}  // namespace

TEST_CASE("math functions") {
  for (const char* generator : {"ocloc", "clang"}) {
    CAPTURE(generator);
    const BuildResult result = build_from_spirv(read_file("math." + std::string(generator) + ".spv"), {});
    REQUIRE_MESSAGE(result.status == BuildStatus::ok, result.log);
    for (const unsigned width : {1u, 2u, 3u, 4u, 8u, 16u}) {
      check_unary<float>(*result.program, width);
      check_binary<float>(*result.program, width);
      check_other<float>(*result.program, width);
    }
    for (const unsigned width : {1u, 4u}) {
      check_unary<double>(*result.program, width);
      check_binary<double>(*result.program, width);
      check_other<double>(*result.program, width);
    }
    check_quick(*result.program);
  }
}

}  // namespace kiln::cpu::test
