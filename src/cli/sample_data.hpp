// SPDX-License-Identifier: MIT
// Input data and comparison that the samples share.
#pragma once

#include <memory>
#include <random>

#include "cli/samples.hpp"

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
