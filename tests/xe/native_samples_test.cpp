// SPDX-License-Identifier: MIT
// The samples' native code on the execution unit: every kernel, every product that the unit knows, against
// plain C++.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <numeric>
#include <random>
#include <string_view>

#include "unit/test_file.hpp"
#include "xe/native_run.hpp"

namespace {

using namespace kiln::test;
using Words = std::vector<std::uint32_t>;
using Floats = std::vector<float>;

Words random_words(std::size_t count, std::uint32_t below = 0) {
  std::mt19937 random(static_cast<std::uint32_t>(count) + below);
  Words words(count);
  for (auto& each : words) each = below ? random() % below : random();
  return words;
}
Floats small_floats(std::size_t count) {  // whole numbers, whose sums are exact in any order
  std::mt19937 random(static_cast<std::uint32_t>(count));
  Floats floats(count);
  for (auto& each : floats) each = static_cast<float>(static_cast<int>(random() % 17) - 8);
  return floats;
}

/// A product's native files.
struct Product {
  std::string name, member;
  [[nodiscard]] Bytes file(const std::string& family) const {
    return read_file(std::filesystem::path(KILN_TEST_NATIVE) / (family + "." + member + ".bin"));
  }
};
std::vector<Product> products() {
  std::vector<Product> found;
  for (const auto& [name, member] : {std::pair("tgllp", "tgllp"),
                                     {"dg2", "dg2-g10"},
                                     {"pvc", "pvc"},
                                     {"bmg", "bmg-g21"},
                                     {"lnl", "lnl"},
                                     {"ptl", "ptl"}})
    if (std::filesystem::exists(std::filesystem::path(KILN_TEST_NATIVE) /
                                ("saxpy." + std::string(member) + ".bin")))
      found.push_back({name, member});
  REQUIRE_FALSE(found.empty());  // whoever has ocloc has their native files
  return found;
}

void run(const Product& product, const std::string& family, const std::string& kernel, Launch launch,
         std::vector<Argument>& arguments) {
  const auto why = run_native(product.file(family), product.name, kernel, launch, arguments);
  CHECK_MESSAGE(!why, (product.name + " " + family + " " + kernel + ": " + why.value_or("")));
}
Launch line(std::uint32_t n, std::uint32_t group) {
  return {.global = {(n + group - 1) / group * group, 1, 1}, .local = {group, 1, 1}};
}

template <class T>
void agree(const Product& product, const std::string& kernel, const std::vector<T>& got,
           const std::vector<T>& expected) {
  REQUIRE(got.size() == expected.size());
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i] && wrong++ == 0) first = i;
  CHECK_MESSAGE(wrong == 0, (product.name + " " + kernel + ": " + std::to_string(wrong) + " of " +
                             std::to_string(got.size()) + " differ, the first at " + std::to_string(first)));
}

/// Kernels of the form (in, out, n), each with what an element should be.
struct Simple {
  const char* name;
  std::uint32_t sources;  ///< inputs an element
  std::function<std::uint32_t(const Words&, std::size_t, std::uint32_t)> of;
};

std::uint32_t horner(std::uint32_t x) {
  std::uint32_t sum = 0;
  for (std::uint32_t e = 0; e < 16; ++e) sum = sum * x + e + 1;
  return sum;
}
std::uint32_t digits(std::uint32_t x) {
  std::uint32_t sum = 0;
  for (std::uint32_t p = 0; p < 6; ++p) sum += (p + 1) * (31 + (p * 6 >= 32 ? 0 : x >> p * 6 & 63));
  return sum;
}

}  // namespace

TEST_CASE("native code: access") {
  const std::vector<Simple> simple{
      {"index_function_1", 1, [](const Words& a, std::size_t i, std::uint32_t) { return a[i]; }},
      {"index_function_2", 2, [](const Words& a, std::size_t i, std::uint32_t) { return a[i + 1]; }},
      {"index_function_3", 1, [](const Words& a, std::size_t i, std::uint32_t n) { return a[n - 1 - i]; }},
      {"index_function_4", 4, [](const Words& a, std::size_t i, std::uint32_t) { return a[4 * i]; }},
      {"index_function_5", 16, [](const Words& a, std::size_t i, std::uint32_t) { return a[16 * i]; }},
      {"index_function_6", 32, [](const Words& a, std::size_t i, std::uint32_t) { return a[32 * i]; }},
      {"narrow_32", 1, [](const Words& a, std::size_t i, std::uint32_t) { return a[i]; }},
      {"private_array", 1, [](const Words& a, std::size_t i, std::uint32_t) { return digits(a[i]); }},
      {"private_scalars", 1, [](const Words& a, std::size_t i, std::uint32_t) { return digits(a[i]); }},
      {"unrolled_loop", 1, [](const Words& a, std::size_t i, std::uint32_t) { return horner(a[i]); }},
      {"unrolled", 1, [](const Words& a, std::size_t i, std::uint32_t) { return horner(a[i]); }},
      {"unrolled_4", 1, [](const Words& a, std::size_t i, std::uint32_t) { return horner(a[i]); }},
      {"unrolled_macro", 1, [](const Words& a, std::size_t i, std::uint32_t) { return horner(a[i]); }},
      {"loop_reload", 1, [](const Words& a, std::size_t i, std::uint32_t) { return horner(a[i]); }},
      {"loop_hoisted", 1, [](const Words& a, std::size_t i, std::uint32_t) { return horner(a[i]); }}};
  for (const Product& product : products())
    for (const std::uint32_t n : {1U, 100U, 256U, 1000U}) {
      for (const Simple& each : simple) {
        const Words in = random_words(std::size_t{n} * each.sources);
        Words expected(n);
        for (std::size_t i = 0; i < n; ++i) expected[i] = each.of(in, i, n);
        std::vector<Argument> arguments{buffer(in), buffer(Words(n)), value(n)};
        run(product, "access", each.name, line(n, 64), arguments);
        agree(product, each.name, values_of<std::uint32_t>(arguments[1]), expected);
      }
      const std::uint32_t entries = 16;
      const Words in = random_words(n), table = random_words(256);
      Words sums(n), looked_up(n);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::uint32_t e = 0; e < entries; ++e) sums[i] += table[e] * (in[i] + e);
        looked_up[i] = i % 2 == 0 ? 3 * table[in[i] & 255] + 1 : 5 * table[in[i] >> 8 & 255] + 2;
      }
      for (const std::string kernel : {"same_element_global", "same_element_constant", "same_element_slm"}) {
        std::vector<Argument> arguments{buffer(in), buffer(table), buffer(Words(n)), value(n),
                                        value(entries)};
        if (kernel.ends_with("slm")) arguments.push_back(local(entries * 4));
        run(product, "access", kernel, line(n, 32), arguments);
        agree(product, kernel, values_of<std::uint32_t>(arguments[2]), sums);
      }
      for (const std::string kernel : {"branch_divergent", "branch_free", "same_element_private"}) {
        std::vector<Argument> arguments{buffer(in), buffer(table), buffer(Words(n)), value(n)};
        run(product, "access", kernel, kernel == "same_element_private" ? line(n / 3 + 1, 32) : line(n, 48),
            arguments);
        agree(product, kernel, values_of<std::uint32_t>(arguments[2]),
              kernel.starts_with("branch") ? looked_up : sums);
      }
      const Words wide = random_words(n / 4 + 2);
      std::vector<Argument> bytes{buffer(wide), buffer(Words(wide.size())), value(n)};
      const auto copied = [&](std::size_t size, std::size_t shift) {
        Bytes expected(wide.size() * 4);
        std::memcpy(expected.data() + shift, reinterpret_cast<const std::byte*>(wide.data()) + shift, size);
        return expected;
      };
      run(product, "access", "narrow_8", line(n, 64), bytes);
      agree(product, "narrow_8", values_of<std::byte>(bytes[1]), copied(n, 0));
      const std::uint32_t half = n / 2, quarter = n / 4, shift = 3;
      bytes[1] = buffer(Words(wide.size()));
      bytes[2] = value(half);
      run(product, "access", "narrow_16", line(n, 64), bytes);
      agree(product, "narrow_16", values_of<std::byte>(bytes[1]), copied(2 * half, 0));
      bytes[1] = buffer(Words(wide.size()));
      bytes[2] = value(quarter);
      bytes.push_back(value(shift));
      run(product, "access", "narrow_unaligned", line(n, 64), bytes);
      agree(product, "narrow_unaligned", values_of<std::byte>(bytes[1]), copied(4 * quarter, shift));
    }
  for (const Product& product : products())
    for (const std::array<std::uint32_t, 2> shape : {std::array{16U, 1U}, {4U, 4U}, {1U, 16U}, {8U, 3U}}) {
      const std::uint32_t width = 20, height = 13;
      const Words in = random_words(width * height);
      Words expected(in.size());
      for (std::size_t i = 0; i < in.size(); ++i) expected[i] = 3 * in[i] + 1;
      std::vector<Argument> arguments{buffer(in), buffer(Words(in.size())), value(width), value(height)};
      const auto up = [](std::uint32_t n, std::uint32_t group) { return (n + group - 1) / group * group; };
      run(product, "access", "work_group_shape",
          {.global = {up(width, shape[0]), up(height, shape[1]), 1}, .local = {shape[0], shape[1], 1}},
          arguments);
      agree(product, "work_group_shape", values_of<std::uint32_t>(arguments[1]), expected);
    }
}

TEST_CASE("native code: saxpy and coalescing") {
  for (const Product& product : products())
    for (const std::uint32_t n : {1U, 7U, 64U, 1001U}) {
      const Floats x = small_floats(n), y = small_floats(n + 1);
      Floats expected(n), scaled(n);
      for (std::size_t i = 0; i < n; ++i) {
        expected[i] = 3.0F * x[i] + y[i];
        scaled[i] = 2.0F * x[i] + static_cast<float>(i % 4);
      }
      std::vector<Argument> arguments{value(3.0F), buffer(x), buffer(Floats(y.begin(), y.end() - 1)),
                                      value(n)};
      run(product, "saxpy", "saxpy", line(n, 32), arguments);
      agree(product, "saxpy", values_of<float>(arguments[2]), expected);
      for (const std::string kernel : {"contiguous", "indirect", "vector", "vector_pointer"}) {
        std::vector<Argument> each{buffer(x), buffer(Floats(n)), value(n)};
        if (kernel == "indirect") each.push_back(buffer(Words{2, 0, 3, 1}));
        run(product, "coalescing", kernel, line((n + 3) / 4, 32), each);
        agree(product, kernel, values_of<float>(each[1]), scaled);
      }
    }
}

TEST_CASE("native code: matmul") {
  for (const Product& product : products())
    for (const auto& [m, k, n, edge, group] :
         {std::array{33U, 17U, 40U, 8U, 8U}, {64U, 64U, 64U, 16U, 16U}, {20U, 50U, 30U, 12U, 4U}}) {
      const Floats a = small_floats(m * k), b = small_floats(k * n);
      Floats expected(m * n);
      for (std::uint32_t row = 0; row < m; ++row)
        for (std::uint32_t column = 0; column < n; ++column)
          for (std::uint32_t i = 0; i < k; ++i)
            expected[row * n + column] += a[row * k + i] * b[i * n + column];
      std::vector<Argument> arguments{buffer(a),
                                      buffer(b),
                                      buffer(Floats(m * n)),
                                      value(m),
                                      value(k),
                                      value(n),
                                      value(edge),
                                      local(edge * edge * 4),
                                      local(edge * edge * 4)};
      run(product, "matmul", "tiled",
          {.global = {(n + edge - 1) / edge * group, (m + edge - 1) / edge * group, 1},
           .local = {group, group, 1}},
          arguments);
      agree(product, "tiled", values_of<float>(arguments[2]), expected);
    }
}

TEST_CASE("native code: histogram") {
  for (const Product& product : products())
    for (const std::uint32_t n : {3U, 1000U}) {
      const Words raw = random_words(2 * std::size_t{n});
      std::vector<std::uint64_t> in(n);
      Words bins_256(256), bins_1024(1024);
      for (std::size_t i = 0; i < n; ++i) {
        in[i] = std::uint64_t{raw[2 * i]} << 32 | raw[2 * i + 1];
        for (std::uint32_t shift = 0; shift < 64; shift += 8) ++bins_256[in[i] >> shift & 255];
        for (std::uint32_t shift = 0; shift < 64; shift += 16) ++bins_1024[in[i] >> shift & 1023];
      }
      const std::uint32_t block = 300;
      for (const std::string kernel : {"slm_256", "slm_1024", "slm_1024_one_clears"}) {
        const Words& expected = kernel == "slm_256" ? bins_256 : bins_1024;
        std::vector<Argument> arguments{buffer(in), buffer(Words(expected.size())), value(n), value(block)};
        run(product, "histogram", kernel, line((n + block - 1) / block * 64, 64), arguments);
        agree(product, kernel, values_of<std::uint32_t>(arguments[1]), expected);
      }
      for (const std::string kernel : {"registers_256", "registers_1024"}) {
        const Words& expected = kernel == "registers_256" ? bins_256 : bins_1024;
        std::vector<Argument> arguments{buffer(in), buffer(Words(expected.size())), value(n)};
        run(product, "histogram", kernel, line((n + 255) / 256, 64), arguments);
        agree(product, kernel, values_of<std::uint32_t>(arguments[1]), expected);
      }
    }
}

TEST_CASE("native code: shared local memory") {
  for (const Product& product : products()) {
    const std::uint32_t n = 500, entries = 256;
    const Words table = random_words(entries), index = random_words(n, entries), in = random_words(n);
    Words looked_up(n);
    for (std::size_t i = 0; i < n; ++i) looked_up[i] = table[index[i]];
    std::vector<Argument> lookup{buffer(table), buffer(index), buffer(Words(n)), value(n)};
    for (const std::string kernel : {"lookup", "every_item", "strided", "one_each"}) {
      lookup[2] = buffer(Words(n));
      const Launch launch =
          kernel == "one_each" ? Launch{.global = {32, 16, 1}, .local = {16, 16, 1}} : line(n, 64);
      run(product, kernel == "lookup" ? "slm_lookup" : "slm_table", kernel, launch, lookup);
      agree(product, kernel, values_of<std::uint32_t>(lookup[2]), looked_up);
    }
    lookup.push_back(value(entries));
    lookup.push_back({});
    for (const std::string kernel : {"one_each_smaller", "one_each_bigger", "one_each_any"}) {
      lookup[2] = buffer(Words(n));
      const std::uint32_t group = kernel == "one_each_smaller" ? 256 : 128;
      lookup[5] = local(kernel == "one_each_bigger" ? 16 * group : 1024);
      run(product, "slm_table", kernel, line(n, group), lookup);
      agree(product, kernel, values_of<std::uint32_t>(lookup[2]), looked_up);
    }
    const std::uint32_t words = 5, group = 40;
    Words sums(n), strided(3 * std::size_t{n}), broadcast(n);
    const std::uint32_t rounds = 4, stride = 3;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t first = i / group * group, next = first + (i - first + 1) % group;
      const auto at = [&](std::uint32_t j) { return j < n ? in[j] : 0; };
      for (std::uint32_t w = 0; w < words; ++w) sums[i] += at(next) + w;
      strided[std::size_t{i} * stride] = at(next) + rounds;
      for (std::uint32_t w = 0; w < group; ++w) broadcast[i] += at(first + w) * (i - first + w);
    }
    std::vector<Argument> limit{buffer(in), buffer(Words(n)), value(n), value(words),
                                local(group * words * 4)};
    run(product, "slm_limit", "dynamic_tile", line(n, group), limit);
    agree(product, "dynamic_tile", values_of<std::uint32_t>(limit[1]), sums);
    std::vector<Argument> banks{buffer(in),    buffer(Words(strided.size())), value(n), value(stride),
                                value(rounds), local(group * stride * 4)};
    run(product, "bank_conflict", "stride", line(n, group), banks);
    agree(product, "stride", values_of<std::uint32_t>(banks[1]), strided);
    std::vector<Argument> one{buffer(in), buffer(Words(n)), value(n), local(group * 4)};
    run(product, "bank_conflict", "broadcast", line(n, group), one);
    agree(product, "broadcast", values_of<std::uint32_t>(one[1]), broadcast);
    const std::uint32_t edge = 37;
    const Words square = random_words(edge * edge);
    Words turned(square.size());
    for (std::uint32_t y = 0; y < edge; ++y)
      for (std::uint32_t x = 0; x < edge; ++x) turned[x * edge + y] = square[y * edge + x];
    for (const std::string kernel : {"direct", "through_slm"}) {
      std::vector<Argument> arguments{buffer(square), buffer(Words(square.size())), value(edge)};
      run(product, "slm_scatter", kernel, {.global = {48, 48, 1}, .local = {16, 16, 1}}, arguments);
      agree(product, kernel, values_of<std::uint32_t>(arguments[1]), turned);
    }
  }
}

TEST_CASE("native code: convolution and share") {
  for (const Product& product : products()) {
    const std::uint32_t n = 300;
    const Floats in = small_floats(n);
    for (const std::uint32_t m : {1U, 4U, 9U}) {
      const Floats taps = small_floats(m);
      Floats expected(n);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < m; ++j)
          if (const std::int64_t at = i + j - m / 2; at >= 0 && at < n)
            expected[static_cast<std::size_t>(i)] +=
                taps[static_cast<std::size_t>(j)] * in[static_cast<std::size_t>(at)];
      std::vector<Argument> arguments{buffer(in), buffer(taps), buffer(Floats(n)), value(n), value(m)};
      run(product, "convolution", "global_1d", line(n, 64), arguments);
      agree(product, "global_1d", values_of<float>(arguments[2]), expected);
      arguments[2] = buffer(Floats(n));
      arguments.push_back(local((64 + 2 * (m / 2)) * 4));
      run(product, "convolution", "slm_1d", line(n, 64), arguments);
      agree(product, "slm_1d", values_of<float>(arguments[2]), expected);
    }
    const Words words = random_words(n);
    for (const std::uint32_t rounds : {0U, 1U, 5U}) {
      Words ring(320);
      std::ranges::copy(words, ring.begin());
      for (std::uint32_t round = 0; round < rounds; ++round) {
        const Words before = ring;
        for (std::uint32_t i = 0; i < ring.size(); ++i)
          ring[i] = 3 * before[i] + before[i / 16 * 16 + (i + 1) % 16];
      }
      ring.resize(n);
      for (const std::string kernel : {"sub_group", "slm", "global_memory"}) {
        std::vector<Argument> arguments{buffer(words), buffer(Words(n)), value(n), value(rounds)};
        if (kernel == "slm") arguments.push_back(local(64 * 4));
        if (kernel == "global_memory") arguments.push_back(buffer(Words(320)));
        run(product, "share", kernel, line(n, 64), arguments);
        agree(product, kernel, values_of<std::uint32_t>(arguments[1]), ring);
      }
    }
  }
}
