// SPDX-License-Identifier: MIT
// Where the work-items of a group wait, and the words for a group that cannot go on.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "drivers/cpu/runtime/collective.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {

/// The place of a work-item that waits nowhere: ready to run, or ended.
inline constexpr std::uint32_t kReady = 0, kEnded = ~0u;

/// Names the items that wait at each place and those that have ended. One place for each item, and for those
/// that wait what they wait for.
std::string describe_deadlock(const GroupState& group, std::span<const std::uint32_t> places,
                              std::span<const Wait> waits);

}  // namespace kiln::cpu
