// SPDX-License-Identifier: MIT
// What the CPU device counts of a kernel: reading it, holding it against predictions, and defects as
// diagnostics.
#pragma once

#include <optional>

#include "support/json.hpp"
#include "tool/samples/samples.hpp"

namespace kiln::tool {

using detail::Json;

/// How a bundle is loaded when the CPU device shall count, and look for defects: made for it, of SPIR-V.
[[nodiscard]] inline BundleOptions counted_build() { return {.flags = "-kiln-counters", .only_spirv = true}; }

/// K0409 for another device than the CPU device: nothing else counts.
[[nodiscard]] Result<void> can_count(const OpenDevice& device);

/// The counters of a kernel that was built with the flag, over its launches since the last call. Form:
/// docs/counters.md.
[[nodiscard]] Result<Json> read_counters(const OpenDevice& device, KernelRef kernel);

/// What was counted of that which a sample predicts, for one launch; nothing when it cannot be counted.
[[nodiscard]] std::optional<std::uint64_t> counted(const Json& counters, const samples::Predicted& predicted);

/// A defect of the counters: K0801 to K0804.
[[nodiscard]] Diagnostic defect_diagnostic(const Json& counters, const Json& defect);

/// All defects, as diagnostics.
[[nodiscard]] Json defects_json(const Json& counters);
void print_defects(const Json& counters);

/// Totals and instructions as tables.
void print_counters(const Json& counters);

}  // namespace kiln::tool
