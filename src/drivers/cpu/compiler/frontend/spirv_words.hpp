// SPDX-License-Identifier: MIT
// A SPIR-V module as words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kiln::cpu {

using Words = std::span<const std::uint32_t>;

inline constexpr std::size_t kHeaderWords = 5;

/// What is behind the first ones; empty where there are no more.
inline Words from(Words words, std::size_t first) { return words.subspan(std::min(first, words.size())); }

}  // namespace kiln::cpu
