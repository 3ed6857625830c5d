// SPDX-License-Identifier: MIT
// Standard output that is not lost in silence.
#pragma once

#include <string>

#include "kiln/result.hpp"

namespace kiln::cli {

/// Opens what the caller closed of standard input, output and error, in a way that refuses use: else the next
/// file, an entry of the cache perhaps, would have its number and get what is printed. Before anything else
/// is opened.
void keep_standard_files();

/// Writes out what was printed. Where that fails, says so on stderr (K0411), and gives another status than
/// 0. A reader that went away (`| head`) had enough: nothing is said.
[[nodiscard]] int finish_output(int status);

/// K0411.
[[nodiscard]] Error unwritable_output(std::string reason);

}  // namespace kiln::cli
