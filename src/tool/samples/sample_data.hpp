// SPDX-License-Identifier: MIT
// Input data and comparison that the samples share.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>

#include "tool/samples/samples.hpp"

namespace kiln::samples {

/// Small whole numbers: their products and sums are exact in float, so that the answer does not hang on
/// rounding.
inline void fill_small(std::span<float> values, std::mt19937& random) {
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 17) - 8);
}

template <class T>
std::optional<Mismatch> first_difference(std::span<const T> got, std::span<const T> wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (got[i] != wanted[i]) return Mismatch{i, static_cast<double>(got[i]), static_cast<double>(wanted[i])};
  return std::nullopt;
}

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

/// Refuses what does not fit a kernel's 32-bit sizes, or makes no sense.
inline Result<std::uint32_t> whole(const char* what, std::uint64_t value, std::uint64_t least,
                                   std::uint64_t most) {
  if (value < least || value > most)
    return tl::unexpected(bad_choice(std::string(what) + " is out of range: " + std::to_string(value),
                                     "choose " + std::to_string(least) + " to " + std::to_string(most)));
  return static_cast<std::uint32_t>(value);
}

inline constexpr std::uint64_t kLargestCount = std::uint64_t{1} << 30;  // elements
inline constexpr std::uint64_t kLargestGroup = std::uint64_t{1} << 20;  // work-items; far above any device

/// Elements, work-items a group, and the groups that cover the elements. No elements: one group all the same,
/// whose work-items are all surplus, since a launch of no groups says nothing of a kernel.
struct Grid {
  std::uint32_t n = 0, group = 0, groups = 0;

  Grid(std::uint64_t elements, std::uint64_t items, std::uint64_t elements_a_group)
      : n(static_cast<std::uint32_t>(elements)),
        group(static_cast<std::uint32_t>(items)),
        groups(
            static_cast<std::uint32_t>(std::max<std::uint64_t>(1, divide_up(elements, elements_a_group)))) {}
};

/// One work-item an element, as the user chose, else of `size` elements in groups of `group`.
inline Result<Grid> choose_grid(const Choices& choices, std::uint64_t size, std::uint64_t group,
                                std::uint64_t most = kLargestCount) {
  const auto n = whole("--size", choices.size.value_or(size), 0, most);
  if (!n) return tl::unexpected(n.error());
  const auto items = whole("--group", choices.group.value_or(group), 1, kLargestGroup);
  if (!items) return tl::unexpected(items.error());
  return Grid(*n, *items, *items);
}

/// The same for kernels without `__local` arguments.
inline Result<Grid> choose_grid_without_slm(const Choices& choices, std::uint64_t size, std::uint64_t group,
                                            std::uint64_t most = kLargestCount) {
  if (choices.slm)
    return tl::unexpected(
        bad_choice("this kernel has no SLM whose size the host chooses", "leave --slm out"));
  return choose_grid(choices, size, group, most);
}

inline Prepared prepared_on(const Grid& grid) {
  Prepared prepared;
  prepared.shape = {{grid.groups}, {grid.group}};
  prepared.elements = grid.n;
  return prepared;
}

/// Before a run each element of the answer is one that no kernel leaves there by chance; after it, element i
/// must be wanted(i).
template <class T, class Wanted>
void expect_each(Prepared& prepared, std::span<T> out, Wanted wanted) {
  prepared.answer = std::as_bytes(out);
  prepared.reset = [out] { std::memset(out.data(), 0xa5, out.size_bytes()); };
  prepared.verify = [out, wanted]() -> std::optional<Mismatch> {
    for (std::size_t i = 0; i < out.size(); ++i)
      if (const T right = wanted(i); out[i] != right)
        return Mismatch{i, static_cast<double>(out[i]), static_cast<double>(right)};
    return std::nullopt;
  };
}

template <class T>
void fill_random(std::span<T> values, std::mt19937& random) {
  for (T& value : values) value = static_cast<T>(random());
}

/// Allocations for n elements of T each that stay alive with the sample; buffers share the arrays between
/// host and device.
template <class T, std::size_t N>
Result<std::shared_ptr<std::array<HostBuffer, N>>> share(const OpenDevice& device,
                                                         std::array<std::uint64_t, N> counts) {
  auto buffers = std::make_shared<std::array<HostBuffer, N>>();
  for (std::size_t i = 0; i < N; ++i) {
    auto buffer = device.context.get().allocate_shared(device.device,
                                                       std::max<std::uint64_t>(counts[i], 1) * sizeof(T));
    if (!buffer) return tl::unexpected(std::move(buffer).error());
    (*buffers)[i] = *std::move(buffer);
  }
  return buffers;
}

}  // namespace kiln::samples
