// SPDX-License-Identifier: MIT
// What samples predict, held against what the CPU device counted, and counters and defects as text and JSON.
#pragma once

#include <optional>

#include "kiln/counters.hpp"
#include "support/json.hpp"
#include "tool/samples/samples.hpp"

namespace kiln::tool {

using detail::Json;

/// What was counted of that which a sample predicts, for one launch; nothing when it cannot be counted.
[[nodiscard]] std::optional<std::uint64_t> counted(const Counters& counters,
                                                   const samples::Predicted& predicted);

/// As the device gave them.
[[nodiscard]] Json to_json(const Counters& counters);

/// All defects, as diagnostics.
[[nodiscard]] Json defects_json(const Counters& counters);
void print_defects(const Counters& counters);

/// Totals and instructions as tables.
void print_counters(const Counters& counters);

}  // namespace kiln::tool
