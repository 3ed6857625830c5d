// SPDX-License-Identifier: MIT
// A description file: a kernel, its arguments and what is expected, to be run again and again.
#pragma once

#include "tool/common/session.hpp"

namespace kiln::tool {

/// Is it one by its name: .yaml or .yml?
[[nodiscard]] bool is_case_file(const std::string& path);

/// K0433: what is wrong, and in which line (0: not known).
[[nodiscard]] Error bad_case(const std::string& path, std::size_t line, std::string message,
                             std::vector<std::string> help);

/// The options that the description stands for, where `options`, the command line's, do not say otherwise.
/// Files that it names are looked for from its own folder, those of `options` from the current one. `path` is
/// for messages and for that folder. Error: K0433. Pure.
[[nodiscard]] Result<RunOptions> parse_case(std::string_view text, const std::string& path,
                                            RunOptions options);

/// The same of a file. Errors: K0201, K0433.
[[nodiscard]] Result<RunOptions> read_case(RunOptions options);

}  // namespace kiln::tool
