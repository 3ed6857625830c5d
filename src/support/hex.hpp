// SPDX-License-Identifier: MIT
// Bytes as digits.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace kiln {

/// Two lower-case hexadecimal digits a byte.
inline std::string hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(2 * bytes.size(), '\0');
  char* next = text.data();
  for (const std::byte byte : bytes) {
    *next++ = kDigits[std::to_integer<unsigned>(byte) >> 4];
    *next++ = kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

}  // namespace kiln
