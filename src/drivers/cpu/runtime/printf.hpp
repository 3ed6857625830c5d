// SPDX-License-Identifier: MIT
// printf of kernels: the packed operands that compiled code hands over, and the host's formatter.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kiln::cpu {

enum class PrintfKind : std::uint8_t { integer, real, pointer };

/// The word before an operand's elements, each of which takes eight bytes: integers zero-extended, reals as
/// double.
constexpr std::uint64_t printf_tag(PrintfKind kind, unsigned element_bytes, unsigned lanes) {
  return static_cast<std::uint64_t>(kind) | std::uint64_t{element_bytes} << 8 | std::uint64_t{lanes} << 16;
}

/// The text of one call. Operands that do not fit the format, or are missing, print as "(?)".
std::string format_printf(const char* format, std::span<const std::uint64_t> words);

}  // namespace kiln::cpu

/// Called by compiled code; writes the text to stdout in one piece.
extern "C" std::int32_t kiln_printf(const char* format, const std::uint64_t* words, std::uint64_t count);
