// SPDX-License-Identifier: MIT
// What `kiln check` was asked: targets, group sizes and counts, bytes of `__local` arguments.
#pragma once

#include "kiln/fit.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {

using CheckRequest = FitLaunch;

/// K0404, which stands for all that cannot be meant.
[[nodiscard]] Error check_usage(std::string message, std::vector<std::string> help);

/// Errors: K0404. Pure.
[[nodiscard]] Result<CheckRequest> parse_check_request(const CheckOptions& options);

/// The products that are known, as a table on stdout or as JSON.
void print_targets(bool json);

}  // namespace kiln::tool
