// SPDX-License-Identifier: MIT
// `kiln analyze … --executed RUN.json`: what a simulated GPU executed of a kernel, beside what its code says.
#pragma once

#include <string>
#include <vector>

#include "tool/analyze/kernels.hpp"

namespace kiln::tool {

/// Gives the kernel that ran its counts: the one for the run's product whose code has each instruction that
/// the run has, at the same place. `run`: the JSON of one `kiln run … --device sim:PRODUCT --counters
/// --json`. Kernels must have been analyzed with their text. Error: K0445.
[[nodiscard]] Result<void> add_executed(const Json& run, const std::string& file,
                                        std::vector<AnalyzedKernel>& kernels);

/// K0445. `rows`: what the run and the code have where they differ. Pure.
[[nodiscard]] Diagnostic unusable_counts(const std::string& file, const std::string& reason,
                                         std::vector<DiagnosticRow> rows = {});

/// Sums over the kernel's instructions; all zeros where nothing of it was executed. Pure.
[[nodiscard]] ExecutedCount executed_of(const AnalyzedKernel& kernel, const xe::MixEntry& entry);
[[nodiscard]] ExecutedCount executed_of(const AnalyzedKernel& kernel, const xe::Message& message);
/// How often the loop's first instruction was executed, of all threads.
[[nodiscard]] std::uint64_t walks_of(const AnalyzedKernel& kernel, const xe::Loop& loop);

/// A message's cost: `lines`, or `turns` and `conflict_turns` of SLM. Pure.
[[nodiscard]] Json cost_json(const ExecutedCount& count, bool slm);

}  // namespace kiln::tool
