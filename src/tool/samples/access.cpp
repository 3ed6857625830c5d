// SPDX-License-Identifier: MIT
// access: which addresses neighbouring work-items touch, and how many bytes each.
#include <set>

#include "tool/samples/sample_data.hpp"

namespace kiln::samples {
namespace {

constexpr std::uint64_t kLineBytes = 64;                    // of a cache line
constexpr std::uint64_t kTogether = 16;                     // work-items that read at once
constexpr const char* kLines = "cache lines for 16 reads";  // those of the first group
using Words = std::span<std::uint32_t>;

/// Lines that the elements of some indices are in, when element 0 begins one.
std::uint64_t lines_of(const std::vector<std::uint64_t>& indices) {
  std::set<std::uint64_t> lines;
  for (const std::uint64_t index : indices) lines.insert(index * sizeof(std::uint32_t) / kLineBytes);
  return lines.size();
}

/// Groups of `columns` x `rows` work-items over a square of --size x --size elements.
template <std::uint32_t kColumns, std::uint32_t kRows>
Result<Prepared> prepare_shape(const OpenDevice& device, const Choices& choices) {
  if (choices.slm || choices.group)
    return tl::unexpected(bad_choice("this kernel uses no SLM, and its name says the shape of the groups",
                                     "leave --slm and --group out"));
  const auto edge = whole("--size", choices.size.value_or(512), 0, 1 << 14);
  if (!edge) return tl::unexpected(edge.error());
  const std::uint64_t n = std::uint64_t{*edge} * *edge;
  auto shared = share<std::uint32_t, 2>(device, {n, n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const Words a = (*buffers)[0].span<std::uint32_t>().first(n),
              out = (*buffers)[1].span<std::uint32_t>().first(n);
  std::mt19937 random(choices.seed);
  fill_random(a, random);
  std::vector<std::uint64_t> touched;
  for (std::uint64_t y = 0; y < std::min(kRows, *edge); ++y)
    for (std::uint64_t x = 0; x < std::min(kColumns, *edge); ++x) touched.push_back(y * *edge + x);

  Prepared prepared;
  prepared.shape = {{Grid(*edge, 1, kColumns).groups, Grid(*edge, 1, kRows).groups}, {kColumns, kRows}};
  prepared.elements = n;
  prepared.bytes = 2.0 * static_cast<double>(out.size_bytes());
  prepared.predicted = {{kLines, lines_of(touched), Counter::lines}};
  prepared.launch = [=, edge = *edge, shape = prepared.shape](CommandListRef list,
                                                              const CheckedKernel& kernel, Sync sync) {
    return kiln::launch(list, kernel, {shape.groups, shape.group_size, sync}, (*buffers)[0], (*buffers)[1],
                        edge, edge);
  };
  expect_each(prepared, out, [=](std::size_t i) { return a[i] + a[i] + a[i] + 1; });
  return prepared;
}

/// Element `i` of the answer is that of place `kFirst + kStep * i`; a negative step counts from the end.
template <int kStep, std::uint64_t kFirst = 0>
Result<Prepared> prepare_index(const OpenDevice& device, const Choices& choices) {
  constexpr std::uint64_t kWidth = kStep < 0 ? 1 : kStep;
  const auto grid = choose_grid_without_slm(choices, 1 << 16, kTogether, kLargestCount / kWidth);
  if (!grid) return tl::unexpected(grid.error());
  auto shared = share<std::uint32_t, 2>(device, {grid->n * kWidth + kFirst, grid->n});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const Words a = (*buffers)[0].span<std::uint32_t>(),
              out = (*buffers)[1].span<std::uint32_t>().first(grid->n);
  std::mt19937 random(choices.seed);
  fill_random(a, random);
  const auto place = [n = grid->n](std::uint64_t i) { return kStep < 0 ? n - 1 - i : kFirst + i * kWidth; };
  std::vector<std::uint64_t> touched;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(kTogether, grid->n); ++i) touched.push_back(place(i));

  Prepared prepared = prepared_on(*grid);
  prepared.bytes = 2.0 * static_cast<double>(out.size_bytes());
  prepared.predicted = {{kLines, lines_of(touched), Counter::lines}};
  prepared.launch = [=, n = grid->n, shape = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                             Sync sync) {
    return kiln::launch(list, kernel, {shape.groups, shape.group_size, sync}, (*buffers)[0], (*buffers)[1],
                        n);
  };
  expect_each(prepared, out, [=](std::size_t i) { return a[place(i)]; });
  return prepared;
}

/// A copy of --size elements of T, `kShift` bytes behind the beginning of the buffers.
template <class T, std::uint32_t kShift = 0>
Result<Prepared> prepare_copy(const OpenDevice& device, const Choices& choices) {
  const auto grid = choose_grid_without_slm(choices, 1 << 20, 256);
  if (!grid) return tl::unexpected(grid.error());
  const std::uint64_t bytes = std::uint64_t{grid->n} * sizeof(T);
  auto shared = share<std::byte, 2>(device, {bytes + kShift + 1, bytes + kShift + 1});
  if (!shared) return tl::unexpected(std::move(shared).error());
  const auto buffers = *shared;
  const auto in = (*buffers)[0].span<std::uint8_t>().first(bytes + kShift + 1);
  const auto out = (*buffers)[1].span<std::uint8_t>().first(bytes + kShift + 1);
  std::mt19937 random(choices.seed);
  fill_random(in, random);

  Prepared prepared = prepared_on(*grid);
  prepared.bytes = 2.0 * static_cast<double>(bytes);
  prepared.launch = [=, n = grid->n, shape = prepared.shape](CommandListRef list, const CheckedKernel& kernel,
                                                             Sync sync) {
    const Launch what{shape.groups, shape.group_size, sync};
    if (kShift == 0) return kiln::launch(list, kernel, what, (*buffers)[0], (*buffers)[1], n);
    return kiln::launch(list, kernel, what, (*buffers)[0], (*buffers)[1], n, kShift);
  };
  // The bytes before and behind the copy must stay as they were.
  expect_each(prepared, out,
              [=](std::size_t i) { return i < kShift || i >= kShift + bytes ? std::uint8_t{0xa5} : in[i]; });
  return prepared;
}

}  // namespace

std::span<const Sample> access_patterns() {
  static constexpr std::array kSamples{
      Sample{"access.work_group_shape_row", "access", "work_group_shape",
             "groups of 16 x 1 on a square of edge --size: 1 cache line for 16 reads", prepare_shape<16, 1>},
      Sample{"access.work_group_shape_square", "access", "work_group_shape", "groups of 4 x 4: 4 lines",
             prepare_shape<4, 4>},
      Sample{"access.work_group_shape_column", "access", "work_group_shape", "groups of 1 x 16: 16 lines",
             prepare_shape<1, 16>},
      Sample{"access.index_function_1", "access", "index_function_1", "16 reads of a[i]: 1 cache line",
             prepare_index<1>},
      Sample{"access.index_function_2", "access", "index_function_2", "16 reads of a[i + 1]: 2 lines",
             prepare_index<1, 1>},
      Sample{"access.index_function_3", "access", "index_function_3", "16 reads of a[size - 1 - i]: 1 line",
             prepare_index<-1>},
      Sample{"access.index_function_4", "access", "index_function_4", "16 reads of a[i * 4]: 4 lines",
             prepare_index<4>},
      Sample{"access.index_function_5", "access", "index_function_5", "16 reads of a[i * 16]: 16 lines",
             prepare_index<16>},
      Sample{"access.index_function_6", "access", "index_function_6", "16 reads of a[i * 32]: 16 lines",
             prepare_index<32>},
      Sample{"access.narrow_8", "access", "narrow_8", "a copy with 8 bits an element",
             prepare_copy<std::uint8_t>},
      Sample{"access.narrow_16", "access", "narrow_16", "a copy with 16 bits an element",
             prepare_copy<std::uint16_t>},
      Sample{"access.narrow_32", "access", "narrow_32", "a copy with 32 bits an element, which is best",
             prepare_copy<std::uint32_t>},
      Sample{"access.narrow_unaligned", "access", "narrow_unaligned",
             "a copy with 32 bits an element at odd addresses", prepare_copy<std::uint32_t, 1>}};
  return kSamples;
}

}  // namespace kiln::samples
