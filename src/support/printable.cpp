// SPDX-License-Identifier: MIT
// Makes text safe for terminals: one code point after the other, by the strict rules of UTF-8.
#include "support/printable.hpp"

#include <cstdint>
#include <cstdio>

namespace kiln::detail {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0: this is not UTF-8
};

/// The first of `text`, which is not empty: shortest form, no surrogates, none above 10FFFF.
CodePoint first(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return {};
  char32_t value = byte(0) & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (byte(i) >> 6 != 2) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[bytes] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return {};
  return {value, bytes};
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

/// Marks, embeddings, overrides and isolates of direction, and the separators of lines and paragraphs.
bool is_misleading(char32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

template <class Number>
void append(std::string& shown, const char* format, Number number) {
  char text[16];
  std::snprintf(text, sizeof text, format, static_cast<unsigned>(number));
  shown += text;
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = first(text);
    const std::size_t bytes = point.bytes ? point.bytes : 1;
    if (point.bytes == 1 && kept.find(text[0]) != kept.npos)
      shown += text[0];
    else if (point.bytes == 0 || (is_control(point.value) && bytes == 1))
      append(shown, "\\x%02x", static_cast<std::uint8_t>(text[0]));
    else if (is_control(point.value) || is_misleading(point.value))
      append(shown, "\\u{%x}", point.value);
    else
      shown += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return shown;
}

}  // namespace kiln::detail
