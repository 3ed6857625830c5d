// SPDX-License-Identifier: MIT
// What a thread does that no handler does alone: predicates over groups of lanes, waking, indirect operands,
// cr0.
#include "xe/unit/thread.hpp"

#include "xe/unit/alu/values.hpp"
#include "xe/unit/code.hpp"
#include "xe/unit/group.hpp"

namespace kiln::xe {

std::uint32_t Thread::grouped_predicate(const Op& op) const {
  const std::uint32_t bits = registers.flag[op.flag] >> op.flag_shift;
  std::uint32_t result = 0;
  const std::uint32_t group = op.group, ones = group >= 32 ? ~0U : (1U << group) - 1;
  for (std::uint32_t first = 0; first < kMostLanes; first += group) {
    const std::uint32_t part = bits >> first & ones;
    if (op.group_all ? part == ones : part != 0) result |= ones << first;
  }
  return (op.inverted ? ~result : result) & op.lane_mask;
}

void Thread::fail(Fault::Kind kind, std::string text, int lane, std::uint64_t address) {
  if (stop == Stop::fault) return;  // the first one is what counts
  stop = Stop::fault;
  fault->kind = kind;
  fault->text = std::move(text);
  fault->lane = lane;
  fault->address = address;
}

void Thread::wake() {
  for (std::uint32_t left = waiting; left; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (place[lane] != pc) continue;
    waiting &= ~(1U << lane);
    active |= 1U << lane;
  }
}

void Thread::take_control() {
  const std::uint32_t control = registers.control[0];
  constexpr std::array kModes{FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  std::fesetround(kModes[control >> 4 & 3U]);
  flush_df = !(control >> 6 & 1U);
  flush_f = !(control >> 7 & 1U);
  flush_hf = !(control >> 10 & 1U);
}

bool resolve(Thread& thread, const Place& place, std::uint32_t lanes, std::uint32_t bytes,
             std::uint16_t (&table)[kMostLanes]) {
  const Region& region = place.region;
  for (std::uint32_t i = 0; i < lanes; ++i) {
    const std::uint32_t row = i / region.width, column = i % region.width;
    const std::uint32_t element = place.address + (place.rows ? row : 0);
    const std::int64_t steps =
        place.rows ? std::int64_t{column} * region.horizontal
                   : std::int64_t{row} * region.vertical + std::int64_t{column} * region.horizontal;
    const std::int64_t at =
        std::int64_t{thread.registers.address[element & 31U]} + place.displacement + steps * bytes;
    if (element >= 32 || at < 0 || at + bytes > thread.general_bytes) {
      // Of lanes that do not execute a0 may hold anything: compilers fill it for all from what only some
      // computed.
      if (!(thread.mask(thread.group->code->ops[thread.pc]) >> i & 1U)) {
        table[i] = 0;
        continue;
      }
      thread.fail(Fault::Kind::memory, "a0 addresses a byte beyond the registers", static_cast<int>(i),
                  static_cast<std::uint64_t>(at));
      return false;
    }
    table[i] = static_cast<std::uint16_t>(at);
  }
  return true;
}

}  // namespace kiln::xe
