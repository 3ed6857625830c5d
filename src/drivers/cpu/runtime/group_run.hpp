// SPDX-License-Identifier: MIT
// What a group entry with regions asks for while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "drivers/cpu/runtime/collective.hpp"
#include "drivers/cpu/runtime/deferred_additions.hpp"
#include "drivers/cpu/runtime/fibers/fiber_stacks.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {

/// One work-group; compiled code sees the GroupState.
struct GroupRun : GroupState {
  SlmBuffer* memory = nullptr;            ///< for what items keep across barriers
  DeferredAdditions* deferred = nullptr;  ///< null: what is added is added at once
  bool out_of_memory = false;
  std::string report;       ///< who waits where, when the group hangs
  std::vector<Wait> waits;  ///< those of one collective, and their places
  std::vector<std::uint32_t> members;
};

}  // namespace kiln::cpu

/// Memory for one group at a time, 128-byte aligned; null when it is short.
extern "C" std::byte* kiln_item_memory(kiln::cpu::GroupState* group, std::uint64_t bytes);
/// The place where all items of the group wait; kReady when they wait at different ones, for ever.
extern "C" std::uint32_t kiln_agree(kiln::cpu::GroupState* group, const std::uint32_t* places);
/// A collective that all items of the group have come to, each with its value (see Wait) `stride` bytes
/// behind that of the item before, and its parameter in `parameters`, or all with `parameter` where that is
/// null. Sub-groups have `members` items; 0: it is one of the work-group.
extern "C" void kiln_exchange(kiln::cpu::GroupState* group, std::uint64_t what, std::byte* values,
                              std::uint64_t stride, const std::uint64_t* parameters, std::uint64_t parameter,
                              kiln::cpu::Combine combine, std::uint64_t members);
/// DeferredAdditions::add for the thread that runs the group; false as well where a thread defers nothing.
extern "C" bool kiln_add_deferred(kiln::cpu::GroupState* group, std::uint32_t* line,
                                  const std::uint32_t* values);
