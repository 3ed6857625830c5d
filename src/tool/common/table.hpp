// SPDX-License-Identifier: MIT
// Tables on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tool/common/terminal.hpp"

namespace kiln::tool {

/// Prints rows of equal length, the first `names` columns to the left and the numbers behind to the right,
/// `indent` blanks before each line. On a terminal that is too narrow the widest names are cut at blanks, and
/// a row takes several lines; `paint` colours cells below the first row.
using CellPaint = Paint (*)(std::size_t column, std::string_view cell);
void print_table(std::vector<std::vector<std::string>> rows, std::size_t names, std::size_t indent = 0,
                 CellPaint paint = nullptr);

/// The widths of the columns, the first `names` made narrower until a row has no more than `most` columns (0:
/// any), as far as that goes. Pure.
[[nodiscard]] std::vector<std::size_t> narrowed(std::vector<std::size_t> widths, std::size_t names,
                                                std::size_t most);

}  // namespace kiln::tool
