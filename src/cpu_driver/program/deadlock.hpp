// SPDX-License-Identifier: MIT
// Where the work-items of a group wait, and the words for a group that cannot go on.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cpu_driver/program/meeting.hpp"
#include "cpu_driver/program/work_item.hpp"

namespace kiln::cpu {

/// The place of a work-item: ready to run, ended, or the site of a meeting; that of a work-group's meeting
/// has the upper bit set.
inline constexpr std::uint32_t kReady = 0, kEnded = ~0u, kGroupPlace = 1u << 31;

/// Names the items that wait at each place and those that have ended. One place for each item, and for those
/// that wait what they wait for.
std::string describe_deadlock(const GroupState& group, std::span<const std::uint32_t> places,
                              std::span<const Wait> waits);

}  // namespace kiln::cpu
