// SPDX-License-Identifier: MIT
// What ocloc's front end, which is clang, says of places in a source.
#pragma once

#include <string_view>

#include "offline/ocloc.hpp"

namespace kiln::offline {

/// The front end reads the source from memory, and calls it "1": the line with `file` in its place. Pure.
[[nodiscard]] std::string with_file(std::string line, const std::string& file);

/// The lines `FILE:LINE:COLUMN: warning: TEXT` and their kin. Pure.
[[nodiscard]] std::vector<CompilerMessage> read_messages(std::string_view said, const Compilation& source);

/// Adds messages to others; what is said for several targets is there once. Pure.
void add_messages(std::vector<CompilerMessage>& all, std::vector<CompilerMessage> more);

}  // namespace kiln::offline
