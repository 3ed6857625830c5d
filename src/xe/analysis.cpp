// SPDX-License-Identifier: MIT
// Counts instructions, messages and loops.
#include "xe/analysis.hpp"

#include <algorithm>

namespace kiln::xe {
namespace {

bool is_one_of(std::string_view word, std::span<const std::string_view> sorted) {
  return std::ranges::binary_search(sorted, word);
}

/// What the result is of, or where nothing is kept, what it is made of.
Type type_of(const Instruction& instruction) {
  return instruction.result.type != Type::none && instruction.result.file != File::null
             ? instruction.result.type
             : instruction.sources[0].type;
}

void add(std::vector<MessageEntry>& entries, const Message& message) {
  const auto found = std::ranges::find(entries, message, &MessageEntry::message);
  if (found == entries.end())
    entries.push_back({message, 1});
  else
    ++found->count;
}

void by_unit(std::vector<MessageEntry>& entries) {
  std::ranges::stable_sort(entries, {}, [](const MessageEntry& each) { return each.message.unit; });
}

std::vector<Loop> loops_of(std::span<const Instruction> instructions) {
  std::vector<Loop> loops;
  for (const Instruction& each : instructions) {
    if (!each.is_branch()) continue;
    for (const Operand& target : each.sources) {
      if (target.file != File::label || target.value > each.offset) continue;
      const auto begin = static_cast<std::uint32_t>(target.value);
      const auto same = std::ranges::find(loops, begin, &Loop::begin);
      Loop& loop = same == loops.end() ? loops.emplace_back() : *same;
      loop.begin = begin;
      loop.end = std::max(loop.end, each.offset + each.size);
    }
  }
  std::ranges::sort(loops, {}, &Loop::begin);
  for (Loop& loop : loops) {
    for (const Instruction& each : instructions) {
      if (each.offset < loop.begin || each.offset >= loop.end) continue;
      ++loop.instructions;
      if (each.is_send()) add(loop.messages, message_of(each));
    }
    by_unit(loop.messages);
    for (const Loop& other : loops)
      if (&other != &loop && other.begin <= loop.begin && other.end >= loop.end) ++loop.depth;
  }
  return loops;
}

}  // namespace

std::string_view to_string(Kind kind) {
  constexpr std::array<std::string_view, 9> kNames{"arithmetic", "math",    "dpas", "logic", "compare",
                                                   "move",       "control", "wait", "send"};
  return kNames[static_cast<std::size_t>(kind)];
}

Kind kind_of(const Instruction& instruction) {
  constexpr std::array<std::string_view, 17> kLogic{"and",   "asr",  "bfe", "bfi1", "bfi2", "bfn",
                                                    "bfrev", "cbit", "fbh", "fbl",  "lzd",  "not",
                                                    "or",    "rol",  "ror", "shl",  "shr"};
  constexpr std::array<std::string_view, 5> kCompare{"cmp", "cmpn", "csel", "sel", "xor"};
  constexpr std::array<std::string_view, 3> kMove{"mov", "movi", "smov"};
  const std::string_view opcode = instruction.opcode;
  if (instruction.is_send()) return Kind::send;
  if (instruction.is_branch()) return Kind::control;
  if (opcode == "sync" || opcode == "nop" || opcode == "illegal") return Kind::wait;
  if (opcode == "math") return Kind::math;
  if (opcode == "dpas" || opcode == "dpasw" || opcode == "bdpas") return Kind::dpas;
  if (opcode == "xor" || is_one_of(opcode, kLogic)) return Kind::logic;
  if (is_one_of(opcode, kCompare)) return Kind::compare;
  return is_one_of(opcode, kMove) ? Kind::move : Kind::arithmetic;
}

std::span<const Instruction> without_padding(std::span<const Instruction> instructions) {
  const auto is_padding = [](const Instruction& each) {
    return each.opcode == "illegal" || each.opcode == "nop";
  };
  while (!instructions.empty() && is_padding(instructions.back()))
    instructions = instructions.first(instructions.size() - 1);
  return instructions;
}

CodeAnalysis analyze(std::span<const Instruction> instructions, std::uint32_t register_bytes) {
  instructions = without_padding(instructions);
  CodeAnalysis analysis;
  analysis.instructions = instructions.size();
  for (const Instruction& each : instructions) {
    analysis.bytes += each.size;
    const Kind kind = kind_of(each);
    const bool typed = kind < Kind::control;
    const Type type = typed ? type_of(each) : Type::none;
    const std::uint32_t lanes = each.lanes;
    const auto same = std::ranges::find_if(analysis.mix, [&](const MixEntry& entry) {
      return entry.kind == kind && entry.type == type && entry.lanes == lanes;
    });
    if (same == analysis.mix.end())
      analysis.mix.push_back({kind, type, lanes, 1});
    else
      ++same->count;
    if (kind == Kind::send) add(analysis.messages, message_of(each));
  }
  std::ranges::sort(analysis.mix, [](const MixEntry& a, const MixEntry& b) {
    return std::tuple(a.kind, a.type, a.lanes) < std::tuple(b.kind, b.type, b.lanes);
  });
  by_unit(analysis.messages);
  analysis.loops = loops_of(instructions);
  analysis.live = live_registers(instructions, register_bytes);
  return analysis;
}

std::uint64_t CodeAnalysis::count(Unit unit) const {
  std::uint64_t sum = 0;
  for (const MessageEntry& each : messages)
    if (each.message.unit == unit) sum += each.count;
  return sum;
}

std::uint64_t CodeAnalysis::count(Unit unit, Action action) const {
  std::uint64_t sum = 0;
  for (const MessageEntry& each : messages)
    if (each.message.unit == unit && each.message.action == action) sum += each.count;
  return sum;
}

std::uint64_t CodeAnalysis::count(Kind kind) const {
  std::uint64_t sum = 0;
  for (const MixEntry& each : mix)
    if (each.kind == kind) sum += each.count;
  return sum;
}

std::uint64_t CodeAnalysis::largest_loop() const {
  std::uint64_t most = 0;
  for (const Loop& each : loops) most = std::max(most, each.instructions);
  return most;
}

}  // namespace kiln::xe
