// SPDX-License-Identifier: MIT
// Compilation of a command's files, as whoever runs the command sees it.
#include "tool/check/parts.hpp"

#include "tool/common/parallel.hpp"

namespace kiln::tool {

void compile_missing(PartSet& set, const std::vector<const Target*>& targets, const std::string& options,
                     std::chrono::milliseconds time_limit) {
  offline::compile_missing(set, targets, options, time_limit, shown_work("compiling"));
  for (auto& [file, failure] : set.failures) failure.diagnostic = in_options(std::move(failure.diagnostic));
  for (Error& error : set.errors)
    if (error.diagnostic()) error = Error(error.code(), error.call(), in_options(*error.diagnostic()));
}

}  // namespace kiln::tool
