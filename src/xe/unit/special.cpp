// SPDX-License-Identifier: MIT
// Fills special registers before they are read, and puts cr0 into effect when it was written.
#include "xe/unit/special.hpp"

#include <cstddef>

#include "xe/unit/flow.hpp"
#include "xe/unit/message/memory.hpp"
#include "xe/unit/thread.hpp"

namespace kiln::xe {
namespace {

constexpr std::size_t kSpecial = offsetof(Registers, control), kSpecialEnd = offsetof(Registers, end);

bool is_special(const Place& place) {
  return !place.null && !place.constant && place.shape != Shape::indirect && place.at >= kSpecial &&
         place.at < kSpecialEnd;
}

void run_special(Thread& thread, const Op& op) {
  Registers& registers = thread.registers;
  registers.enabled[0] = thread.active;
  bool clock = false;
  for (const Place& each : op.sources)
    clock |=
        is_special(each) && each.at >= offsetof(Registers, time) && each.at < offsetof(Registers, enabled);
  if (clock) {
    const std::uint64_t ticks = thread.memory->bus().ticks();
    registers.time[0] = static_cast<std::uint32_t>(ticks);
    registers.time[1] = static_cast<std::uint32_t>(ticks >> 32);
  }
  op.inner(thread, op);
  if (is_special(op.result)) thread.take_control();
}

void wait_for_barrier(Thread& thread, const Op& op) {
  thread.waits_at = op.control;
  thread.stop = Stop::barrier;
}

}  // namespace

std::string resolve_sync(const Instruction& from, Op& op) {
  if (from.control == "nop" || from.control == "allrd" || from.control == "allwr" ||
      from.control == "fence") {
    op.run = flow_nothing;
    return {};
  }
  if (from.control != "bar") return "sync." + from.control;
  op.run = wait_for_barrier;
  if (from.sources[0].file == File::immediate)
    op.control = static_cast<std::uint8_t>(from.sources[0].value & 31U);
  else if (from.sources[0].file != File::null && from.sources[0].file != File::none)
    return "a barrier by a register";
  return {};
}

void add_special(Op& op) {
  bool any = is_special(op.result);
  for (const Place& each : op.sources) any |= is_special(each);
  if (!any) return;
  op.inner = op.run;
  op.run = run_special;
}

}  // namespace kiln::xe
