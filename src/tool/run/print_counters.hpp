// SPDX-License-Identifier: MIT
// Counters and findings on a terminal.
#pragma once

#include "tool/report/report.hpp"

namespace kiln::tool {

/// With their advice, as the page has it; where there are none, what was looked for.
void print_findings(const std::vector<Finding>& found, const ReportFacts& facts);

}  // namespace kiln::tool
