// SPDX-License-Identifier: MIT
// Looks up in counters what samples predict.
#include "tool/samples/counters.hpp"

#include <algorithm>

namespace kiln::tool {
namespace {

std::uint64_t sum_of(const Counters& counters, std::uint64_t InstructionCount::*count, const auto& wanted) {
  std::uint64_t sum = 0;
  for (const InstructionCount& each : counters.instructions)
    if (wanted(each)) sum += each.*count;
  return sum;
}

/// Bytes of the widest access that can be made of what a work-item accesses side by side.
std::uint64_t most_joined(const Counters& counters, const auto& wanted) {
  std::uint64_t most = 0;
  for (const InstructionCount& each : counters.instructions)
    if (wanted(each)) most = std::max(most, each.neighbour_bytes);
  return most;
}

/// Work-items that make one access together, by its example.
std::uint64_t most_lanes(const Counters& counters, const auto& wanted) {
  std::uint64_t most = 0;
  for (const InstructionCount& each : counters.instructions)
    if (wanted(each) && each.example) most = std::max<std::uint64_t>(most, each.example->lanes.size());
  return most;
}

/// The most that one access of a sub-group took, by its example.
std::uint64_t most_of(const Counters& counters, std::uint64_t AccessExample::*cost, const auto& wanted) {
  std::uint64_t most = 0;
  for (const InstructionCount& each : counters.instructions)
    if (wanted(each) && each.example) most = std::max(most, *each.example.*cost);
  return most;
}

}  // namespace

std::optional<std::uint64_t> counted(const Counters& counters, const samples::Predicted& predicted) {
  using samples::Counter;
  const std::uint64_t launches = std::max(counters.launches, std::uint64_t{1});
  const auto is = [](AccessKind kind, MemorySpace memory) {
    return [=](const InstructionCount& each) { return each.at.kind == kind && each.memory == memory; };
  };
  const auto of_argument = [&](AccessKind kind) {
    return [=, argument = static_cast<std::uint32_t>(predicted.argument)](const InstructionCount& each) {
      return each.at.kind == kind && each.argument == argument;
    };
  };
  const auto accesses = [&](const auto& wanted) {
    return sum_of(counters, &InstructionCount::accesses, wanted) / launches;
  };
  const auto slm_reads = is(AccessKind::read, MemorySpace::slm),
             slm_writes = is(AccessKind::write, MemorySpace::slm);
  switch (predicted.count) {
    case Counter::none:
      return std::nullopt;
    case Counter::reads:
      return accesses(of_argument(AccessKind::read));
    case Counter::lines:
      return most_of(counters, &AccessExample::lines, of_argument(AccessKind::read));
    case Counter::written_lines:
      return most_of(counters, &AccessExample::lines, of_argument(AccessKind::write));
    case Counter::read_width:
      return most_joined(counters, of_argument(AccessKind::read));
    case Counter::lanes:
      return most_lanes(counters, of_argument(AccessKind::read));
    case Counter::slm_turns:
      return most_of(counters, &AccessExample::turns, slm_reads);
    case Counter::global_reads:
      return accesses(is(AccessKind::read, MemorySpace::global));
    case Counter::global_writes:
      return accesses(is(AccessKind::write, MemorySpace::global));
    case Counter::global_atomics:
      return accesses(is(AccessKind::atomic, MemorySpace::global));
    case Counter::slm_reads:
      return accesses(slm_reads);
    case Counter::slm_writes:
      return accesses(slm_writes);
    case Counter::slm_read_width:
      return most_joined(counters, slm_reads);
    case Counter::slm_writes_together:
      return sum_of(counters, &InstructionCount::sub_group_accesses, slm_writes) / launches;
  }
  return std::nullopt;
}

Json to_json(const Counters& counters) { return Json::parse(counters.json).value_or(Json()); }

Json defects_json(const Counters& counters) {
  Json list = Json::array();
  for (const Defect& defect : counters.defects)
    list.push_back(Json::parse(to_json(to_diagnostic(counters, defect))).value());
  return list;
}

}  // namespace kiln::tool
