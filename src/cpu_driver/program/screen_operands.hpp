// SPDX-License-Identifier: MIT
// Checks of single operands that the validator leaves open and the translator takes for granted.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kiln::cpu {

/// What is wrong with the literals of the instruction `words`; empty when nothing is.
std::string_view operand_fault(std::span<const std::uint32_t> words);

}  // namespace kiln::cpu
