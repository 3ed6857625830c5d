// SPDX-License-Identifier: MIT
// What the CPU device counts of a kernel: reading it, holding it against predictions, and defects as
// diagnostics.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "tool/samples/samples.hpp"

namespace kiln::tool {

/// How a bundle is loaded when the CPU device shall count, and look for defects: made for it, of SPIR-V.
[[nodiscard]] inline BundleOptions counted_build() { return {.flags = "-kiln-counters", .only_spirv = true}; }

/// K0409 for another device than the CPU device: nothing else counts.
[[nodiscard]] Result<void> can_count(const OpenDevice& device);

/// The counters of a kernel that was built with the flag, over its launches since the last call. Form:
/// docs/counters.md.
[[nodiscard]] Result<nlohmann::ordered_json> read_counters(const OpenDevice& device, KernelRef kernel);

/// What was counted of that which a sample predicts, for one launch; nothing when it cannot be counted.
[[nodiscard]] std::optional<std::uint64_t> counted(const nlohmann::ordered_json& counters,
                                                   const samples::Predicted& predicted);

/// A defect of the counters: K0801 to K0804.
[[nodiscard]] Diagnostic defect_diagnostic(const nlohmann::ordered_json& counters,
                                           const nlohmann::ordered_json& defect);

/// All defects, as diagnostics.
[[nodiscard]] nlohmann::ordered_json defects_json(const nlohmann::ordered_json& counters);
void print_defects(const nlohmann::ordered_json& counters);

/// Totals and instructions as tables.
void print_counters(const nlohmann::ordered_json& counters);

}  // namespace kiln::tool
