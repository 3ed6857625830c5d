// SPDX-License-Identifier: MIT
// Numbers in text, whole or not at all.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::detail {

/// The number that all of `digits` makes; nothing for anything else, or above 64 bits. Pure.
inline std::optional<std::uint64_t> parse_digits(std::string_view digits, int base = 10) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace kiln::detail
