// SPDX-License-Identifier: MIT
// Runs the threads of a work-group, each until it waits at a barrier or ends.
#include <algorithm>
#include <set>

#include "xe/unit/code.hpp"
#include "xe/unit/flow.hpp"
#include "xe/unit/group.hpp"
#include "xe/unit/message/send.hpp"

namespace kiln::xe {
namespace {

/// The host thread's rounding, as it was.
class KeptRounding {
 public:
  KeptRounding() { std::fegetenv(&kept_); }
  ~KeptRounding() { std::fesetenv(&kept_); }
  KeptRounding(const KeptRounding&) = delete;
  KeptRounding& operator=(const KeptRounding&) = delete;

 private:
  std::fenv_t kept_{};
};

void start(Thread& thread, const Group& group, std::uint32_t index, bool older) {
  const ThreadStart& from = group.threads[index];
  Registers& registers = thread.registers;
  std::memset(static_cast<void*>(&registers), 0, sizeof registers);
  if (group.unwritten != 0) {
    const auto fill = [&](auto& file) { std::memset(&file, group.unwritten, sizeof file); };
    fill(registers.general), fill(registers.accumulator), fill(registers.high);
    fill(registers.flag), fill(registers.address);
  }
  if (!from.payload.empty())
    std::memcpy(thread.registers.general, from.payload.data(),
                std::min<std::size_t>(from.payload.size(), thread.general_bytes));
  thread.active = from.dispatch_mask;
  thread.dispatch_mask = from.dispatch_mask;
  thread.number = from.number;
  thread.index = index;
  thread.registers.control[0] = group.control;
  // Xe-HPG has the number in pieces, in bits 0 to 2, 4 to 5 and from 7 on, which compilers put together
  // again.
  const bool in_pieces = group.register_bytes == 32 && !older;
  thread.registers.state[0] =
      in_pieces ? (from.number & 7) | (from.number >> 3 & 3) << 4 | from.number >> 5 << 7 : from.number;
  thread.registers.state[2] = thread.registers.state[3] = from.dispatch_mask;
  thread.left_behind = group.most_instructions ? group.most_instructions : kMostInstructions;
}

/// More instructions for a thread that has executed those it had; false: it ends.
bool go_on(Thread& thread, const Group& group) {
  constexpr std::uint64_t kBetween = 1 << 16;  // looks at the clock
  if (thread.left_behind == 0) {
    thread.fail(Fault::Kind::hang, "the thread executes more instructions than it may");
    return false;
  }
  if (group.deadline != std::chrono::steady_clock::time_point::max() &&
      std::chrono::steady_clock::now() >= group.deadline) {
    thread.fail(Fault::Kind::hang, "the thread runs longer than it may");
    return false;
  }
  thread.left = std::min(kBetween, thread.left_behind);
  thread.left_behind -= thread.left;
  return true;
}

/// Until the thread stops.
void execute(Thread& thread, const Group& group, const Code::Body& code, Counts* counts) {
  thread.take_control();
  const Op* ops = code.ops.data();
  Counts::Each discarded;
  while (thread.stop == Stop::no) {
    if (thread.pc >= code.ops.size()) {
      thread.fail(Fault::Kind::code, "control goes to where no instruction is");
      return;
    }
    const Op& op = ops[thread.pc];
    if (op.wakes && thread.waiting) thread.wake();
    if (thread.left == 0 && !go_on(thread, group)) return;
    --thread.left;
    if (counts) {
      Counts::Each& each = counts->at[op.offset];
      ++each.executed;
      each.lanes += static_cast<std::uint32_t>(std::popcount(thread.mask(op)));
      thread.counts = &each;
    }
    thread.next = op.next;
    op.run(thread, op);
    if (thread.stop == Stop::fault) return;  // pc stays where it happened
    thread.pc = thread.next;
  }
}

void describe(Fault& fault, const Thread& thread, const Code::Body& code) {
  fault.thread = thread.index;
  if (thread.pc >= code.ops.size()) return;
  fault.offset = code.ops[thread.pc].offset;
  const std::string& text = code.texts[thread.pc];
  fault.disassembly = text.substr(0, text.find('\n'));
  char place[64];
  std::snprintf(place, sizeof place, " at offset 0x%llx, thread %u",
                static_cast<unsigned long long>(fault.offset), fault.thread);
  fault.text += place;
  if (fault.lane >= 0) fault.text += ", lane " + std::to_string(fault.lane);
  fault.text += ": " + fault.disassembly;
}

}  // namespace

void run_unknown(Thread& thread, const Op&) {
  const std::string& text = thread.group->code->texts[thread.pc];
  const auto reason = text.find('\n');
  thread.fail(Fault::Kind::unknown,
              "the execution unit does not know " + text.substr(std::min(reason + 1, text.size())));
}

void run_undecodable(Thread& thread, const Op&) { thread.fail(Fault::Kind::code, "there is no instruction"); }

std::uint32_t find_op(const Thread& thread, std::uint32_t offset) {
  const auto& index = thread.group->code->index;
  const auto found = index.find(offset);
  return found == index.end() ? kNowhere : found->second;
}

namespace {

// SLM has sixteen banks of four bytes. A bank serves one word at a time, to all lanes that want it, and lanes
// come sixteen at a time. Source: Intel's oneAPI GPU optimization guide. The CPU device counts by the same
// rule.
constexpr std::uint64_t kLine = 64, kWord = 4;
constexpr std::uint32_t kBanks = 16, kTogether = 16;

std::uint64_t units(std::uint64_t at, std::uint64_t size, std::uint64_t unit) {
  return (at + size - 1) / unit - at / unit + 1;
}

}  // namespace

void count_block(Thread& thread, const Range& range, std::uint64_t at, std::uint32_t size) {
  if (size == 0) return;
  thread.counts->bytes += size;
  if (range.slm)
    thread.counts->turns += (units(at, size, kWord) + kBanks - 1) / kBanks;
  else
    thread.counts->lines += units(range.base + at, size, kLine);
}

void count_lanes(Thread& thread, const Range& range, const std::uint64_t* at, std::uint32_t mask,
                 std::uint32_t size, bool atomic) {
  if (size == 0) return;
  Counts::Each& counts = *thread.counts;
  counts.bytes += std::uint64_t{size} * static_cast<std::uint32_t>(std::popcount(mask));
  std::set<std::uint64_t> seen;
  const std::uint64_t unit = range.slm ? kWord : kLine, base = range.slm ? 0 : range.base;
  for (std::uint32_t begin = 0; begin < kMostLanes; begin += kTogether) {
    std::array<std::uint32_t, kBanks> in_bank{};
    std::uint32_t words = 0;
    for (std::uint32_t left = mask & (((1U << kTogether) - 1) << begin); left; left &= left - 1) {
      const std::uint64_t first = base + at[std::countr_zero(left)];
      for (std::uint64_t each = first / unit; each <= (first + size - 1) / unit; ++each) {
        const bool is_new = seen.insert(each).second;
        if (range.slm && (is_new || atomic)) ++words, ++in_bank[each % kBanks];
      }
    }
    if (!range.slm) continue;
    const std::uint32_t turns = *std::ranges::max_element(in_bank);
    counts.turns += turns;
    counts.conflicts += turns - (words + kBanks - 1) / kBanks;
    seen.clear();
  }
  counts.lines += range.slm ? 0 : seen.size();
}

void Counts::merge(const Counts& other) {
  for (const auto& [offset, each] : other.at) {
    Each& mine = at[offset];
    mine.executed += each.executed;
    mine.lanes += each.lanes;
    mine.bytes += each.bytes;
    mine.lines += each.lines;
    mine.turns += each.turns;
    mine.conflicts += each.conflicts;
  }
}

std::optional<Fault> run_group(const Code& code, const Group& group, Bus& bus, Counts* counts) {
  const Code::Body& body = code.body();
  Fault fault;
  if (group.register_bytes != body.register_bytes || group.registers > Registers::kGeneral ||
      group.threads.empty()) {
    fault.text = "the work-group does not fit the product: registers of " +
                 std::to_string(group.register_bytes) + " bytes, " + std::to_string(group.registers) +
                 " of them, " + std::to_string(group.threads.size()) + " threads";
    return fault;
  }
  const KeptRounding rounding;
  Memory memory(bus, group.slm_bytes);
  GroupState state;
  state.threads = static_cast<std::uint32_t>(group.threads.size());
  state.older = body.older;
  state.code = &body;
  const auto threads = std::make_unique<Thread[]>(group.threads.size());
  for (std::uint32_t i = 0; i < state.threads; ++i) {
    Thread& thread = threads[i];
    thread.register_bytes = body.register_bytes;
    thread.general_bytes = group.registers * body.register_bytes;
    thread.memory = &memory;
    thread.group = &state;
    thread.fault = &fault;
    thread.pc = body.entry;
    start(thread, group, i, body.older);
  }
  std::uint32_t ended = 0;
  while (ended < state.threads) {
    bool any = false;
    for (std::uint32_t i = 0; i < state.threads; ++i) {
      Thread& thread = threads[i];
      if (thread.stop == Stop::ended) continue;
      if (thread.stop == Stop::barrier) {
        if (state.barriers[thread.waits_at].generation < thread.waits_for[thread.waits_at]) continue;
        thread.stop = Stop::no;
      }
      any = true;
      execute(thread, group, body, counts);
      if (thread.stop == Stop::fault) {
        describe(fault, thread, body);
        return fault;
      }
      if (thread.stop == Stop::ended) ++ended;
    }
    if (any) continue;
    const auto stuck = std::find_if(threads.get(), threads.get() + state.threads,
                                    [](const Thread& each) { return each.stop == Stop::barrier; });
    fault.kind = Fault::Kind::hang;
    fault.text = "a barrier that not all threads of the work-group reach: " + std::to_string(ended) + " of " +
                 std::to_string(state.threads) + " threads have ended, the others wait";
    describe(fault, *stuck, body);
    return fault;
  }
  return std::nullopt;
}

}  // namespace kiln::xe
