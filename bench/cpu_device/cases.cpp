// SPDX-License-Identifier: MIT
// The cases of the CPU device's benchmark: sizes, launches and data.
#include <cstring>
#include <random>

#include "case.hpp"
#include "plain.hpp"

namespace kiln::bench {
namespace {

using enum Argument::Kind;

constexpr std::uint32_t kGroup = 256, kTaps = 17, kEdge = 16, kBlock = 4096;

template <class T>
T* as(Bytes& bytes) {
  return reinterpret_cast<T*>(bytes.data());
}

// Small whole numbers, whose sums are exact in float: all must come to the same answer.
Bytes floats(std::size_t n) {
  Bytes bytes(n * sizeof(float));
  std::minstd_rand random(static_cast<unsigned>(n));
  for (std::size_t i = 0; i < n; ++i) as<float>(bytes)[i] = static_cast<float>(random() % 9) - 4;
  return bytes;
}

Bytes numbers(std::size_t n) {
  Bytes bytes(n * 8);
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < n; ++i) as<std::uint64_t>(bytes)[i] = random();
  return bytes;
}

std::uint64_t bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

Case saxpy_case(std::uint32_t n) {
  return {"saxpy",
          "saxpy",
          "saxpy",
          {n / kGroup, 1},
          {kGroup, 1},
          {{value, bits(2)}, {buffer, 0}, {buffer, 1}, {value, n}},
          {floats(n), floats(n)},
          1,
          [n](std::vector<Bytes>& b) { saxpy(2, as<float>(b[0]), as<float>(b[1]), n); }};
}

Case matmul_case(std::uint32_t n) {
  const std::uint64_t tile = kEdge * kEdge * sizeof(float), area = std::uint64_t{n} * n;
  return {"matmul.tiled",
          "matmul",
          "tiled",
          {n / kEdge, n / kEdge},
          {kEdge, kEdge},
          {{buffer, 0},
           {buffer, 1},
           {buffer, 2},
           {value, n},
           {value, n},
           {value, n},
           {value, kEdge},
           {local, tile},
           {local, tile}},
          {floats(area), floats(area), Bytes(area * sizeof(float))},
          2,
          [n](std::vector<Bytes>& b) { matmul(as<float>(b[0]), as<float>(b[1]), as<float>(b[2]), n); }};
}

Case convolution_case(std::uint32_t n, bool slm) {
  Case out{
      slm ? "convolution.slm_1d" : "convolution.global_1d",
      "convolution",
      slm ? "slm_1d" : "global_1d",
      {n / kGroup, 1},
      {kGroup, 1},
      {{buffer, 0}, {buffer, 1}, {buffer, 2}, {value, n}, {value, kTaps}},
      {floats(n), floats(kTaps), Bytes(n * sizeof(float))},
      2,
      [n](std::vector<Bytes>& b) { convolve(as<float>(b[0]), as<float>(b[1]), as<float>(b[2]), n, kTaps); }};
  if (slm) out.arguments.push_back({local, (kGroup + kTaps / 2 * 2) * sizeof(float)});
  return out;
}

Case histogram_case(std::uint32_t n, std::uint32_t bins) {
  return {"histogram.slm_" + std::to_string(bins),
          "histogram",
          "slm_" + std::to_string(bins),
          {n / kBlock, 1},
          {kGroup, 1},
          {{buffer, 0}, {buffer, 1}, {value, n}, {value, kBlock}},
          {numbers(n), Bytes(bins * sizeof(std::uint32_t))},
          1,
          [=](std::vector<Bytes>& b) {
            (bins == 256 ? count_bytes : count_fields)(as<std::uint64_t>(b[0]), as<std::uint32_t>(b[1]), n);
          }};
}

Case registers_case(std::uint32_t n) {
  constexpr std::uint32_t kItems = 64, kValues = 256;
  return {"histogram.registers_256",
          "histogram",
          "registers_256",
          {n / (kItems * kValues), 1},
          {kItems, 1},
          {{buffer, 0}, {buffer, 1}, {value, n}},
          {numbers(n), Bytes(256 * sizeof(std::uint32_t))},
          1,
          [=](std::vector<Bytes>& b) { count_bytes(as<std::uint64_t>(b[0]), as<std::uint32_t>(b[1]), n); }};
}

Case scan_case(std::uint32_t n) {
  return {"scan",
          "scan",
          "scan",
          {n / kGroup, 1},
          {kGroup, 1},
          {{buffer, 0}, {buffer, 1}, {local, kGroup * sizeof(std::uint32_t)}},
          {numbers(n / 2), Bytes(n * sizeof(std::uint32_t))},
          1,
          [=](std::vector<Bytes>& b) { scan(as<std::uint32_t>(b[0]), as<std::uint32_t>(b[1]), n, kGroup); },
          true};
}

// Transposition and stencil: one image in, one out.
Case image_case(const char* kernel, std::uint32_t n, void (*plain)(const float*, float*, std::size_t)) {
  const std::size_t area = std::size_t{n} * n;
  return {std::string("more.") + kernel,
          "more",
          kernel,
          {n / kEdge, n / kEdge},
          {kEdge, kEdge},
          {{buffer, 0}, {buffer, 1}, {value, n}},
          {floats(area), Bytes(area * sizeof(float))},
          1,
          [=](std::vector<Bytes>& b) { plain(as<float>(b[0]), as<float>(b[1]), n); },
          true};
}

// Rows of up to 31 elements in columns anywhere.
Case sparse_case(std::uint32_t rows) {
  std::minstd_rand random(rows);
  std::vector<std::uint32_t> starts(rows + 1), columns;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (auto left = random() % 32; left > 0; --left)
      columns.push_back(static_cast<std::uint32_t>(random() % rows));
    starts[row + 1] = static_cast<std::uint32_t>(columns.size());
  }
  const auto bytes = [](const std::vector<std::uint32_t>& words) {
    const auto* first = reinterpret_cast<const std::byte*>(words.data());
    return Bytes(first, first + words.size() * sizeof(std::uint32_t));
  };
  return {"more.sparse",
          "more",
          "sparse",
          {rows / kGroup, 1},
          {kGroup, 1},
          {{buffer, 0}, {buffer, 1}, {buffer, 2}, {buffer, 3}, {buffer, 4}},
          {bytes(starts), bytes(columns), floats(columns.size()), floats(rows), Bytes(rows * sizeof(float))},
          4,
          [=](std::vector<Bytes>& b) {
            sparse(as<std::uint32_t>(b[0]), as<std::uint32_t>(b[1]), as<float>(b[2]), as<float>(b[3]),
                   as<float>(b[4]), rows);
          },
          true};
}

Case sort_case(std::uint32_t n) {
  return {"more.bitonic",
          "more",
          "bitonic",
          {n / kGroup, 1},
          {kGroup, 1},
          {{buffer, 0}, {buffer, 1}, {local, kGroup * sizeof(std::uint32_t)}},
          {numbers(n / 2), Bytes(n * sizeof(std::uint32_t))},
          1,
          [=](std::vector<Bytes>& b) { sort(as<std::uint32_t>(b[0]), as<std::uint32_t>(b[1]), n, kGroup); },
          true};
}

// Sums of roots, in whatever order and with whatever multiplications fused.
Case bodies_case(std::uint32_t n) {
  return {"more.bodies",
          "more",
          "bodies",
          {n / kGroup, 1},
          {kGroup, 1},
          {{buffer, 0}, {buffer, 1}, {value, n}, {local, kGroup * 4 * sizeof(float)}},
          {floats(std::size_t{4} * n), Bytes(std::size_t{4} * n * sizeof(float))},
          1,
          [=](std::vector<Bytes>& b) { bodies(as<float>(b[0]), as<float>(b[1]), n); },
          true,
          1e-3f};
}

Case sum_case(std::uint32_t n) {
  constexpr std::uint32_t kEach = 16;
  return {"sub_groups.sum",
          "sub_groups",
          "sum",
          {n / (kGroup * kEach), 1},
          {kGroup, 1},
          {{buffer, 0}, {buffer, 1}, {value, kEach}},
          {numbers(n / 2), Bytes(n / (kGroup * kEach) * sizeof(std::uint32_t))},
          1,
          [=](std::vector<Bytes>& b) {
            sums(as<std::uint32_t>(b[0]), as<std::uint32_t>(b[1]), n, kGroup * kEach);
          },
          true};
}

}  // namespace

std::vector<std::string> case_names() {
  return {"saxpy",
          "convolution.global_1d",
          "convolution.slm_1d",
          "matmul.tiled",
          "histogram.slm_256",
          "histogram.slm_1024",
          "histogram.registers_256",
          "scan",
          "more.transpose",
          "more.stencil",
          "more.sparse",
          "more.bitonic",
          "more.bodies",
          "sub_groups.sum"};
}

std::optional<Case> make_case(const std::string& name, bool small) {
  const std::uint32_t n = small ? 1 << 14 : 1 << 20;
  if (name == "saxpy") return saxpy_case(small ? n : 4 * n);
  if (name == "convolution.global_1d") return convolution_case(n, false);
  if (name == "convolution.slm_1d") return convolution_case(n, true);
  if (name == "matmul.tiled") return matmul_case(small ? 64 : 256);
  if (name == "histogram.slm_256") return histogram_case(n / 2, 256);
  if (name == "histogram.slm_1024") return histogram_case(n / 2, 1024);
  if (name == "histogram.registers_256") return registers_case(small ? n : n / 8);
  if (name == "scan") return scan_case(n);
  if (name == "more.transpose") return image_case("transpose", small ? 128 : 1024, transpose);
  if (name == "more.stencil") return image_case("stencil", small ? 128 : 1024, stencil);
  if (name == "more.sparse") return sparse_case(n / 8);
  if (name == "more.bitonic") return sort_case(n / 4);
  if (name == "more.bodies") return bodies_case(small ? 256 : 2048);
  if (name == "sub_groups.sum") return sum_case(n);
  return std::nullopt;
}

}  // namespace kiln::bench
