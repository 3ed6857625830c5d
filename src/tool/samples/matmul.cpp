// SPDX-License-Identifier: MIT
// matmul: the tile's edge comes from the SLM that the user allows a work-group.
#include <algorithm>
#include <array>
#include <cmath>

#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

// The guide's failing case; no edge divides any other.
constexpr std::uint32_t kRows = 150, kInner = 300, kColumns = 600;
constexpr std::uint64_t kDefaultSlm = 2 * 16 * 16 * sizeof(float);

/// Row by row in double, unlike the kernel's tiles.
std::vector<float> multiply(std::span<const float> a, std::span<const float> b, std::size_t m, std::size_t k,
                            std::size_t n) {
  std::vector<double> sums(m * n);
  for (std::size_t row = 0; row < m; ++row)
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t column = 0; column < n; ++column)
        sums[row * n + column] += static_cast<double>(a[row * k + i]) * b[i * n + column];
  return {sums.begin(), sums.end()};
}

Result<Prepared> prepare_matmul(const OpenDevice& device, const Choices& choices) {
  const std::uint64_t slm = choices.slm.value_or(kDefaultSlm);
  const auto edge = whole("the tile edge from --slm",
                          static_cast<std::uint64_t>(std::sqrt(slm / (2.0 * sizeof(float)))), 1, 1 << 15);
  if (!edge)
    return tl::unexpected(
        bad_choice("--slm " + std::to_string(slm) + " makes no tile", "give 8 bytes or more"));
  std::uint32_t m = kRows, k = kInner, n = kColumns;
  if (choices.size) {
    const auto size = whole("--size", *choices.size, 0, 16384);
    if (!size) return tl::unexpected(size.error());
    m = k = n = *size;
  }
  Extent group{std::min(*edge, 16u), std::min(*edge, 16u)};
  if (choices.group) {
    if (*choices.group < 1 || *choices.group > kLargestGroup)
      return tl::unexpected(
          bad_choice("--group is out of range", "choose 1 to " + std::to_string(kLargestGroup)));
    group = {static_cast<std::uint32_t>(*choices.group)};
  }
  auto shared = share<float, 3>(device, {std::uint64_t{m} * k, std::uint64_t{k} * n, std::uint64_t{m} * n});
  if (!shared) return tl::unexpected(std::move(shared).error());

  const auto buffers = *shared;
  const auto a = (*buffers)[0].span<float>(), b = (*buffers)[1].span<float>();
  const auto c = (*buffers)[2].span<float>().first(std::size_t{m} * n);
  std::mt19937 random(choices.seed);
  fill_small(a, random);
  fill_small(b, random);
  const LocalMemory tile{std::uint64_t{*edge} * *edge * sizeof(float)};

  Prepared prepared;
  prepared.shape = {{Grid(n, 1, *edge).groups, Grid(m, 1, *edge).groups}, group};
  prepared.slm = 2 * tile.bytes;
  prepared.elements = std::uint64_t{m} * n;
  prepared.bytes = sizeof(float) * (double(m) * k + double(k) * n + double(m) * n);
  prepared.operations = 2.0 * m * k * n;
  prepared.answer = std::as_bytes(c);
  prepared.reset = [=] { std::ranges::fill(c, -1.0f); };
  prepared.launch = [=, edge = *edge, shape = prepared.shape](CommandListRef list,
                                                              const CheckedKernel& kernel, Sync sync) {
    return kiln::launch(list, kernel, {shape.groups, shape.group_size, sync}, (*buffers)[0], (*buffers)[1],
                        (*buffers)[2], m, k, n, edge, tile, tile);
  };
  prepared.verify = [=] { return first_difference<float>(c, multiply(a, b, m, k, n)); };
  return prepared;
}

}  // namespace

std::span<const Sample> matmul() {
  static constexpr std::array kSamples{Sample{
      "matmul", "matmul", "tiled", "c = a * b with tiles in SLM; --slm sets the tile", prepare_matmul}};
  return kSamples;
}

}  // namespace kiln::samples
