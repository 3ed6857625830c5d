// SPDX-License-Identifier: MIT
// slm_scatter: a transposition that scatters its writes over global memory, or over SLM.
#include <set>

#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint32_t kTileEdge = 16;

template <bool kThroughSlm>
Result<Prepared> prepare_transposition(const OpenDevice& device, const Choices& choices) {
  if (choices.slm || choices.group)
    return tl::unexpected(
        bad_choice("this kernel's groups are 16 x 16, and so is its tile", "leave --slm and --group out"));
  const auto edge = whole("--size", choices.size.value_or(512), 0, 1 << 14);
  if (!edge) return tl::unexpected(edge.error());
  const std::uint64_t n = *edge;
  auto shared = share<std::uint32_t, 2>(device, {n * n, n * n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const auto in = (*buffers)[0].span<std::uint32_t>().first(n * n);
  const auto out = (*buffers)[1].span<std::uint32_t>().first(n * n);
  std::mt19937 random(choices.seed);
  fill_random(in, random);
  // Where the first 16 work-items write: down a column, or along a row.
  std::set<std::uint64_t> lines;
  const std::uint64_t apart = kThroughSlm ? 1 : n;
  for (std::uint64_t item = 0; item < std::min<std::uint64_t>(kTileEdge, n); ++item)
    lines.insert(item * apart * sizeof(std::uint32_t) / 64);

  Prepared prepared;
  const std::uint32_t groups = Grid(n, 1, kTileEdge).groups;
  prepared.shape = {{groups, groups}, {kTileEdge, kTileEdge}};
  prepared.elements = n * n;
  prepared.bytes = 2.0 * static_cast<double>(out.size_bytes());
  prepared.predicted = {{"cache lines for 16 writes", lines.size(), Counter::written_lines, 1}};
  if (kThroughSlm)  // rows of 17 words: 16 rows are in 16 banks
    prepared.predicted.push_back(
        {"turns for one SLM access of 16 work-items", std::uint64_t{n > 0}, Counter::slm_turns});
  prepared.launch = [=, edge = *edge, shape = prepared.shape](CommandListRef list,
                                                              const CheckedKernel& kernel, Sync sync) {
    return kiln::launch(list, kernel, {shape.groups, shape.group_size, sync}, (*buffers)[0], (*buffers)[1],
                        edge);
  };
  expect_each(prepared, out, [=](std::size_t i) { return in[i % n * n + i / n]; });
  return prepared;
}

}  // namespace

std::span<const Sample> slm_scatter() {
  static constexpr std::array kSamples{
      Sample{"slm_scatter.direct", "slm_scatter", "direct",
             "a square of edge --size transposed: 16 cache lines for 16 writes",
             prepare_transposition<false>},
      Sample{"slm_scatter.through_slm", "slm_scatter", "through_slm",
             "the same through a tile in SLM: 1 line for 16 writes", prepare_transposition<true>}};
  return kSamples;
}

}  // namespace kiln::samples
