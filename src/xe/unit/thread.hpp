// SPDX-License-Identifier: MIT
// A hardware thread while it runs: registers, which lanes go on where, and how it ended.
#pragma once

#include <array>
#include <bit>
#include <cfenv>
#include <string>

#include "xe/unit/machine.hpp"
#include "xe/unit/op.hpp"

namespace kiln::xe {

class Memory;
struct GroupState;

enum class Stop : std::uint8_t { no, ended, barrier, fault };

struct Thread {
  Registers registers;
  std::uint32_t pc = 0, next = 0;
  std::uint32_t active = 0;   ///< lanes that execute
  std::uint32_t waiting = 0;  ///< lanes that wait for the instruction in `place`
  std::array<std::uint32_t, kMostLanes> place;
  Stop stop = Stop::no;
  std::uint32_t register_bytes = 32, general_bytes = 4096;
  std::uint32_t dispatch_mask = 0, number = 0, index = 0;
  bool flush_f = true, flush_df = true, flush_hf = true;  ///< denormals are zeros
  std::array<std::uint32_t, 32> waits_for{};  ///< of each barrier: the generation that lets it go on
  std::uint32_t waits_at = 0;                 ///< the barrier it stands at
  std::uint64_t left = 0;                     ///< instructions before it is looked at
  std::uint64_t left_behind = 0;              ///< and those behind, before it counts as hanging
  Memory* memory = nullptr;
  GroupState* group = nullptr;
  Fault* fault = nullptr;
  Counts::Each* counts = nullptr;  ///< of the instruction at hand; null: nothing is counted

  /// Lanes of the op that execute, from bit 0, without its predicate.
  [[nodiscard]] std::uint32_t channels(const Op& op) const {
    return op.all ? op.lane_mask : (active >> op.first) & op.lane_mask;
  }

  /// The predicate's bits for the op's lanes, from bit 0.
  [[nodiscard]] std::uint32_t predicate(const Op& op) const {
    const std::uint32_t bits = registers.flag[op.flag] >> op.flag_shift;
    if (op.group == 1) return (op.inverted ? ~bits : bits) & op.lane_mask;
    return grouped_predicate(op);
  }
  [[nodiscard]] std::uint32_t grouped_predicate(const Op& op) const;

  /// Lanes that write.
  [[nodiscard]] std::uint32_t mask(const Op& op) const {
    std::uint32_t mask = channels(op);
    if (op.predicated && !op.selects) mask &= predicate(op);
    return mask;
  }

  void set_flags(const Op& op, std::uint32_t bits, std::uint32_t mask) {
    std::uint32_t& flag = registers.flag[op.condition_flag];
    flag = (flag & ~(mask << op.condition_shift)) | ((bits & mask) << op.condition_shift);
  }

  void fail(Fault::Kind kind, std::string text, int lane = -1, std::uint64_t address = 0);
  /// Lanes that wait for the instruction at `pc` go on.
  void wake();
  /// Puts cr0 into effect: rounding of the host's thread, denormals.
  void take_control();
};

}  // namespace kiln::xe
