// SPDX-License-Identifier: MIT
// share: neighbours give each other values through registers, SLM or global memory.
#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint64_t kRing = 16;          // work-items that pass values round
constexpr std::uint32_t kSharedRounds = 10;  // times that they do

enum class Through : std::uint8_t { sub_group, slm, global };

/// All work-items of a ring in step, with the values in one vector: 3^r * value + ... by Pascal's triangle
/// instead of rounds. After r rounds item j has the sum over k of binomial(r, k) * 3^(r - k) * value[j + k].
std::uint32_t passed_on(std::span<const std::uint32_t> values, std::size_t i) {
  const std::size_t ring = i / kRing * kRing;
  std::uint32_t sum = 0, binomial = 1;
  for (std::uint32_t k = 0; k <= kSharedRounds; ++k) {
    std::uint32_t factor = binomial;
    for (std::uint32_t power = k; power < kSharedRounds; ++power) factor *= 3;
    const std::size_t from = ring + (i - ring + k) % kRing;
    sum += factor * (from < values.size() ? values[from] : 0);
    binomial = binomial * (kSharedRounds - k) / (k + 1);
  }
  return sum;
}

template <Through kThrough>
Result<Prepared> prepare_share(const OpenDevice& device, const Choices& choices) {
  const auto grid = choose_grid_without_slm(choices, 100'000, 256);
  if (!grid) return tl::unexpected(grid.error());
  if (grid->group % kRing != 0)
    return tl::unexpected(bad_choice("this kernel's groups are whole rings of 16 work-items",
                                     "choose a multiple of 16 for --group"));
  const std::uint64_t items = std::uint64_t{grid->groups} * grid->group;
  auto shared = share<std::uint32_t, 3>(device, {grid->n, grid->n, items});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const auto in = (*buffers)[0].span<std::uint32_t>().first(grid->n);
  const auto out = (*buffers)[1].span<std::uint32_t>().first(grid->n);
  std::mt19937 random(choices.seed);
  fill_random(in, random);

  Prepared prepared = prepared_on(*grid);
  const LocalMemory slm{grid->group * sizeof(std::uint32_t)};
  if (kThrough == Through::slm) prepared.slm = slm.bytes;
  prepared.bytes = static_cast<double>(in.size_bytes() + out.size_bytes());
  // Surplus work-items take part.
  const std::uint64_t passed = items * kSharedRounds;
  const std::uint64_t by_slm = kThrough == Through::slm ? passed : 0;
  const std::uint64_t by_global = kThrough == Through::global ? passed : 0;
  prepared.predicted = {{"reads of global memory", grid->n + by_global, Counter::global_reads},
                        {"writes of global memory", grid->n + by_global, Counter::global_writes},
                        {"reads of SLM", by_slm, Counter::slm_reads},
                        {"writes of SLM", by_slm, Counter::slm_writes}};
  prepared.launch = [=, n = grid->n, shape = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                             Sync sync) {
    const Launch what{shape.groups, shape.group_size, sync};
    const auto& [in_buffer, out_buffer, passing] = *buffers;
    switch (kThrough) {
      case Through::slm:
        return kiln::launch(list, kernel, what, in_buffer, out_buffer, n, kSharedRounds, slm);
      case Through::global:
        return kiln::launch(list, kernel, what, in_buffer, out_buffer, n, kSharedRounds, passing);
      case Through::sub_group:
        break;
    }
    return kiln::launch(list, kernel, what, in_buffer, out_buffer, n, kSharedRounds);
  };
  expect_each(prepared, out, [=](std::size_t i) { return passed_on(in, i); });
  return prepared;
}

}  // namespace

std::span<const Sample> share_values() {
  static constexpr std::array kSamples{
      Sample{"share.sub_group", "share", "sub_group",
             "16 neighbours pass values round through registers: no memory, no barrier",
             prepare_share<Through::sub_group>},
      Sample{"share.slm", "share", "slm", "the same through SLM, with two barriers a round",
             prepare_share<Through::slm>},
      Sample{"share.global", "share", "global_memory", "the same through global memory",
             prepare_share<Through::global>}};
  return kSamples;
}

}  // namespace kiln::samples
