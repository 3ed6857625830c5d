// SPDX-License-Identifier: MIT
// Reads `.ze_info` line by line: indentation, key, value or list in brackets.
#include "binary/ze_info_lines.hpp"

#include <algorithm>

namespace kiln::detail {
namespace {

constexpr std::size_t kMostItems = 16;  // in brackets; compilers write three

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// A word, a number, or text in quotes without quotes in it.
bool is_scalar(std::string_view text) {
  if (text.empty()) return false;
  for (const char quote : {'\'', '"'})
    if (text.front() == quote)
      return text.size() > 1 && text.back() == quote &&
             text.substr(1, text.size() - 2).find_first_of("'\"\\") == text.npos;
  return text.find_first_of("[]{},:#'\"&*!|>%@`") == text.npos && !text.starts_with("- ") && text != "-";
}

bool is_list(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
  text = text.substr(1, text.size() - 2);
  if (static_cast<std::size_t>(std::ranges::count(text, ',')) >= kMostItems) return false;
  for (;;) {
    const auto comma = text.find(',');
    const std::string_view item = trimmed(text.substr(0, comma));
    const bool word =
        !item.empty() && std::ranges::all_of(item, [](char c) { return is_letter(c) || is_digit(c); });
    if (!word) return false;
    if (comma == text.npos) return true;
    text.remove_prefix(comma + 1);
  }
}

struct Line {
  bool regular = false;
  bool plain_entry = false;  ///< of a list, without a key: nothing may lie below it
};

/// `text` without its indentation.
Line read(std::string_view text) {
  if (text.starts_with('#') || text == "---" || text == "...") return {true};
  const bool entry = text.starts_with("- ");
  if (entry) text = trimmed(text.substr(2));
  const auto colon = text.find(':');
  const std::string_view key = trimmed(text.substr(0, colon));
  const bool has_key = colon != text.npos && !key.empty() && is_letter(key.front()) &&
                       std::ranges::all_of(key, [](char c) { return is_letter(c) || is_digit(c); });
  if (!has_key) return {entry && is_scalar(text), true};
  const std::string_view value = trimmed(text.substr(colon + 1));
  if (value.empty()) return {!entry};
  return {is_scalar(value) || (!entry && is_list(value))};
}

}  // namespace

std::optional<std::size_t> irregular_line(std::string_view text) {
  // Padding behind the text is no part of it.
  text = text.substr(0, text.find_last_not_of('\0') + 1);
  std::size_t deepest = text.npos;  // columns that the next line may be indented by
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    const bool printable =
        std::ranges::all_of(line, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; });
    if (!printable) return start;
    if (const auto indent = line.find_first_not_of(' '); indent != line.npos) {
      const Line read_line = read(trimmed(line));
      if (!read_line.regular || indent > deepest) return start;
      deepest = read_line.plain_entry ? indent : text.npos;
    }
    start = end + 1;
  }
  return std::nullopt;
}

}  // namespace kiln::detail
