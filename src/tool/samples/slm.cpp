// SPDX-License-Identifier: MIT
// slm_limit and slm_table: what a work-group keeps in SLM.
#include <algorithm>
#include <array>

#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint32_t kEntries = 256;  // of the table that three of the kernels know
constexpr std::uint32_t kCopies = 4;     // fixed offsets of one_each_bigger

struct TableShape {
  std::uint32_t entries = kEntries;
  std::uint64_t group = 256;       ///< work-items
  std::uint64_t reads = kEntries;  ///< of the table, by one work-group
  Extent group_extent{256};
  bool entries_passed = false;  ///< the kernel takes the table's size, and SLM from the host
  std::uint64_t slm_words = 0;  ///< uints of SLM, where the host gives it
};

/// Lookups through a table: out[i] = table[index[i]].
Result<Prepared> prepare_table(const OpenDevice& device, const Choices& choices, const TableShape& shape) {
  auto n = whole("--size", choices.size.value_or(100'000), 0, kLargestCount);
  if (!n) return tl::unexpected(std::move(n).error());
  auto shared = share<std::uint32_t, 3>(device, {shape.entries, *n, *n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  auto table = (*buffers)[0].span<std::uint32_t>().first(shape.entries);
  auto index = (*buffers)[1].span<std::uint32_t>().first(*n);
  auto out = (*buffers)[2].span<std::uint32_t>().first(*n);
  std::mt19937 random(choices.seed);
  fill_random(table, random);
  for (auto& i : index) i = static_cast<std::uint32_t>(random() % shape.entries);

  Prepared prepared = prepared_on(Grid(*n, shape.group, shape.group));
  prepared.shape.group_size = shape.group_extent;
  prepared.slm = shape.slm_words * sizeof(std::uint32_t);
  prepared.bytes = 2.0 * sizeof(std::uint32_t) * *n;
  prepared.predicted = {{"reads of the table", shape.reads * prepared.shape.groups.x, Counter::reads}};
  prepared.launch = [=, n = *n, launch = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                         Sync sync) {
    const Launch what{launch.groups, launch.group_size, sync};
    const auto& [table_buffer, index_buffer, out_buffer] = *buffers;
    if (!shape.entries_passed)
      return kiln::launch(list, kernel, what, table_buffer, index_buffer, out_buffer, n);
    return kiln::launch(list, kernel, what, table_buffer, index_buffer, out_buffer, n, shape.entries,
                        LocalMemory{shape.slm_words * sizeof(std::uint32_t)});
  };
  expect_each(prepared, out, [=](std::size_t i) { return table[index[i]]; });
  return prepared;
}

Result<Prepared> prepare_known_table(const OpenDevice& device, const Choices& choices, bool shared_copy) {
  if (choices.slm)
    return tl::unexpected(bad_choice("this kernel's table has 256 entries, known when it was compiled",
                                     "leave --slm out, or run slm_table.one_each_any"));
  auto group = whole("--group", choices.group.value_or(256), 1, kLargestGroup);
  if (!group) return tl::unexpected(std::move(group).error());
  const std::uint64_t reads = shared_copy ? kEntries : std::uint64_t{kEntries} * *group;
  return prepare_table(device, choices, {kEntries, *group, reads, {*group}, false, 0});
}

/// The variants whose table the host sizes: `words` says how much SLM a group of that size needs for it.
Result<Prepared> prepare_sized_table(const OpenDevice& device, const Choices& choices, std::uint64_t entries,
                                     std::uint64_t largest_per_item, std::uint64_t words_per_item) {
  auto group = whole("--group", choices.group.value_or(256), 1, kLargestGroup);
  if (!group) return tl::unexpected(std::move(group).error());
  if (choices.slm) entries = *choices.slm / sizeof(std::uint32_t);
  const std::uint64_t most = largest_per_item ? *group * largest_per_item : kLargestCount;
  if (entries < 1 || entries > most)
    return tl::unexpected(
        bad_choice("a table of " + std::to_string(entries) + " entries is out of range for this kernel",
                   "choose --slm 4 to " + std::to_string(most * 4) + ", or a larger --group"));
  // Without a loop each work-item fills all of its words, be the table as long or not.
  const std::uint64_t words = words_per_item ? *group * words_per_item : entries;
  return prepare_table(device, choices,
                       {static_cast<std::uint32_t>(entries), *group, words, {*group}, true, words});
}

/// CPUs have a kernel of their own, which copies nothing.
Result<Prepared> prepare_cpu_variant(const OpenDevice& device, const Choices& choices) {
  auto prepared = prepare_known_table(device, choices, true);
  if (prepared && device.properties.type == ZE_DEVICE_TYPE_CPU)
    prepared->predicted = {{"reads of the table", prepared->elements, Counter::reads}};
  return prepared;
}

Result<Prepared> prepare_every_item(const OpenDevice& device, const Choices& choices) {
  return prepare_known_table(device, choices, false);
}

Result<Prepared> prepare_strided(const OpenDevice& device, const Choices& choices) {
  return prepare_known_table(device, choices, true);
}

Result<Prepared> prepare_one_each(const OpenDevice& device, const Choices& choices) {
  if (choices.slm || (choices.group && *choices.group != kEntries))
    return tl::unexpected(bad_choice("this kernel's group is 16 x 16, as large as its table of 256 entries",
                                     "leave --slm and --group out, or run slm_table.one_each_any"));
  return prepare_table(device, choices, {kEntries, kEntries, kEntries, {16, 16}, false, 0});
}

Result<Prepared> prepare_one_each_smaller(const OpenDevice& device, const Choices& choices) {
  return prepare_sized_table(device, choices, 100, 1, 1);
}

Result<Prepared> prepare_one_each_bigger(const OpenDevice& device, const Choices& choices) {
  return prepare_sized_table(device, choices, 1000, kCopies, kCopies);
}

Result<Prepared> prepare_one_each_any(const OpenDevice& device, const Choices& choices) {
  return prepare_sized_table(device, choices, 1000, 0, 0);
}

Result<Prepared> prepare_slm_limit(const OpenDevice& device, const Choices& choices) {
  const auto grid = choose_grid(choices, 100'000, 128);
  if (!grid) return tl::unexpected(grid.error());
  const std::uint64_t row = std::uint64_t{grid->group} * sizeof(std::uint32_t);
  const auto words = whole("--slm", choices.slm ? *choices.slm / row : 128, 1, kLargestCount);
  if (!words)
    return tl::unexpected(
        bad_choice("--slm is out of range",
                   "give at least " + std::to_string(row) + " bytes: 4 for each work-item of the group"));
  auto shared = share<std::uint32_t, 2>(device, {grid->n, grid->n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const auto in = (*buffers)[0].span<std::uint32_t>().first(grid->n);
  const auto out = (*buffers)[1].span<std::uint32_t>().first(grid->n);
  std::mt19937 random(choices.seed);
  fill_random(in, random);
  const LocalMemory tile{row * *words};

  Prepared prepared = prepared_on(*grid);
  prepared.slm = tile.bytes;
  prepared.bytes = 2.0 * sizeof(std::uint32_t) * grid->n;
  prepared.launch = [=, n = grid->n, words = *words, launch = prepared.shape](
                        CommandListRef list, const CheckedKernel& kernel, Sync sync) {
    return kiln::launch(list, kernel, {launch.groups, launch.group_size, sync}, (*buffers)[0], (*buffers)[1],
                        n, words, tile);
  };
  expect_each(prepared, out, [=, group = grid->group, words = *words](std::size_t i) {
    const std::uint64_t steps = std::uint64_t{words} * (words - 1) / 2;  // sum of 0 to words - 1
    const std::uint64_t first = i / group * group;
    const std::uint64_t next = first + (i - first + 1) % group;
    const std::uint64_t value = next < in.size() ? in[next] : 0;
    return static_cast<std::uint32_t>(value * words + steps);
  });
  return prepared;
}

}  // namespace

std::span<const Sample> slm_limit() {
  static constexpr std::array kSamples{Sample{"slm_limit", "slm_limit", "dynamic_tile",
                                              "SLM that grows with the group: 512 B a work-item, or --slm",
                                              prepare_slm_limit}};
  return kSamples;
}

std::span<const Sample> slm_table() {
  static constexpr std::array kSamples{
      Sample{"slm_table.strided", "slm_table", "strided", "a table of 256 copied to SLM once a work-group",
             prepare_strided},
      Sample{"slm_table.every_item", "slm_table", "every_item",
             "the same, wastefully: each work-item copies all of it", prepare_every_item},
      Sample{"slm_table.one_each", "slm_table", "one_each", "group as large as the table: one entry each",
             prepare_one_each},
      Sample{"slm_table.one_each_smaller", "slm_table", "one_each_smaller",
             "table smaller than the group; --slm sets it", prepare_one_each_smaller},
      Sample{"slm_table.one_each_bigger", "slm_table", "one_each_bigger",
             "table up to 4 groups large; --slm sets it", prepare_one_each_bigger},
      Sample{"slm_table.one_each_any", "slm_table", "one_each_any", "table of any size; --slm sets it",
             prepare_one_each_any},
      Sample{"slm_table.cpu_variant", "slm_lookup", "lookup",
             "a table in SLM, and on CPUs another kernel, which does without", prepare_cpu_variant}};
  return kSamples;
}

}  // namespace kiln::samples
