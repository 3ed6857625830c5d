// SPDX-License-Identifier: MIT
// Checks of single operands that the validator leaves open and the translator takes for granted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kiln::cpu {

/// Words of the literal string that `words` begins with; 0 when that is none.
std::size_t string_words(std::span<const std::uint32_t> words);

/// What is wrong with the literals of the instruction `words`; empty when nothing is.
std::string_view operand_fault(std::span<const std::uint32_t> words);

}  // namespace kiln::cpu
