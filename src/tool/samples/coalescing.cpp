// SPDX-License-Identifier: MIT
// coalescing: four neighbouring floats a work-item, in global memory or SLM.
#include <numeric>

#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint64_t kEach = 4;  // floats a work-item

/// SLM accesses of its own four floats by a work-item, once read and once written.
constexpr std::uint64_t kOneWide = 1, kFour = 4;

/// `kOwn`: how many accesses of SLM they are; 0: they lie in global memory.
template <bool kThroughOffsets, std::uint64_t kOwn = 0>
Result<Prepared> prepare_four(const OpenDevice& device, const Choices& choices) {
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
  const LocalMemory slm{kOwn ? grid.group * kEach * sizeof(float) : 0};
  prepared.slm = slm.bytes;
  // All work-items copy four in and out besides, but out not what is past the end.
  const std::uint64_t joined = (kThroughOffsets ? 1 : kEach) * sizeof(float);
  const std::uint64_t left_over = grid.n ? sizeof(float) : 0;  // read one by one
  prepared.predicted = {
      {"bytes that a work-item reads at once", grid.n < kEach ? left_over : joined, Counter::read_width, 0}};
  if (kOwn) {
    const std::uint64_t items = std::uint64_t{grid.groups} * grid.group;
    prepared.predicted = {{"bytes that a work-item reads at once", joined, Counter::slm_read_width},
                          {"reads of SLM", items * kOwn + grid.n, Counter::slm_reads},
                          {"writes of SLM", items * (kEach + kOwn), Counter::slm_writes}};
  }
  prepared.launch = [=, n = grid.n, shape = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                            Sync sync) {
    const Launch what{shape.groups, shape.group_size, sync};
    if (kOwn && !kThroughOffsets)
      return kiln::launch(list, kernel, what, (*buffers)[0], (*buffers)[1], n, slm);
    if (kOwn)
      return kiln::launch(list, kernel, what, (*buffers)[0], (*buffers)[1], n, slm, offsets_buffer->front());
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
             prepare_four<false>},
      Sample{"coalescing.indirect", "coalescing", "indirect",
             "the same through an array of offsets: four accesses", prepare_four<true>},
      Sample{"coalescing.vector", "coalescing", "vector", "the same with vload4: one by construction",
             prepare_four<false>},
      Sample{"coalescing.vector_pointer", "coalescing", "vector_pointer", "the same through a float4 pointer",
             prepare_four<false>},
      Sample{"coalescing.slm_contiguous", "coalescing", "slm_contiguous",
             "four neighbours each in SLM: one wide access can be made of them", prepare_four<false, kFour>},
      Sample{"coalescing.slm_indirect", "coalescing", "slm_indirect",
             "the same through an array of offsets: four accesses", prepare_four<true, kFour>},
      Sample{"coalescing.slm_vector", "coalescing", "slm_vector", "the same with vload4: one by construction",
             prepare_four<false, kOneWide>}};
  return kSamples;
}

}  // namespace kiln::samples
