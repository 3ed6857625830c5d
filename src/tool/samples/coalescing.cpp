// SPDX-License-Identifier: MIT
// coalescing: four neighbouring floats a work-item.
#include <numeric>

#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint64_t kEach = 4;  // floats a work-item

template <bool kThroughOffsets>
Result<Prepared> prepare(const OpenDevice& device, const Choices& choices) {
  const auto chosen = choose_grid_without_slm(choices, 1 << 20, 256);
  if (!chosen) return tl::unexpected(chosen.error());
  const Grid grid(chosen->n, chosen->group, kEach * chosen->group);
  auto shared = share<float, 2>(device, {grid.n, grid.n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  auto shared_offsets = share<std::uint32_t, 1>(device, {kEach});
  if (!shared_offsets) return tl::unexpected(std::move(shared_offsets).error());
  const auto buffers = *shared;
  const auto offsets_buffer = *shared_offsets;
  const auto in = (*buffers)[0].span<float>().first(grid.n), out = (*buffers)[1].span<float>().first(grid.n);
  const auto offsets = offsets_buffer->front().span<std::uint32_t>().first(kEach);
  std::mt19937 random(choices.seed);
  fill_small(in, random);
  std::iota(offsets.begin(), offsets.end(), 0u);
  std::ranges::shuffle(offsets, random);

  Prepared prepared = prepared_on(grid);
  prepared.bytes = static_cast<double>(in.size_bytes() + out.size_bytes());
  prepared.launch = [=, n = grid.n, shape = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                            Sync sync) {
    const Launch what{shape.groups, shape.group_size, sync};
    if (!kThroughOffsets) return kiln::launch(list, kernel, what, (*buffers)[0], (*buffers)[1], n);
    return kiln::launch(list, kernel, what, (*buffers)[0], (*buffers)[1], n, offsets_buffer->front());
  };
  expect_each(prepared, out, [=](std::size_t i) { return in[i] + in[i] + static_cast<float>(i % kEach); });
  return prepared;
}

}  // namespace

std::span<const Sample> coalescing() {
  static constexpr std::array kSamples{
      Sample{"coalescing.contiguous", "coalescing", "contiguous", "four neighbours each: one wide access",
             prepare<false>},
      Sample{"coalescing.indirect", "coalescing", "indirect",
             "the same through an array of offsets: four accesses", prepare<true>},
      Sample{"coalescing.vector", "coalescing", "vector", "the same with vload4: one by construction",
             prepare<false>},
      Sample{"coalescing.vector_pointer", "coalescing", "vector_pointer", "the same through a float4 pointer",
             prepare<false>}};
  return kSamples;
}

}  // namespace kiln::samples
