// SPDX-License-Identifier: MIT
// access: loops, unrolled or not, what they read in each step, and branches.
#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint64_t kSteps = 16, kHalfTable = 256;

/// 1 * x^15 + 2 * x^14 + ... + 16, power by power from the lowest.
std::uint32_t polynomial(std::uint32_t x) {
  std::uint32_t sum = 0, power = 1;
  for (std::uint32_t factor = kSteps; factor > 0; --factor, power *= x) sum += factor * power;
  return sum;
}

/// The polynomial of each element. Reads of `in` and of `out` for an element, as the kernel is written.
template <std::uint64_t kReads, std::uint64_t kReadsBack = 0>
Result<Prepared> prepare_polynomial(const OpenDevice& device, const Choices& choices) {
  const auto grid = choose_grid_without_slm(choices, 100'000, 256);
  if (!grid) return tl::unexpected(grid.error());
  auto shared = share<std::uint32_t, 2>(device, {grid->n, grid->n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const auto in = (*buffers)[0].span<std::uint32_t>().first(grid->n);
  const auto out = (*buffers)[1].span<std::uint32_t>().first(grid->n);
  std::mt19937 random(choices.seed);
  fill_random(in, random);

  Prepared prepared = prepared_on(*grid);
  prepared.bytes = static_cast<double>(in.size_bytes() + out.size_bytes());
  prepared.predicted = {{"reads of the input", grid->n * kReads, Counter::reads, 0},
                        {"reads of the answer", grid->n * kReadsBack, Counter::reads, 1}};
  prepared.launch = [=, n = grid->n, shape = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                             Sync sync) {
    return kiln::launch(list, kernel, {shape.groups, shape.group_size, sync}, (*buffers)[0], (*buffers)[1],
                        n);
  };
  expect_each(prepared, out, [=](std::size_t i) { return polynomial(in[i]); });
  return prepared;
}

/// Even and odd work-items look up different bytes: on both sides of a branch, or without one.
template <bool kBranch>
Result<Prepared> prepare_sides(const OpenDevice& device, const Choices& choices) {
  const auto grid = choose_grid_without_slm(choices, 100'000, 256);
  if (!grid) return tl::unexpected(grid.error());
  auto shared = share<std::uint32_t, 3>(device, {grid->n, kHalfTable, grid->n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const auto in = (*buffers)[0].span<std::uint32_t>().first(grid->n);
  const auto table = (*buffers)[1].span<std::uint32_t>().first(kHalfTable);
  const auto out = (*buffers)[2].span<std::uint32_t>().first(grid->n);
  std::mt19937 random(choices.seed);
  fill_random(in, random);
  fill_random(table, random);
  // Of the first 16 work-items that exist, those that go the way of the first.
  std::uint64_t lanes = 0;
  for (std::uint64_t i = 0; i < std::min(kSteps, std::uint64_t{grid->n}); ++i)
    lanes += !kBranch || i % 2 == 0;

  Prepared prepared = prepared_on(*grid);
  prepared.bytes = static_cast<double>(in.size_bytes() + table.size_bytes() + out.size_bytes());
  prepared.predicted = {{"lanes active at a read of the table", lanes, Counter::lanes, 1}};
  prepared.launch = [=, n = grid->n, shape = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                             Sync sync) {
    const auto& [in_buffer, table_buffer, out_buffer] = *buffers;
    return kiln::launch(list, kernel, {shape.groups, shape.group_size, sync}, in_buffer, table_buffer,
                        out_buffer, n);
  };
  expect_each(prepared, out, [=](std::size_t i) {
    std::array<std::uint8_t, 4> bytes;  // the lowest first
    std::memcpy(bytes.data(), &in[i], sizeof bytes);
    return i % 2 ? table[bytes[1]] * 5 + 2 : table[bytes[0]] * 3 + 1;
  });
  return prepared;
}

}  // namespace

std::span<const Sample> access_control() {
  static constexpr std::array kSamples{
      Sample{"access.unrolled", "access", "unrolled", "16 steps without a loop", prepare_polynomial<kSteps>},
      Sample{"access.unrolled_loop", "access", "unrolled_loop", "the same 16 steps in a loop",
             prepare_polynomial<kSteps>},
      Sample{"access.unrolled_4", "access", "unrolled_4", "unrolled by 4 with a pragma",
             prepare_polynomial<kSteps>},
      Sample{"access.unrolled_macro", "access", "unrolled_macro", "4 steps an iteration, by a macro",
             prepare_polynomial<kSteps>},
      Sample{"access.loop_reload", "access", "loop_reload",
             "the same loop, with its sum in global memory: 2 reads and a write a step",
             prepare_polynomial<kSteps, kSteps>},
      Sample{"access.loop_hoisted", "access", "loop_hoisted", "read before the loop, written behind it",
             prepare_polynomial<1>},
      Sample{"access.branch_divergent", "access", "branch_divergent",
             "neighbours on both sides of a branch: half the lanes at a time", prepare_sides<true>},
      Sample{"access.branch_free", "access", "branch_free", "the same without a branch: all lanes",
             prepare_sides<false>}};
  return kSamples;
}

}  // namespace kiln::samples
