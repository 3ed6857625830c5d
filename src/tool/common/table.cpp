// SPDX-License-Identifier: MIT
// Columns as wide as their widest cell.
#include "tool/common/table.hpp"

#include <algorithm>

#include "support/printable.hpp"
#include "tool/common/output.hpp"
#include "tool/common/wrap.hpp"

namespace kiln::tool {

void print_table(std::vector<std::vector<std::string>> rows, std::size_t names, std::size_t indent) {
  for (auto& row : rows)
    for (std::string& cell : row) cell = detail::printable(cell);
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - columns(row[i]), ' ');
      line += (i ? "  " : "") + (i < names ? row[i] + blanks : blanks + row[i]);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    say("%s\n", line.c_str());
  }
}

}  // namespace kiln::tool
