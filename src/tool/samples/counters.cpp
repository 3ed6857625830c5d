// SPDX-License-Identifier: MIT
// Looks up in counters what samples predict.
#include "tool/samples/counters.hpp"

#include <algorithm>

namespace kiln::tool {
namespace {

std::uint64_t accesses_of(const Counters& counters, const auto& wanted) {
  std::uint64_t sum = 0;
  for (const InstructionCount& each : counters.instructions)
    if (wanted(each)) sum += each.accesses;
  return sum;
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
  const auto reads_argument = [&](const InstructionCount& each) {
    return each.at.kind == AccessKind::read &&
           each.argument == static_cast<std::uint32_t>(predicted.argument);
  };
  switch (predicted.count) {
    case Counter::none:
      return std::nullopt;
    case Counter::reads:
      return accesses_of(counters, reads_argument) / launches;
    case Counter::lines:
      return most_of(counters, &AccessExample::lines, reads_argument);
    case Counter::slm_turns:
      return most_of(counters, &AccessExample::turns, is(AccessKind::read, MemorySpace::slm));
    case Counter::global_atomics:
      return accesses_of(counters, is(AccessKind::atomic, MemorySpace::global)) / launches;
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
