// SPDX-License-Identifier: MIT
// Memory for the items of a group, and whether they wait at the same place.
#include "drivers/cpu/runtime/group_run.hpp"

#include <span>
#include <vector>

#include "drivers/cpu/runtime/deadlock.hpp"

using kiln::cpu::GroupRun;

std::byte* kiln_item_memory(kiln::cpu::GroupState* group, std::uint64_t bytes) {
  auto& run = static_cast<GroupRun&>(*group);
  std::byte* memory = run.memory->reserve(bytes);
  if (memory == nullptr) run.out_of_memory = true;
  return memory;
}

std::uint32_t kiln_agree(kiln::cpu::GroupState* group, const std::uint32_t* places) {
  const std::uint64_t* size = group->launch->local_size;
  const std::span all(places, size[0] * size[1] * size[2]);
  std::uint32_t difference = 0;
  for (const std::uint32_t place : all) difference |= place ^ all[0];
  if (difference == 0) return all[0];
  const std::vector<kiln::cpu::Wait> waits(all.size());  // barriers bring nothing
  static_cast<GroupRun&>(*group).report = kiln::cpu::describe_deadlock(*group, all, waits);
  return kiln::cpu::kReady;
}
