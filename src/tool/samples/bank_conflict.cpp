// SPDX-License-Identifier: MIT
// bank_conflict: work-items that touch SLM some words apart, or all one word.
#include <set>

#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint32_t kRounds = 64;  // increments of each word
constexpr std::uint32_t kBanks = 16,
                        kServed = 16;  // 4 bytes wide; work-items that the hardware serves at once

/// Different words that the first 16 work-items of a group have in one bank, at most: that many turns for one
/// access. They lie `stride` words apart; 0: all want one word.
std::uint64_t turns(std::uint32_t stride, std::uint32_t group) {
  std::array<std::set<std::uint64_t>, kBanks> in_bank;
  for (std::uint64_t item = 0; item < std::min(group, kServed); ++item)
    in_bank[item * stride % kBanks].insert(item * stride);
  return std::ranges::max_element(in_bank, {}, &std::set<std::uint64_t>::size)->size();
}

/// `usual` where --slm does not set the stride, which it may not where the name does.
Result<Prepared> prepare(const OpenDevice& device, const Choices& choices, std::uint32_t usual, bool fixed) {
  const auto grid = fixed ? choose_grid_without_slm(choices, 1 << 14, 32) : choose_grid(choices, 1 << 14, 32);
  if (!grid) return tl::unexpected(grid.error());
  const std::uint64_t row = std::uint64_t{grid->group} * sizeof(std::uint32_t);
  const auto stride = whole("the stride from --slm", choices.slm ? *choices.slm / row : usual, 1, 1 << 10);
  if (!stride)
    return tl::unexpected(
        bad_choice("--slm is out of range",
                   "give " + std::to_string(row) + " bytes for each word of the stride, up to 1024"));
  auto shared = share<std::uint32_t, 2>(device, {grid->n, std::uint64_t{grid->n} * *stride});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const auto in = (*buffers)[0].span<std::uint32_t>().first(grid->n);
  const auto out = (*buffers)[1].span<std::uint32_t>().first(std::size_t{grid->n} * *stride);
  std::mt19937 random(choices.seed);
  fill_random(in, random);
  const LocalMemory slm{row * *stride};

  Prepared prepared = prepared_on(*grid);
  prepared.slm = slm.bytes;
  prepared.elements = out.size();
  prepared.bytes = static_cast<double>(in.size_bytes() + out.size_bytes());
  prepared.predicted = {
      {"turns for one SLM access of 16 work-items", turns(*stride, grid->group), Counter::slm_turns}};
  prepared.launch = [=, n = grid->n, stride = *stride, launch = prepared.shape](
                        CommandListRef list, const CheckedKernel& kernel, Sync sync) {
    return kiln::launch(list, kernel, {launch.groups, launch.group_size, sync}, (*buffers)[0], (*buffers)[1],
                        n, stride, kRounds, slm);
  };
  expect_each(prepared, out, [=, group = grid->group, stride = *stride](std::size_t word) {
    if (word % stride != 0) return 0u;
    const std::size_t i = word / stride;
    const bool last = i % group == group - 1;
    const std::size_t next = last ? i + 1 - group : i + 1;
    return (next < in.size() ? in[next] : 0u) + kRounds;
  });
  return prepared;
}

/// out[i] = sum over w < group size of in[first + w] * (item + w): by two sums of the group.
std::vector<std::uint32_t> weigh_groups(std::span<const std::uint32_t> in, std::size_t group) {
  std::vector<std::uint32_t> out(in.size());
  for (std::size_t first = 0; first < in.size(); first += group) {
    const std::size_t end = std::min(first + group, in.size());
    std::uint32_t sum = 0, weighted = 0;
    for (std::size_t i = first; i < end; ++i)
      sum += in[i], weighted += in[i] * static_cast<std::uint32_t>(i - first);
    for (std::size_t i = first; i < end; ++i) out[i] = sum * static_cast<std::uint32_t>(i - first) + weighted;
  }
  return out;
}

Result<Prepared> prepare_broadcast(const OpenDevice& device, const Choices& choices) {
  const auto grid = choose_grid_without_slm(choices, 1 << 14, 32);
  if (!grid) return tl::unexpected(grid.error());
  auto shared = share<std::uint32_t, 2>(device, {grid->n, grid->n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const auto in = (*buffers)[0].span<std::uint32_t>().first(grid->n);
  const auto out = (*buffers)[1].span<std::uint32_t>().first(grid->n);
  std::mt19937 random(choices.seed);
  fill_random(in, random);
  const LocalMemory slm{grid->group * sizeof(std::uint32_t)};

  Prepared prepared = prepared_on(*grid);
  prepared.slm = slm.bytes;
  prepared.bytes = static_cast<double>(in.size_bytes() + out.size_bytes());
  prepared.predicted = {
      {"turns for one SLM access of 16 work-items", turns(0, grid->group), Counter::slm_turns}};
  prepared.launch = [=, n = grid->n, launch = prepared.shape](CommandListRef list,
                                                              const CheckedKernel& kernel, Sync sync) {
    return kiln::launch(list, kernel, {launch.groups, launch.group_size, sync}, (*buffers)[0], (*buffers)[1],
                        n, slm);
  };
  prepared.answer = std::as_bytes(out);
  prepared.reset = [=] { std::ranges::fill(out, 0xa5a5a5a5u); };
  prepared.verify = [=, group = grid->group] {
    return first_difference<std::uint32_t>(out, weigh_groups(in, group));
  };
  return prepared;
}

template <std::uint32_t kStride>
Result<Prepared> prepare_stride(const OpenDevice& device, const Choices& choices) {
  return prepare(device, choices, kStride, true);
}

Result<Prepared> prepare_any(const OpenDevice& device, const Choices& choices) {
  return prepare(device, choices, 17, false);
}

}  // namespace

std::span<const Sample> bank_conflict() {
  static constexpr std::array kSamples{
      Sample{"bank_conflict.stride_1", "bank_conflict", "stride", "SLM word by word: all 16 banks at once",
             prepare_stride<1>},
      Sample{"bank_conflict.stride_2", "bank_conflict", "stride", "every second word: half the banks",
             prepare_stride<2>},
      Sample{"bank_conflict.stride_16", "bank_conflict", "stride", "all on one bank: 1/16 of the rate",
             prepare_stride<16>},
      Sample{"bank_conflict.stride_any", "bank_conflict", "stride",
             "17, a row of 16 and one word to spare: no conflict; --slm sets it", prepare_any},
      Sample{"bank_conflict.broadcast", "bank_conflict", "broadcast",
             "all read one word at a time: no conflict", prepare_broadcast}};
  return kSamples;
}

}  // namespace kiln::samples
