// SPDX-License-Identifier: MIT
// Cuts at the last blank that fits, and never inside a character.
#include "tool/common/wrap.hpp"

#include <algorithm>

namespace kiln::tool {
namespace {

constexpr std::size_t kLeastText = 16;  // columns that are left for text beside an indent

bool begins_character(char c) { return (c & 0xc0) != 0x80; }

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::size_t hanging_indent(std::string_view line) {
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  const std::string_view text = line.substr(start);
  if (text.starts_with("error[") || text.starts_with("warning[")) return start + 2;
  for (const std::string_view label : {"help: ", "note: ", "result: ", "cause: ", "known: "})
    if (text.starts_with(label)) return start + label.size();
  const auto blanks = text.find("  ");
  if (text.starts_with("= ")) {
    const auto colon = text.find(": ");
    if (colon == text.npos) return start + 2;
    const std::size_t value = std::min(text.find_first_not_of(' ', colon + 1), text.size());
    return columns(line.substr(0, start + value));
  }
  if (blanks == text.npos) return start;
  const std::size_t value = text.find_first_not_of(' ', blanks);
  return value == text.npos ? start : columns(line.substr(0, start + value));
}

std::vector<Piece> wrap(std::string_view line, std::size_t width, std::size_t indent) {
  std::vector<Piece> pieces;
  if (width == 0 || columns(line) <= width) return {{0, line.size(), 0}};
  if (indent + kLeastText > width) indent = 0;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t before = pieces.empty() ? 0 : indent;
    // The end of what fits, and the last blank before it behind which there is text.
    std::size_t end = begin, used = 0;
    while (end < line.size() && (used < width - before || !begins_character(line[end])))
      used += begins_character(line[end++]) ? 1 : 0;
    if (end < line.size()) {
      const auto text = line.find_first_not_of(' ', begin);
      const auto blank = line.rfind(' ', end);
      if (blank != line.npos && text != line.npos && blank > text) end = blank;
    }
    std::size_t last = end;
    while (last > begin && line[last - 1] == ' ') --last;
    pieces.push_back({begin, last, before});
    begin = std::min(line.find_first_not_of(' ', end), line.size());
  }
  return pieces;
}

}  // namespace kiln::tool
