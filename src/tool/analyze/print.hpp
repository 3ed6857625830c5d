// SPDX-License-Identifier: MIT
// An analysis as text and as JSON.
#pragma once

#include "tool/analyze/measures.hpp"

namespace kiln::tool {

void print_kernel(const AnalyzedKernel& kernel, bool disassemble);
void print_comparison(const Comparison& comparison);

[[nodiscard]] Json to_json(const AnalyzedKernel& kernel, bool disassemble);
[[nodiscard]] Json to_json(const Change& change);

}  // namespace kiln::tool
