// SPDX-License-Identifier: MIT
// Control flow: lanes that take different ways wait, each for an instruction, until the thread comes there.
// Source: Intel's Programmer's Reference Manual for Xe, volume 2a, the instructions' pseudocode.
#include "xe/unit/flow.hpp"

namespace kiln::xe {
namespace {

/// These lanes go on at an instruction, once the thread is there.
void park(Thread& thread, std::uint32_t lanes, std::uint32_t where) {
  thread.active &= ~lanes;
  thread.waiting |= lanes;
  for (std::uint32_t left = lanes; left; left &= left - 1)
    thread.place[static_cast<std::size_t>(std::countr_zero(left))] = where;
}

/// Lanes that the op looks at, as they are numbered in the thread, and those of them for which its predicate
/// holds.
std::uint32_t lanes_of(const Thread& thread, const Op& op) { return thread.channels(op) << op.first; }
std::uint32_t taken_of(const Thread& thread, const Op& op) { return thread.mask(op) << op.first; }

}  // namespace

void flow_nothing(Thread&, const Op&) {}

void flow_if(Thread& thread, const Op& op) {
  park(thread, lanes_of(thread, op) & ~taken_of(thread, op), op.jip);
  if (thread.active == 0) thread.next = op.jip;
}

void flow_else(Thread& thread, const Op& op) {
  park(thread, lanes_of(thread, op), op.uip);
  bool any = false;
  for (std::uint32_t left = thread.waiting; left; left &= left - 1)
    any |= thread.place[static_cast<std::size_t>(std::countr_zero(left))] == op.next;
  if (!any && thread.active == 0) thread.next = op.jip;
}

/// endif and join: whoever waits has been woken; where nobody did, there is nothing to execute up to `jip`.
void flow_join(Thread& thread, const Op& op) {
  if (thread.active == 0) thread.next = op.jip;
}

void flow_while(Thread& thread, const Op& op) {
  const std::uint32_t lanes = lanes_of(thread, op), taken = taken_of(thread, op);
  if (taken == 0) return;
  park(thread, lanes & ~taken, op.next);
  thread.next = op.jip;
}

void flow_break(Thread& thread, const Op& op) {
  park(thread, taken_of(thread, op), op.uip);
  if (thread.active == 0) thread.next = op.jip;
}

void flow_goto(Thread& thread, const Op& op) {
  const std::uint32_t lanes = lanes_of(thread, op), taken = taken_of(thread, op);
  if (!op.backward) {
    park(thread, taken, op.uip);
    if (thread.active == 0) thread.next = op.jip;
    return;
  }
  if (taken == 0) {
    // Nobody takes the branch: those that stay wait for what follows, which is where the thread goes.
    if ((lanes & ~taken) == 0) thread.next = op.jip;
    return;
  }
  park(thread, lanes & ~taken, op.next);
  thread.next = op.uip;
}

void flow_jump(Thread& thread, const Op& op) {
  if (!op.predicated || (thread.predicate(op) & 1U)) thread.next = op.jip;
}

void flow_call(Thread& thread, const Op& op) {
  const std::uint32_t lanes = lanes_of(thread, op), taken = taken_of(thread, op);
  if (taken == 0) return;
  std::byte* keep = thread.registers.bytes() + op.result.at;
  std::memcpy(keep, &op.resume, sizeof op.resume);
  std::memcpy(keep + 4, &taken, sizeof taken);
  park(thread, lanes & ~taken, op.next);
  thread.next = op.jip;
}

void flow_divergent(Thread& thread, const Op& op) {
  park(thread, taken_of(thread, op), op.jip);
  if (thread.active == 0) thread.next = op.jip;
}

void flow_return(Thread& thread, const Op& op) {
  const std::uint32_t taken = taken_of(thread, op);
  if (taken == 0) return;
  std::uint32_t resume = 0;
  std::memcpy(&resume, thread.registers.bytes() + op.sources[0].at, sizeof resume);
  const std::uint32_t where = find_op(thread, resume);
  if (where == kNowhere) {
    thread.fail(Fault::Kind::code, "the return address " + std::to_string(resume) + " is behind no call");
    return;
  }
  park(thread, taken, where);
  if (thread.active == 0) thread.next = where;
}

}  // namespace kiln::xe
