// SPDX-License-Identifier: MIT
// Columns as wide as their widest cell.
#include "tool/common/table.hpp"

#include <algorithm>

#include "support/printable.hpp"
#include "tool/common/output.hpp"
#include "tool/common/wrap.hpp"

namespace kiln::tool {

namespace {

constexpr std::size_t kLeastCell = 12, kBetween = 2;  // columns

}  // namespace

std::vector<std::size_t> narrowed(std::vector<std::size_t> widths, std::size_t names, std::size_t most) {
  std::size_t all = 0;
  for (const std::size_t width : widths) all += width + kBetween;
  names = std::min(names, widths.size());
  while (most && names && all > most + kBetween) {
    const auto widest = std::max_element(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(names));
    if (*widest <= kLeastCell) break;
    --*widest;
    --all;
  }
  return widths;
}

void print_table(std::vector<std::vector<std::string>> rows, std::size_t names, std::size_t indent,
                 CellPaint paint) {
  for (auto& row : rows)
    for (std::string& cell : row) cell = detail::printable(cell);
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  const std::size_t room = terminal_width(stdout);
  widths = narrowed(std::move(widths), names, room > indent ? room - indent : 0);
  for (const auto& row : rows) {
    std::vector<std::vector<Piece>> cells;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(wrap(row[i], widths[i], 0));
      lines = std::max(lines, cells.back().size());
    }
    for (std::size_t line = 0; line < lines; ++line) {
      std::size_t blanks = indent;  // before the next cell; none at the end of the line
      for (std::size_t i = 0; i < row.size(); ++i) {
        const Piece piece = line < cells[i].size() ? cells[i][line] : Piece{};
        const std::string text = row[i].substr(piece.begin, piece.end - piece.begin);
        const std::size_t rest = widths[i] - columns(text);
        if (i >= names) blanks += rest;
        if (!text.empty()) {
          say("%*s", static_cast<int>(blanks), "");
          say_painted(paint && &row != &rows.front() ? paint(i, text) : Paint::none, "%s", text.c_str());
          blanks = 0;
        }
        blanks += kBetween + (i < names ? rest : 0);
      }
      say("\n");
    }
  }
}

}  // namespace kiln::tool
