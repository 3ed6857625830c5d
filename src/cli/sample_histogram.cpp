// SPDX-License-Identifier: MIT
// histogram: how often each field of some 64-bit values has each of its values.
#include "cli/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint64_t kBlock = 4096;  // values a work-group

/// Counts from the bytes of the values as they lie in memory, the lowest first.
std::vector<std::uint32_t> count_bytes(std::span<const std::uint64_t> values) {
  std::vector<std::uint32_t> counts(256);
  for (const std::byte byte : std::as_bytes(values)) ++counts[std::to_integer<std::size_t>(byte)];
  return counts;
}

/// Counts from the four 16-bit numbers that a value is made of, whose upper 6 bits do not count.
std::vector<std::uint32_t> count_fields(std::span<const std::uint64_t> values) {
  std::vector<std::uint32_t> counts(1024);
  for (const std::uint64_t value : values) {
    std::array<std::uint16_t, 4> parts;
    std::memcpy(parts.data(), &value, sizeof value);
    for (const std::uint16_t part : parts) ++counts[part % 1024u];
  }
  return counts;
}

using Count = std::vector<std::uint32_t> (*)(std::span<const std::uint64_t>);

template <std::size_t kBins, std::uint64_t kFields, Count kCount>
Result<Prepared> prepare(const OpenDevice& device, const Choices& choices) {
  const auto chosen = choose_grid_without_slm(choices, 200'000, 256, UINT32_MAX / kFields);
  if (!chosen) return tl::unexpected(chosen.error());
  const Grid grid(chosen->n, chosen->group, kBlock);
  auto values = share<std::uint64_t, 1>(device, {grid.n});
  if (!values) return tl::unexpected(std::move(values).error());
  auto counts = share<std::uint32_t, 1>(device, {kBins});
  if (!counts) return tl::unexpected(std::move(counts).error());
  const auto in_buffer = *values, bins_buffer = *counts;
  const auto in = in_buffer->front().span<std::uint64_t>().first(grid.n);
  const auto bins = bins_buffer->front().span<std::uint32_t>().first(kBins);
  std::mt19937_64 random(choices.seed);
  for (std::uint64_t& value : in) value = random();

  Prepared prepared = prepared_on(grid);
  prepared.elements = kBins;
  prepared.bytes = static_cast<double>(in.size_bytes() + bins.size_bytes());
  prepared.predicted = {{"global atomics", std::uint64_t{grid.groups} * kBins},
                        {"global atomics without SLM", std::uint64_t{grid.n} * kFields}};
  prepared.reset = [=] { std::ranges::fill(bins, 0u); };
  prepared.launch = [=, n = grid.n, launch = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                             Sync sync) {
    return kiln::launch(list, kernel, {launch.groups, launch.group_size, sync}, in_buffer->front(),
                        bins_buffer->front(), n, static_cast<std::uint32_t>(kBlock));
  };
  prepared.verify = [=] { return first_difference<std::uint32_t>(bins, kCount(in)); };
  return prepared;
}

}  // namespace

std::span<const Sample> histogram() {
  static constexpr std::array kSamples{
      Sample{"histogram.slm_256", "histogram", "slm_256", "bytes of 64-bit values counted in SLM",
             prepare<256, 8, count_bytes>},
      Sample{"histogram.slm_1024", "histogram", "slm_1024",
             "four 10-bit fields of 64-bit values counted in SLM", prepare<1024, 4, count_fields>}};
  return kSamples;
}

}  // namespace kiln::samples
