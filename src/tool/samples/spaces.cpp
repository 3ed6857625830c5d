// SPDX-License-Identifier: MIT
// access: the same numbers from global, constant, local and private memory, and from registers.
#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

using Words = std::span<std::uint32_t>;

enum class Table { global, constant, slm };

/// A table of 64 elements that all work-items go through side by side.
template <Table kTable>
Result<Prepared> prepare_table(const OpenDevice& device, const Choices& choices) {
  const auto grid = kTable == Table::slm ? choose_grid(choices, 100'000, 256)
                                         : choose_grid_without_slm(choices, 100'000, 256);
  if (!grid) return tl::unexpected(grid.error());
  const auto entries =
      whole("the table from --slm", choices.slm.value_or(256) / sizeof(std::uint32_t), 1, 1 << 20);
  if (!entries) return tl::unexpected(bad_choice("--slm is out of range", "give 4 bytes to 4 MiB"));
  auto shared = share<std::uint32_t, 3>(device, {grid->n, *entries, grid->n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const Words in = (*buffers)[0].span<std::uint32_t>().first(grid->n),
              table = (*buffers)[1].span<std::uint32_t>().first(*entries),
              out = (*buffers)[2].span<std::uint32_t>().first(grid->n);
  std::mt19937 random(choices.seed);
  fill_random(in, random);
  fill_random(table, random);
  // table[e] * (in + e), summed: in * sum of table[e] + sum of table[e] * e.
  std::uint32_t sum = 0, weighted = 0;
  for (std::uint32_t e = 0; e < *entries; ++e) sum += table[e], weighted += table[e] * e;

  Prepared prepared = prepared_on(*grid);
  const LocalMemory slm{*entries * sizeof(std::uint32_t)};
  if (kTable == Table::slm) prepared.slm = slm.bytes;
  prepared.bytes = static_cast<double>(in.size_bytes() + table.size_bytes() + out.size_bytes());
  prepared.predicted = {{"reads of the table",
                         std::uint64_t{*entries} * (kTable == Table::slm ? grid->groups : grid->n),
                         Counter::reads, 1}};
  prepared.launch = [=, n = grid->n, entries = *entries, shape = prepared.shape](
                        CommandListRef list, const CheckedKernel& kernel, Sync sync) {
    const Launch what{shape.groups, shape.group_size, sync};
    const auto& [in_buffer, table_buffer, out_buffer] = *buffers;
    if (kTable != Table::slm)
      return kiln::launch(list, kernel, what, in_buffer, table_buffer, out_buffer, n, entries);
    return kiln::launch(list, kernel, what, in_buffer, table_buffer, out_buffer, n, entries, slm);
  };
  expect_each(prepared, out, [=](std::size_t i) { return in[i] * sum + weighted; });
  return prepared;
}

/// A table of 16 elements that each work-item keeps to itself for all its elements.
Result<Prepared> prepare_private_table(const OpenDevice& device, const Choices& choices) {
  constexpr std::uint32_t kKept = 16, kElementsEach = 16;
  const auto chosen = choose_grid_without_slm(choices, 100'000, 256);
  if (!chosen) return tl::unexpected(chosen.error());
  const Grid grid(chosen->n, chosen->group, std::uint64_t{kElementsEach} * chosen->group);
  auto shared = share<std::uint32_t, 3>(device, {grid.n, kKept, grid.n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const Words in = (*buffers)[0].span<std::uint32_t>().first(grid.n),
              table = (*buffers)[1].span<std::uint32_t>().first(kKept),
              out = (*buffers)[2].span<std::uint32_t>().first(grid.n);
  std::mt19937 random(choices.seed);
  fill_random(in, random);
  fill_random(table, random);
  std::uint32_t sum = 0, weighted = 0;
  for (std::uint32_t e = 0; e < kKept; ++e) sum += table[e], weighted += table[e] * e;

  Prepared prepared = prepared_on(grid);
  prepared.bytes = static_cast<double>(in.size_bytes() + table.size_bytes() + out.size_bytes());
  prepared.predicted = {
      {"reads of the table", std::uint64_t{grid.groups} * grid.group * kKept, Counter::reads, 1},
      {"reads of the table without a copy", std::uint64_t{grid.n} * kKept}};
  prepared.launch = [=, n = grid.n, shape = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                            Sync sync) {
    const auto& [in_buffer, table_buffer, out_buffer] = *buffers;
    return kiln::launch(list, kernel, {shape.groups, shape.group_size, sync}, in_buffer, table_buffer,
                        out_buffer, n);
  };
  expect_each(prepared, out, [=](std::size_t i) { return in[i] * sum + weighted; });
  return prepared;
}

/// Digits of 6 bits, the one at place p with weight p + 1: sum of (p + 1) * (31 + digit), without any counts.
std::uint32_t weigh_digits(std::uint32_t value) {
  std::uint32_t sum = 0;
  for (std::uint32_t weight = 1; weight <= 6; ++weight, value /= 64) sum += weight * (31 + value % 64);
  return sum;
}

template <std::uint32_t (*kReference)(std::uint32_t)>
Result<Prepared> prepare_map(const OpenDevice& device, const Choices& choices) {
  const auto grid = choose_grid_without_slm(choices, 100'000, 256);
  if (!grid) return tl::unexpected(grid.error());
  auto shared = share<std::uint32_t, 2>(device, {grid->n, grid->n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const Words in = (*buffers)[0].span<std::uint32_t>().first(grid->n),
              out = (*buffers)[1].span<std::uint32_t>().first(grid->n);
  std::mt19937 random(choices.seed);
  fill_random(in, random);

  Prepared prepared = prepared_on(*grid);
  prepared.bytes = static_cast<double>(in.size_bytes() + out.size_bytes());
  prepared.launch = [=, n = grid->n, shape = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                             Sync sync) {
    return kiln::launch(list, kernel, {shape.groups, shape.group_size, sync}, (*buffers)[0], (*buffers)[1],
                        n);
  };
  expect_each(prepared, out, [=](std::size_t i) { return kReference(in[i]); });
  return prepared;
}

}  // namespace

std::span<const Sample> access_spaces() {
  static constexpr std::array kSamples{
      Sample{"access.same_element_global", "access", "same_element_global",
             "one element of a table for all at a time, from global memory", prepare_table<Table::global>},
      Sample{"access.same_element_constant", "access", "same_element_constant", "from constant memory",
             prepare_table<Table::constant>},
      Sample{"access.same_element_slm", "access", "same_element_slm", "from SLM; --slm sets the table",
             prepare_table<Table::slm>},
      Sample{"access.same_element_private", "access", "same_element_private",
             "a table of 16 in registers, read once by a work-item for 16 elements", prepare_private_table},
      Sample{"access.private_array", "access", "private_array",
             "64 counts a work-item in an array: private memory or scratch", prepare_map<weigh_digits>},
      Sample{"access.private_scalars", "access", "private_scalars", "the same in scalars: registers",
             prepare_map<weigh_digits>}};
  return kSamples;
}

}  // namespace kiln::samples
