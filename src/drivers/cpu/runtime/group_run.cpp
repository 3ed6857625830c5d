// SPDX-License-Identifier: MIT
// Memory for the items of a group, whether they wait at the same place, and what they exchange there.
#include "drivers/cpu/runtime/group_run.hpp"

#include <algorithm>
#include <new>
#include <numeric>
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

bool kiln_add_deferred(kiln::cpu::GroupState* group, std::uint32_t* line, const std::uint32_t* values) {
  kiln::cpu::DeferredAdditions* const deferred = static_cast<GroupRun&>(*group).deferred;
  return deferred != nullptr && deferred->add(line, values);
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

void kiln_exchange(kiln::cpu::GroupState* group, std::uint64_t what, std::byte* values, std::uint64_t stride,
                   const std::uint64_t* parameters, std::uint64_t parameter, kiln::cpu::Combine combine,
                   std::uint64_t members) {
  auto& run = static_cast<GroupRun&>(*group);
  const std::uint64_t* size = group->launch->local_size;
  const std::uint64_t items = size[0] * size[1] * size[2];
  const std::uint64_t most = members == 0 ? items : std::min(members, items);
  if (kiln::cpu::combine_all({what, values, parameter, combine}, items, most, stride)) return;
  try {
    run.waits.resize(std::max(run.waits.size(), most));
    run.members.resize(run.waits.size());
  } catch (const std::bad_alloc&) {
    run.out_of_memory = true;
    return;
  }
  std::iota(run.members.begin(), run.members.begin() + static_cast<std::ptrdiff_t>(most), 0U);
  for (std::uint64_t first = 0; first < items; first += most) {
    const std::uint64_t count = std::min(most, items - first);
    for (std::uint64_t i = 0; i < count; ++i)
      run.waits[i] = {what, values + (first + i) * stride,
                      parameters == nullptr ? parameter : parameters[first + i], combine};
    run_collective(std::span(run.waits).first(count), std::span(run.members).first(count));
  }
}
