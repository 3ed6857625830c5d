// SPDX-License-Identifier: MIT
// Runs the work-items of a group as fibers, which meet at barriers and group functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "drivers/cpu/runtime/fibers/fiber_stacks.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {

class FiberGroup;

/// One work-group of a kernel with barriers of the grid: it is left at each of them and goes on later, also
/// on another thread. The stacks are reserved for all items and belong to it alone.
class HeldGroup {
 public:
  HeldGroup(ItemEntry entry, const GroupState& group, const std::byte* arguments, FiberStacks& stacks,
            std::uint32_t sub_group_size);
  ~HeldGroup();
  HeldGroup(const HeldGroup&) = delete;
  HeldGroup& operator=(const HeldGroup&) = delete;

  enum class State { waits, ended, hangs };
  /// Up to the next barrier of the grid, or the end.
  State go_on();
  /// Who waits where, when it hangs.
  [[nodiscard]] std::string report();

 private:
  std::unique_ptr<FiberGroup> fibers_;
};

/// Runs the work-items of one group. The stacks must be reserved for all of them. Empty when all of them came
/// to their end; else who waits where for whom, because no more of them can go on.
std::string run_fiber_group(ItemEntry entry, const GroupState& group, const std::byte* arguments,
                            FiberStacks& stacks, std::uint32_t sub_group_size);

/// Calls run(group, arguments) on stack 0 instead of this thread's own, which may be too small.
void run_on_stack(GroupEntry entry, const GroupState& group, const std::byte* arguments, FiberStacks& stacks);

}  // namespace kiln::cpu
