// SPDX-License-Identifier: MIT
// histogram: how often each field of some 64-bit values has each of its values.
#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint64_t kBlock = 4096;  // values a work-group, where it counts in SLM

// Work-items of a sub-group; where it counts in registers, values a work-item.
constexpr std::uint64_t kLanes = 16, kValuesEach = 256;

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

/// Values and counts; the launch is the caller's.
struct Data {
  std::shared_ptr<std::array<HostBuffer, 1>> values, counts;
  Prepared prepared;
};

Result<Data> prepare_data(const OpenDevice& device, const Choices& choices, const Grid& grid,
                          std::size_t kinds, Count count) {
  auto values = share<std::uint64_t, 1>(device, {grid.n});
  if (!values) return tl::unexpected(std::move(values).error());
  auto counts = share<std::uint32_t, 1>(device, {kinds});
  if (!counts) return tl::unexpected(std::move(counts).error());
  Data data{*values, *counts, prepared_on(grid)};
  const auto in = data.values->front().span<std::uint64_t>().first(grid.n);
  const auto bins = data.counts->front().span<std::uint32_t>().first(kinds);
  std::mt19937_64 random(choices.seed);
  for (std::uint64_t& value : in) value = random();
  data.prepared.elements = kinds;
  data.prepared.bytes = static_cast<double>(in.size_bytes() + bins.size_bytes());
  data.prepared.answer = std::as_bytes(bins);
  data.prepared.reset = [=] { std::ranges::fill(bins, 0u); };
  data.prepared.verify = [=] { return first_difference<std::uint32_t>(bins, count(in)); };
  return data;
}

/// Who clears the bins.
enum class Clear : std::uint8_t { all, one };

/// How often sub-groups of 16 write to SLM until one group's bins are clear.
std::uint64_t clearing_writes(std::uint64_t bins, std::uint64_t group, Clear clear) {
  if (clear == Clear::one) return bins;
  std::uint64_t writes = 0;
  for (std::uint64_t first = 0; first < std::min(group, bins); first += kLanes)
    writes += divide_up(bins - first, group);  // rounds of its first work-item
  return writes;
}

template <std::size_t kBins, std::uint64_t kFields, Count kCount, Clear kClear = Clear::all>
Result<Prepared> prepare_in_slm(const OpenDevice& device, const Choices& choices) {
  const auto chosen = choose_grid_without_slm(choices, 200'000, 256, UINT32_MAX / kFields);
  if (!chosen) return tl::unexpected(chosen.error());
  const Grid grid(chosen->n, chosen->group, kBlock);
  auto data = prepare_data(device, choices, grid, kBins, kCount);
  if (!data) return tl::unexpected(std::move(data).error());
  data->prepared.predicted = {
      {"global atomics", std::uint64_t{grid.groups} * kBins, Counter::global_atomics},
      {"global atomics without SLM", std::uint64_t{grid.n} * kFields},
      {"writes of SLM", std::uint64_t{grid.groups} * kBins, Counter::slm_writes},
      {"writes of SLM by sub-groups", grid.groups * clearing_writes(kBins, grid.group, kClear),
       Counter::slm_writes_together}};
  data->prepared.launch = [=, values = data->values, counts = data->counts](
                              CommandListRef list, const CheckedKernel& kernel, Sync sync) {
    return kiln::launch(list, kernel, {{grid.groups}, {grid.group}, sync}, values->front(), counts->front(),
                        grid.n, static_cast<std::uint32_t>(kBlock));
  };
  return std::move(data->prepared);
}

template <std::size_t kBins, std::uint64_t kFields, Count kCount>
Result<Prepared> prepare_registers(const OpenDevice& device, const Choices& choices) {
  const auto chosen = choose_grid_without_slm(choices, 200'000, 64, UINT32_MAX / kFields);
  if (!chosen) return tl::unexpected(chosen.error());
  if (chosen->group % kLanes != 0)
    return tl::unexpected(bad_choice("this kernel's groups are whole sub-groups of 16 work-items",
                                     "choose a multiple of 16 for --group"));
  const Grid grid(chosen->n, chosen->group, kValuesEach * chosen->group);
  auto data = prepare_data(device, choices, grid, kBins, kCount);
  if (!data) return tl::unexpected(std::move(data).error());
  data->prepared.predicted = {
      {"global atomics", std::uint64_t{grid.groups} * grid.group * (kBins / kLanes), Counter::global_atomics},
      {"global atomics without registers", std::uint64_t{grid.n} * kFields}};
  data->prepared.launch = [=, values = data->values, counts = data->counts](
                              CommandListRef list, const CheckedKernel& kernel, Sync sync) {
    return kiln::launch(list, kernel, {{grid.groups}, {grid.group}, sync}, values->front(), counts->front(),
                        grid.n);
  };
  return std::move(data->prepared);
}

}  // namespace

std::span<const Sample> histogram() {
  static constexpr std::array kSamples{
      Sample{"histogram.slm_256", "histogram", "slm_256", "bytes of 64-bit values counted in SLM",
             prepare_in_slm<256, 8, count_bytes>},
      Sample{"histogram.slm_1024", "histogram", "slm_1024",
             "four 10-bit fields of 64-bit values counted in SLM", prepare_in_slm<1024, 4, count_fields>},
      Sample{"histogram.registers_256", "histogram", "registers_256",
             "bytes counted in the registers of sub-groups of 16", prepare_registers<256, 8, count_bytes>},
      Sample{"histogram.slm_1024_one_clears", "histogram", "slm_1024_one_clears",
             "as slm_1024, but one work-item clears the bins",
             prepare_in_slm<1024, 4, count_fields, Clear::one>},
      Sample{"histogram.registers_1024", "histogram", "registers_1024",
             "as registers_256 with 64 bins a lane: too many for registers",
             prepare_registers<1024, 4, count_fields>}};
  return kSamples;
}

}  // namespace kiln::samples
