// SPDX-License-Identifier: MIT
// Draws allocations, and asks the driver for them without any check before.
#pragma once

#include <string>

#include "driver_agreement/plan.hpp"
#include "kiln/kiln.hpp"

namespace kiln::agreement {

[[nodiscard]] AllocationRequest draw_allocation(Draw& draw, const AllocationLimits& limits);

/// Frees what it was given.
[[nodiscard]] ze_result_t allocate_unchecked(const OpenDevice& device, const AllocationRequest& request);

/// "device 4096 64 relaxed" and back.
[[nodiscard]] std::string to_text(const AllocationRequest& request);
[[nodiscard]] AllocationRequest parse_allocation(const std::string& text);

}  // namespace kiln::agreement
