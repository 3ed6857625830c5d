// SPDX-License-Identifier: MIT
// Runs the work-items of a group as fibers, which meet at barriers and group functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cpu_driver/program/fiber_stacks.hpp"
#include "cpu_driver/program/work_item.hpp"

namespace kiln::cpu {

/// Runs the work-items of one group. The stacks must be reserved for all of them. Empty when all of them came
/// to their end; else who waits where for whom, because no more of them can go on.
std::string run_fiber_group(ItemEntry entry, const GroupState& group, const std::byte* arguments,
                            FiberStacks& stacks, std::uint32_t sub_group_size);

/// Calls run(group, arguments) on stack 0 instead of this thread's own, which may be too small.
void run_on_stack(GroupEntry entry, const GroupState& group, const std::byte* arguments, FiberStacks& stacks);

}  // namespace kiln::cpu
