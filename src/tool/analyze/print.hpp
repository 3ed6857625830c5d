// SPDX-License-Identifier: MIT
// An analysis as text and as JSON.
#pragma once

#include "tool/analyze/measures.hpp"

namespace kiln::tool {

void print_kernel(const AnalyzedKernel& kernel, bool disassemble);
void print_changes(const std::vector<Change>& changes, const std::vector<std::string>& unmatched);

[[nodiscard]] Json to_json(const AnalyzedKernel& kernel, bool disassemble);
[[nodiscard]] Json to_json(const Change& change);

}  // namespace kiln::tool
