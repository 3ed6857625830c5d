// SPDX-License-Identifier: MIT
// Comparisons and differences of pointers, which no translator before LLVM 17's reads, as those of numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kiln::cpu {

/// The module without OpPtrEqual, OpPtrNotEqual and OpPtrDiff; empty, with what is wrong in `fault`, when the
/// size of what a pointer points to is not known. Word counts and operand types must have been checked.
std::vector<std::uint32_t> with_pointers_as_numbers(std::span<const std::uint32_t> module,
                                                    std::string& fault);

}  // namespace kiln::cpu
