// SPDX-License-Identifier: MIT
// Native code of kernels that use what the samples do not: compiled here by ocloc for every sub-group size
// and both sizes of the register file, compared with plain C++.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <set>

#include "unit/test_file.hpp"
#include "xe/native_run.hpp"

namespace {

using namespace kiln::test;
namespace fs = std::filesystem;
using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint64_t,
    std::uint8_t;

struct Variant {
  std::string product;
  std::uint32_t simd, registers;
};
const std::vector<Variant> kAllVariants{
    {"tgllp", 8, 128}, {"tgllp", 16, 128}, {"tgllp", 32, 128}, {"dg2", 8, 128},
    {"dg2", 16, 128},  {"dg2", 16, 256},   {"dg2", 32, 128},   {"pvc", 16, 128},
    {"pvc", 16, 256},  {"pvc", 32, 128},   {"bmg", 16, 128},   {"bmg", 16, 256},
    {"bmg", 32, 128},  {"lnl", 16, 128},   {"ptl", 16, 128},   {"ptl", 32, 128}};

/// Each compilation takes seconds: without the variable a few, with each product, sub-group size and size of
/// the register file.
const std::vector<Variant>& variants() {
  static const std::vector<Variant> few{{"tgllp", 8, 128}, {"dg2", 16, 256}, {"pvc", 32, 128},
                                        {"bmg", 16, 128},  {"lnl", 16, 128}, {"ptl", 32, 128}};
  return std::getenv("KILN_TEST_ALL") ? kAllVariants : few;
}

bool has_doubles(const std::string& product) { return product != "tgllp" && product != "dg2"; }

/// Products that are newer than this ocloc.
std::set<std::string> unknown_products;

/// Is there an ocloc, without the library that reads OpenCL C? Its packages are two.
bool front_end_is_missing = false;

/// Empty: this ocloc has not the product, or none that is known.
Bytes compile(const Variant& variant) {
  static std::map<std::string, Bytes> kept;
  const std::string name =
      variant.product + std::to_string(variant.simd) + "_" + std::to_string(variant.registers);
  if (const auto found = kept.find(name); found != kept.end()) return found->second;
  std::string folder = (fs::temp_directory_path() / "kiln-breadth-XXXXXX").string();
  if (!mkdtemp(folder.data())) return {};
  const std::string options = "-DS=" + std::to_string(variant.simd) +
                              (has_doubles(variant.product) ? " -DD" : "") +
                              (variant.registers == 256 ? " -cl-intel-256-GRF-per-thread" : "");
  const std::string command =
      std::string("cd ") + folder + " && " KILN_TEST_OCLOC " compile -file " KILN_TEST_BREADTH + " -device " +
      variant.product + " -options \"" + options +
      "\" -internal_options -cl-intel-allow-zebin -output out -output_no_suffix > log 2>&1";
  Bytes file;
  if (std::system(command.c_str()) == 0)
    for (const char* each : {"out", "out.bin"})
      if (fs::exists(fs::path(folder) / each)) file = read_file(fs::path(folder) / each);
  if (file.empty()) {
    const Bytes log = read_file(fs::path(folder) / "log");
    const std::string_view text(reinterpret_cast<const char*>(log.data()), log.size());
    front_end_is_missing |= text.find("Loading of FCL library has failed") != text.npos;
    for (const char* said : {"Cannot get HW Info for device", "Could not determine device target"})
      if (text.find(said) != text.npos) unknown_products.insert(variant.product);
  }
  fs::remove_all(folder);
  return kept[name] = file;
}

template <class T>
std::vector<T> random_values(std::uint32_t n, std::uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(n);
  for (T& each : values) {
    if constexpr (std::is_floating_point_v<T>) {
      each = static_cast<T>(static_cast<int>(random() % 4001) - 2000) / T{8};
    } else {
      each = static_cast<T>(random() >> (random() % (8 * sizeof(T))));  // of all sizes
      if (random() % 2) each = static_cast<T>(0 - static_cast<std::uint64_t>(each));
    }
  }
  return values;
}

template <class T, class F>
void check(const Variant& variant, const std::string& kernel, std::vector<Argument>& arguments,
           std::size_t out, std::uint32_t n, F expected, T tolerance = T{0}, std::uint32_t group = 64) {
  const Bytes file = compile(variant);
  const std::string label = kernel + " on " + variant.product + ", SIMD" + std::to_string(variant.simd) +
                            ", " + std::to_string(variant.registers) + " registers: ";
  if (front_end_is_missing) {
    MESSAGE("not tried: ocloc has no libigdfcl here");
    return;
  }
  if (unknown_products.contains(variant.product)) {
    MESSAGE("not tried: this ocloc does not know " << variant.product);
    return;
  }
  REQUIRE_MESSAGE(!file.empty(), (label + "ocloc failed"));
  const auto why =
      run_native(file, variant.product, kernel,
                 {.global = {(n + group - 1) / group * group, 1, 1}, .local = {group, 1, 1}}, arguments);
  CHECK_MESSAGE(!why, (label + why.value_or("")));
  if (why) return;
  const auto got = values_of<T>(arguments[out]);
  std::size_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const T want = expected(i);
    bool same = got[i] == want;
    if constexpr (std::is_floating_point_v<T>)
      same = same || (std::isnan(got[i]) && std::isnan(want)) ||
             std::fabs(got[i] - want) <= tolerance * std::fabs(want);
    if (!same && wrong++ == 0)
      first = " differ, the first at " + std::to_string(i) + ": " + std::to_string(got[i]) + " is not " +
              std::to_string(want);
  }
  CHECK_MESSAGE(wrong == 0, (label + std::to_string(wrong) + first));
}

template <class T>
T sat(std::int64_t value) {
  return static_cast<T>(
      std::clamp<std::int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
uint32_t bits(int32_t x) { return static_cast<uint32_t>(x); }

int32_t ints(int32_t x, int32_t y) {
  const int64_t lx = x, ly = y;
  const uint32_t ux = bits(x), uy = bits(y);
  uint32_t r = static_cast<uint32_t>(lx / (y | 1) + lx % (y | 3));
  r ^= (ux / (uy | 9)) ^ (ux % (uy | 5));
  r += static_cast<uint32_t>((lx * ly) >> 32) + static_cast<uint32_t>((uint64_t{ux} * uy) >> 32) +
       static_cast<uint32_t>(__builtin_popcount(ux)) + (uy ? static_cast<uint32_t>(__builtin_clz(uy)) : 32) +
       static_cast<uint32_t>(__builtin_ctz(ux | 1));
  const uint32_t c = uy & 31;
  r ^= (c ? ux << c | ux >> (32 - c) : ux) + static_cast<uint32_t>(x >> c) + (ux >> (ux & 31)) +
       (ux << (uy & 7));
  r += bits(sat<int32_t>(lx + ly)) ^ bits(sat<int32_t>(lx - ly)) ^
       sat<uint32_t>(static_cast<int64_t>(uint64_t{ux} + uy)) ^ static_cast<uint32_t>(lx < 0 ? -lx : lx) ^
       static_cast<uint32_t>((lx + ly) >> 1) ^ static_cast<uint32_t>((lx + ly + 1) >> 1);
  r += bits(std::max(x, y)) - bits(std::min(x, y)) + std::max(ux, uy) + (x < y ? 3 : 5) +
       bits(std::clamp(x, -100, 100));
  r ^= static_cast<uint32_t>((lx & 0xffff) * (ly & 0xffff) + lx) +
       static_cast<uint32_t>((lx & 0xfff) * (ly & 0xfff));
  return static_cast<int32_t>(r);
}

int64_t longs(int64_t x, int64_t y) {
  const auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  uint64_t r = ux * uy + (ux ^ uy) - (ux & uy);
  r ^= (ux << (uy & 63)) + static_cast<uint64_t>(x >> (ux & 63)) + (uy >> (ux & 31));
  r += static_cast<uint64_t>(x / (y | 1)) + ux % (uy | 1);
  r ^= static_cast<uint64_t>(std::max(x, y)) + std::min(ux, uy) + (x < y) + (ux < uy) * 7;
  __extension__ using Wide = __int128;
  r += static_cast<uint64_t>((Wide{x} * y) >> 64) + static_cast<uint64_t>(__builtin_popcountll(ux)) +
       (uy ? static_cast<uint64_t>(__builtin_clzll(uy)) : 64);
  return static_cast<int64_t>(r);
}

uint32_t flow(uint32_t x) {
  uint32_t r = 0;
  for (uint32_t k = 0; k < (x & 31); ++k) {
    if ((x >> k & 3) == 0) continue;
    if ((x >> k & 15) == 9) break;
    switch ((x + k) % 5) {
      case 0:
        r += k;
        break;
      case 1:
        r ^= x;
        [[fallthrough]];
      case 2:
        r *= 3;
        break;
      default:
        r -= 7;
    }
    uint32_t j = k;
    do {
      r += j;
      j = j * 3 + 1;
      if (r % 11 == 4) {
        r ^= 5;
        break;
      }
    } while (j < 50);
  }
  while (x > 1 && r < 100000) {
    x = (x & 1) ? 3 * (x >> 8) + 1 : x >> 1;
    ++r;
  }
  return r;
}

constexpr std::uint32_t kN = 200;

}  // namespace

TEST_CASE("native code: integers of all widths") {
  const auto a = random_values<int32_t>(kN, 1), b = random_values<int32_t>(kN, 2);
  const auto la = random_values<int64_t>(kN, 3), lb = random_values<int64_t>(kN, 4);
  const auto sa = random_values<int16_t>(kN, 5);
  const auto cb = random_values<int8_t>(kN, 6);
  for (const Variant& each : variants()) {
    std::vector<Argument> arguments{buffer(a), buffer(b), buffer(std::vector<int32_t>(kN)), value(kN)};
    check<int32_t>(each, "ints", arguments, 2, kN, [&](std::size_t i) { return ints(a[i], b[i]); });
    arguments = {buffer(la), buffer(lb), buffer(std::vector<int64_t>(kN)), value(kN)};
    check<int64_t>(each, "longs", arguments, 2, kN, [&](std::size_t i) { return longs(la[i], lb[i]); });
    arguments = {buffer(sa), buffer(cb), buffer(std::vector<int16_t>(kN)), buffer(std::vector<uint8_t>(kN)),
                 value(kN)};
    check<int16_t>(each, "shorts", arguments, 2, kN, [&](std::size_t i) {
      const int x = sa[i], y = cb[i];
      return static_cast<int16_t>(static_cast<int16_t>(x * y + (x >> 3) - x / (y | 1)) ^ sat<int16_t>(x + y));
    });
    check<uint8_t>(each, "shorts", arguments, 3, kN, [&](std::size_t i) {
      const int x = sa[i], y = cb[i];
      return static_cast<uint8_t>(static_cast<uint8_t>(x + y) ^ sat<uint8_t>(x) ^
                                  static_cast<uint8_t>(y >> 2));
    });
  }
}

TEST_CASE("native code: floats and conversions") {
  const auto a = random_values<float>(kN, 7), b = random_values<float>(kN, 8);
  const auto ib = random_values<int32_t>(kN, 9);
  for (const Variant& each : variants()) {
    std::vector<Argument> arguments{buffer(a), buffer(b), buffer(std::vector<float>(kN)),
                                    buffer(std::vector<int32_t>(kN)), value(kN)};
    check<float>(each, "floats", arguments, 2, kN, [&](std::size_t i) {
      const float x = a[i], y = b[i];
      float r = std::fma(x, y, 1.5F) + x * y - std::floor(x) + std::ceil(y) + std::trunc(x) + std::rint(y) +
                std::fmin(x, y) + std::fmax(x, 2.0F) + std::fabs(y);
      r += x < y ? x : y;
      r += std::copysign(x, y) + 2 + 4;
      return r;
    });
    check<int32_t>(each, "floats", arguments, 3, kN, [&](std::size_t i) {
      const float x = a[i], y = b[i];
      return static_cast<int32_t>(x * 100.0F) + static_cast<int32_t>(std::nearbyint(y)) +
             static_cast<int32_t>(std::ceil(x)) + static_cast<int32_t>(std::floor(y)) +
             sat<uint8_t>(static_cast<int64_t>(x)) + sat<int16_t>(static_cast<int64_t>(y * 1000));
    });
    arguments = {buffer(a),
                 buffer(ib),
                 buffer(std::vector<float>(kN)),
                 buffer(std::vector<uint16_t>(kN)),
                 buffer(std::vector<int64_t>(kN)),
                 value(kN)};
    check<float>(each, "conversions", arguments, 2, kN, [&](std::size_t i) {
      const int32_t y = ib[i];
      return static_cast<float>(y) + static_cast<float>(bits(y)) * 0.5F +
             static_cast<float>(static_cast<int8_t>(y)) + static_cast<float>(int64_t{y} * 12345);
    });
    check<int64_t>(each, "conversions", arguments, 4, kN, [&](std::size_t i) {
      return static_cast<int64_t>(a[i]) * 3 + static_cast<int64_t>(std::fabs(a[i]));
    });
    arguments = {buffer(a), buffer(std::vector<float>(8 * kN)), value(kN)};
    check<float>(
        each, "special", arguments, 1, kN,
        [&](std::size_t at) {
          const float x = std::fabs(a[at / 8]) + 0.25F;
          const std::array<float, 8> all{std::sqrt(x), 1 / std::sqrt(x), std::exp2(x * 0.1F), std::log2(x),
                                         std::sin(x),  std::exp(-x),     std::pow(x, 1.7F),   x / (x + 3.0F)};
          return all[at % 8];
        },
        1e-4F);
    if (!has_doubles(each.product)) continue;
    const auto da = random_values<double>(kN, 10), db = random_values<double>(kN, 11);
    arguments = {buffer(da), buffer(db), buffer(std::vector<double>(kN)), value(kN)};
    check<double>(each, "doubles", arguments, 2, kN, [&](std::size_t i) {
      const double x = da[i], y = db[i];
      double r = std::fma(x, y, 1.5) + x * y - std::floor(x) + static_cast<double>(static_cast<float>(y)) +
                 static_cast<double>(static_cast<int32_t>(x)) + std::fmin(x, y);
      r += x < y ? x : y;
      return r + static_cast<double>(static_cast<int64_t>(x * 1000));
    });
    arguments[2] = buffer(std::vector<double>(kN));
    check<double>(each, "divide_double", arguments, 2, kN,
                  [&](std::size_t i) { return da[i] / db[i] + std::sqrt(std::fabs(da[i])); });
  }
}

TEST_CASE("native code: control flow, calls, sub-groups, blocks") {
  const auto x = random_values<uint32_t>(kN, 12);
  const auto f = random_values<float>(kN, 13);
  constexpr std::uint32_t kWhole = 256;
  const auto s = random_values<int32_t>(kWhole, 14);
  for (const Variant& each : variants()) {
    std::vector<Argument> arguments{buffer(x), buffer(std::vector<uint32_t>(kN)), value(kN)};
    check<uint32_t>(each, "flow", arguments, 1, kN, [&](std::size_t i) { return flow(x[i]); });
    arguments = {buffer(f), buffer(std::vector<float>(kN)), value(kN)};
    check<float>(each, "calls", arguments, 1, kN, [&](std::size_t i) {
      const auto helper = [](float v, std::size_t k) {
        float sum = 0;
        for (std::size_t j = 0; j < k; ++j) sum += v * static_cast<float>(j);
        return sum;
      };
      return helper(f[i], i & 7) + helper(f[i] + 1, 3);
    });
    arguments = {buffer(s), buffer(std::vector<int32_t>(kWhole)), value(kWhole)};
    check<int32_t>(each, "subgroups", arguments, 1, kWhole, [&](std::size_t i) {
      const std::size_t first = i / each.simd * each.simd, lane = i - first, size = each.simd;
      const auto at = [&](std::size_t l) { return bits(s[first + l]); };
      uint32_t sum = 0, up_to = 0;
      int32_t before = std::numeric_limits<int32_t>::min(), odd = before;
      bool any = false, all = true;
      for (std::size_t l = 0; l < size; ++l) {
        sum += at(l);
        if (l <= lane) up_to += at(l);
        if (l < lane) before = std::max(before, s[first + l]);
        any |= s[first + l] > 1000;
        all &= s[first + l] > -1;
        if (s[first + l] & 1) odd = std::max(odd, s[first + l]);
      }
      uint32_t r = sum + up_to * 3 + bits(before);
      r ^= at(lane ^ 3) + at((lane + 1) % size == 0 ? 0 : lane + 1) +
           at(lane >= 2 ? lane - 2 : size + lane - 2);
      r += at(5) + (any ? 1 : 2) + (all ? 4 : 8) + at((lane * 7 + 1) % size);
      if (s[i] & 1) r += bits(odd);
      return static_cast<int32_t>(r);
    });
    if (each.simd == 32) continue;
    const auto in = random_values<uint32_t>(4 * kWhole, 15);
    arguments = {buffer(in), buffer(std::vector<uint32_t>(4 * kWhole))};
    check<uint32_t>(each, "blocks", arguments, 1, kWhole, [&](std::size_t i) {
      return in[i] * 3 + static_cast<uint32_t>(i % (4 * each.simd) / each.simd) + 1;
    });
  }
}

TEST_CASE("native code: atomic operations") {
  const auto a = random_values<int32_t>(kN, 16);
  std::vector<int32_t> begin(32), expected(32);
  begin[3] = -1;
  expected = begin;
  // The counts in SLM depend on the order of additions and maxima: what does not is compared.
  for (const int32_t x : a) {
    expected[0] = static_cast<int32_t>(bits(expected[0]) + bits(x));
    expected[1] = std::min(expected[1], x);
    expected[2] = std::max(expected[2], x);
    expected[3] &= x | 0xff;
    expected[4] |= x & 0xff00;
    expected[5] ^= x;
    ++expected[6];
    --expected[7];
    expected[8] += x & 7;
  }
  std::vector<int32_t> counts(16);
  for (const int32_t x : a) ++counts[static_cast<std::size_t>(x & 15)];
  for (const Variant& each : variants()) {
    std::vector<Argument> arguments{buffer(begin), buffer(a), value(kN), local(64)};
    check<int32_t>(each, "atomics", arguments, 0, kN, [&](std::size_t i) {
      if (i < 9) return expected[i];
      const auto got = values_of<int32_t>(arguments[0])[i];
      if (i < 24) return i < 16 ? 0 : got;  // the lower eight have maxima among them
      return counts[i - 16];
    });
  }
}

TEST_CASE("native code: vectors of bytes, scratch memory, atomic operations of 64 bits") {
  const auto a = random_values<uint32_t>(kN, 17);
  const auto bytes = random_values<uint8_t>(16 * kN, 18);
  const auto wide = random_values<uint64_t>(kN, 19);
  std::array<uint64_t, 3> expected{};
  for (const uint64_t each : wide) {
    expected[0] += each;
    expected[1] = std::max(expected[1], each);
    expected[2] ^= each;
  }
  for (const Variant& each : variants()) {
    std::vector<Argument> arguments{buffer(a), buffer(std::vector<uint32_t>(kN)), value(kN)};
    check<uint32_t>(each, "spilled", arguments, 1, kN, [&](std::size_t i) {
      std::array<uint32_t, 180> v{};
      uint32_t s = 0;
      for (uint32_t k = 0; k < 180; ++k) v[k] = a[(i * 7 + std::size_t{k} * 13) % kN] * (k + 1);
      for (uint32_t k = 0; k < 180; ++k) s = s * 31 + (v[k] ^ v[(k * 7 + 5) % 180]);
      return s;
    });
    arguments = {buffer(bytes), buffer(std::vector<uint8_t>(bytes.size())), value(kN)};
    check<uint8_t>(each, "vectors", arguments, 1, kN,
                   [&](std::size_t i) { return static_cast<uint8_t>(bytes[i ^ 1] + 3); });
    arguments = {buffer(std::vector<uint64_t>(3)), buffer(wide), value(kN)};
    check<uint64_t>(each, "long_atomics", arguments, 0, kN, [&](std::size_t i) { return expected[i]; });
  }
}

TEST_CASE("native code: private arrays of all threads of a group") {
  // 16 threads at least: a thread's number is in pieces in sr0 on Xe-HPG, the first of three bits.
  constexpr std::uint32_t kGroup = 512;
  const auto a = random_values<uint32_t>(kN, 22);
  for (const Variant& each : variants()) {
    std::vector<Argument> arguments{buffer(a), buffer(std::vector<uint32_t>(kGroup)), value(kN)};
    check<uint32_t>(
        each, "privately", arguments, 1, kGroup,
        [&](std::size_t i) {
          std::array<uint32_t, 32> v{};
          uint32_t s = 0;
          for (uint32_t k = 0; k < 32; ++k) v[k] = a[i % kN] * (k + 1);
          for (uint32_t k = 0; k < 32; ++k) v[a[(i + k) % kN] & 31] += k;
          for (uint32_t k = 0; k < 32; ++k) s = s * 31 + v[a[(i + 3 * std::size_t{k}) % kN] >> 3 & 31];
          return s;
        },
        0U, kGroup);
  }
}

#ifdef __FLT16_MAX__
TEST_CASE("native code: halves") {
  __extension__ typedef _Float16 Half;
  const auto half = [](double each) { return static_cast<Half>(each); };
  std::vector<uint16_t> a(kN), b(kN);
  const auto f = random_values<float>(kN, 20), g = random_values<float>(kN, 21);
  for (std::size_t i = 0; i < kN; ++i) {
    const Half x = half(f[i] / 50), y = half(g[i] / 7);
    std::memcpy(&a[i], &x, 2);
    std::memcpy(&b[i], &y, 2);
  }
  for (const Variant& each : variants()) {
    std::vector<Argument> arguments{buffer(a), buffer(b), buffer(std::vector<uint16_t>(kN)), value(kN)};
    check<uint16_t>(each, "halves", arguments, 2, kN, [&](std::size_t i) {
      Half hx, hy;
      std::memcpy(&hx, &a[i], 2);
      std::memcpy(&hy, &b[i], 2);
      const double x = static_cast<double>(hx), y = static_cast<double>(hy);
      Half r = half(x * y + x);
      r = half(static_cast<double>(r) + static_cast<double>(half(x * y)));
      r = half(static_cast<double>(r) - std::floor(y));
      r = half(static_cast<double>(r) + (x < y ? x : y));
      r = half(static_cast<double>(r) + static_cast<int>(x));
      uint16_t bits_of_r = 0;
      std::memcpy(&bits_of_r, &r, 2);
      return bits_of_r;
    });
  }
}
#endif
