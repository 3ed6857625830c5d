// SPDX-License-Identifier: MIT
// The files of a command, and what ocloc makes of them.
#pragma once

#include "offline/fit/parts.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {

using offline::codes_of;
using offline::default_targets;
using offline::OpenClSource;
using offline::Part;
using offline::PartSet;
using offline::read_files;

/// offline::compile_missing() with its progress on a terminal, and messages that name options of the command.
void compile_missing(PartSet& set, const std::vector<const Target*>& targets, const std::string& options,
                     std::chrono::milliseconds time_limit);

}  // namespace kiln::tool
