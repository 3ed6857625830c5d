// SPDX-License-Identifier: MIT
// slm_limit and slm_table: what a work-group keeps in SLM.
#include <algorithm>
#include <array>

#include "cli/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint32_t kEntries = 256;  // of the table that three of the kernels know
constexpr std::uint32_t kCopies = 4;     // fixed offsets of one_each_bigger

struct TableShape {
  std::uint32_t entries = kEntries;
  std::uint64_t group = 256;  ///< work-items
  Extent group_extent{256};
  bool entries_passed = false;  ///< the kernel takes the table's size, and SLM from the host
  std::uint64_t slm_words = 0;  ///< uints of SLM, where the host gives it
};

/// Lookups through a table: out[i] = table[index[i]].
Result<Prepared> prepare_table(const OpenDevice& device, const Choices& choices, const TableShape& shape) {
  auto n = whole("--size", choices.size.value_or(100'000), 1, kLargestCount);
  if (!n) return tl::unexpected(std::move(n).error());
  auto shared = share<std::uint32_t, 3>(device, {shape.entries, *n, *n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  auto table = (*buffers)[0].span<std::uint32_t>().first(shape.entries);
  auto index = (*buffers)[1].span<std::uint32_t>(), out = (*buffers)[2].span<std::uint32_t>();
  std::mt19937 random(choices.seed);
  for (auto& entry : table) entry = static_cast<std::uint32_t>(random());
  for (auto& i : index) i = static_cast<std::uint32_t>(random() % shape.entries);

  Prepared prepared;
  prepared.shape = {{static_cast<std::uint32_t>(divide_up(*n, shape.group))}, shape.group_extent};
  prepared.slm = shape.slm_words * sizeof(std::uint32_t);
  prepared.elements = *n;
  prepared.bytes = 2.0 * sizeof(std::uint32_t) * *n;
  prepared.reset = [=] { std::ranges::fill(out, 0xdeadbeefu); };
  prepared.launch = [=, n = *n, launch = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                         Sync sync) {
    const Launch what{launch.groups, launch.group_size, sync};
    const auto& [table_buffer, index_buffer, out_buffer] = *buffers;
    if (!shape.entries_passed)
      return kiln::launch(list, kernel, what, table_buffer, index_buffer, out_buffer, n);
    return kiln::launch(list, kernel, what, table_buffer, index_buffer, out_buffer, n, shape.entries,
                        LocalMemory{shape.slm_words * sizeof(std::uint32_t)});
  };
  prepared.verify = [=] {
    std::vector<std::uint32_t> wanted(out.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = table[index[i]];
    return first_difference<std::uint32_t>(out, wanted);
  };
  return prepared;
}

Result<Prepared> prepare_known_table(const OpenDevice& device, const Choices& choices) {
  if (choices.slm)
    return tl::unexpected(bad_choice("this kernel's table has 256 entries, known when it was compiled",
                                     "leave --slm out, or run slm_table.one_each_any"));
  auto group = whole("--group", choices.group.value_or(256), 1, kLargestGroup);
  if (!group) return tl::unexpected(std::move(group).error());
  return prepare_table(device, choices, {kEntries, *group, {*group}, false, 0});
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
  const std::uint64_t words = words_per_item ? *group * words_per_item : entries;
  return prepare_table(device, choices, {static_cast<std::uint32_t>(entries), *group, {*group}, true, words});
}

}  // namespace

Result<Prepared> prepare_every_item(const OpenDevice& device, const Choices& choices) {
  return prepare_known_table(device, choices);
}

Result<Prepared> prepare_strided(const OpenDevice& device, const Choices& choices) {
  return prepare_known_table(device, choices);
}

Result<Prepared> prepare_one_each(const OpenDevice& device, const Choices& choices) {
  if (choices.slm || (choices.group && *choices.group != kEntries))
    return tl::unexpected(bad_choice("this kernel's group is 16 x 16, as large as its table of 256 entries",
                                     "leave --slm and --group out, or run slm_table.one_each_any"));
  return prepare_table(device, choices, {kEntries, kEntries, {16, 16}, false, 0});
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
  auto n = whole("--size", choices.size.value_or(100'000), 1, kLargestCount);
  if (!n) return tl::unexpected(std::move(n).error());
  auto group = whole("--group", choices.group.value_or(128), 1, kLargestGroup);
  if (!group) return tl::unexpected(std::move(group).error());
  const std::uint64_t row = std::uint64_t{*group} * sizeof(std::uint32_t);
  const auto words = whole("--slm", choices.slm ? *choices.slm / row : 128, 1, kLargestCount);
  if (!words)
    return tl::unexpected(
        bad_choice("--slm is out of range",
                   "give at least " + std::to_string(row) + " bytes: 4 for each work-item of the group"));
  auto shared = share<std::uint32_t, 2>(device, {*n, *n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  auto in = (*buffers)[0].span<std::uint32_t>(), out = (*buffers)[1].span<std::uint32_t>();
  std::mt19937 random(choices.seed);
  for (auto& value : in) value = static_cast<std::uint32_t>(random());
  const LocalMemory tile{row * *words};

  Prepared prepared;
  prepared.shape = {{static_cast<std::uint32_t>(divide_up(*n, *group))}, {*group}};
  prepared.slm = tile.bytes;
  prepared.elements = *n;
  prepared.bytes = 2.0 * sizeof(std::uint32_t) * *n;
  prepared.reset = [=] { std::ranges::fill(out, 0xdeadbeefu); };
  prepared.launch = [=, n = *n, words = *words, launch = prepared.shape](
                        CommandListRef list, const CheckedKernel& kernel, Sync sync) {
    return kiln::launch(list, kernel, {launch.groups, launch.group_size, sync}, (*buffers)[0], (*buffers)[1],
                        n, words, tile);
  };
  prepared.verify = [=, group = *group, words = *words] {
    std::vector<std::uint32_t> wanted(out.size());
    const std::uint64_t steps = std::uint64_t{words} * (words - 1) / 2;  // sum of 0 to words - 1
    for (std::uint64_t i = 0; i < wanted.size(); ++i) {
      const std::uint64_t first = i / group * group;
      const std::uint64_t next = first + (i - first + 1) % group;
      const std::uint64_t value = next < in.size() ? in[next] : 0;
      wanted[i] = static_cast<std::uint32_t>(value * words + steps);
    }
    return first_difference<std::uint32_t>(out, wanted);
  };
  return prepared;
}

}  // namespace kiln::samples
