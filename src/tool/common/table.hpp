// SPDX-License-Identifier: MIT
// Tables on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kiln::tool {

/// Prints rows of equal length, the first `names` columns to the left and the numbers behind to the right,
/// `indent` blanks before each line.
void print_table(std::vector<std::vector<std::string>> rows, std::size_t names, std::size_t indent = 0);

}  // namespace kiln::tool
