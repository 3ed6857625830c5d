// SPDX-License-Identifier: MIT
// Launches whose work-groups wait for each other: from one barrier of the grid to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "drivers/cpu/program.hpp"
#include "drivers/cpu/runtime/launch_limit.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {

struct GridResult {
  bool out_of_memory = false;
  std::string report;  ///< who waits for whom, or what was called, when the launch is stopped
};

/// Runs all groups up to a barrier of the grid, in parallel, then on from there: no thread waits, so that
/// there may be more groups than threads. Each group keeps its stacks and SLM until the launch ends.
GridResult run_grid(const Execution& execution, const LaunchState& state, const std::byte* arguments,
                    std::uint64_t slm_bytes, LaunchLimit& limit);

}  // namespace kiln::cpu
