// SPDX-License-Identifier: MIT
// Counts instructions, messages and loops.
#include "xe/analysis.hpp"

#include <algorithm>
#include <map>
#include <utility>

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

// Of loops, and of the messages in all of them. Code of compilers stays far below; files can be made to need
// the square of their size.
constexpr std::size_t kMostLoops = 1 << 12, kMostLoopMessages = 1 << 20;

/// The messages of a code, each with its place among those that differ.
class Messages {
 public:
  explicit Messages(std::span<const Instruction> instructions) {
    std::map<Message, std::size_t> known;
    for (const Instruction& each : instructions) {
      if (!each.is_send()) continue;
      const Message message = message_of(each);
      const auto [found, added] = known.emplace(message, kinds_.size());
      if (added) kinds_.push_back(message);
      sent_.emplace_back(each.offset, found->second);
    }
  }
  using Sent = std::span<const std::pair<std::uint32_t, std::size_t>>;
  /// Those from `begin` up to `end`, by their offsets.
  [[nodiscard]] Sent between(std::uint32_t begin, std::uint32_t end) const {
    const auto place = [&](std::uint32_t offset) {
      return std::ranges::lower_bound(sent_, offset, {}, &std::pair<std::uint32_t, std::size_t>::first);
    };
    return {place(begin), place(end)};
  }
  /// By unit, in the order of their first use.
  [[nodiscard]] std::vector<MessageEntry> counted(Sent sent) {
    count_of_.resize(kinds_.size());
    std::vector<std::size_t> used;
    for (const auto& [offset, kind] : sent)
      if (++count_of_[kind] == 1) used.push_back(kind);
    std::vector<MessageEntry> entries;
    for (const std::size_t kind : used) entries.push_back({kinds_[kind], std::exchange(count_of_[kind], 0)});
    std::ranges::stable_sort(entries, {}, [](const MessageEntry& each) { return each.message.unit; });
    return entries;
  }

 private:
  std::vector<Message> kinds_;
  std::vector<std::pair<std::uint32_t, std::size_t>> sent_;
  std::vector<std::uint64_t> count_of_;  // all 0 between calls
};

/// Nothing: there are too many.
std::optional<std::vector<Loop>> loops_of(std::span<const Instruction> instructions, Messages& messages) {
  std::map<std::uint32_t, std::uint32_t> ends;  // by the beginning
  for (const Instruction& each : instructions) {
    if (!each.is_branch() || each.opcode.starts_with("call")) continue;
    for (const Operand& target : each.sources) {
      if (target.file != File::label || target.value > each.offset) continue;
      std::uint32_t& end = ends[static_cast<std::uint32_t>(target.value)];
      end = std::max(end, each.offset + each.size);
      if (ends.size() > kMostLoops) return std::nullopt;
    }
  }
  std::vector<Loop> loops;
  std::size_t all = 0;
  const auto place = [&](std::uint32_t offset) {
    return std::ranges::lower_bound(instructions, offset, {}, &Instruction::offset);
  };
  for (const auto& [begin, end] : ends) {
    Loop& loop = loops.emplace_back(Loop{begin, end});
    loop.instructions = static_cast<std::uint64_t>(place(end) - place(begin));
    const auto sent = messages.between(begin, end);
    all += sent.size();
    if (all > kMostLoopMessages) return std::nullopt;
    loop.messages = messages.counted(sent);
    for (const auto& [other_begin, other_end] : ends) {
      if (other_begin >= begin) break;
      if (other_end >= end) ++loop.depth;
    }
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
  constexpr std::array<std::string_view, 18> kLogic{"and",   "asr",  "bfe", "bfi1", "bfi2", "bfn",
                                                    "bfrev", "cbit", "fbh", "fbl",  "lzd",  "not",
                                                    "or",    "rol",  "ror", "shl",  "shr",  "xor"};
  constexpr std::array<std::string_view, 4> kCompare{"cmp", "cmpn", "csel", "sel"};
  constexpr std::array<std::string_view, 3> kMove{"mov", "movi", "smov"};
  const std::string_view opcode = instruction.opcode;
  if (instruction.is_send()) return Kind::send;
  if (instruction.is_branch()) return Kind::control;
  if (opcode == "sync" || opcode == "nop" || opcode == "illegal") return Kind::wait;
  if (opcode == "math") return Kind::math;
  if (opcode == "dpas" || opcode == "dpasw" || opcode == "bdpas") return Kind::dpas;
  if (is_one_of(opcode, kLogic)) return Kind::logic;
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

Type mix_type_of(const Instruction& instruction) {
  return kind_of(instruction) < Kind::control ? type_of(instruction) : Type::none;
}

CodeAnalysis analyze(std::span<const Instruction> instructions, std::uint32_t register_bytes) {
  instructions = without_padding(instructions);
  CodeAnalysis analysis;
  analysis.instructions = instructions.size();
  std::map<std::tuple<Kind, Type, std::uint32_t>, std::uint64_t> mix;
  for (const Instruction& each : instructions) {
    analysis.bytes += each.size;
    const Kind kind = kind_of(each);
    ++mix[{kind, mix_type_of(each), each.lanes}];
  }
  for (const auto& [alike, count] : mix)
    analysis.mix.push_back(
        {std::get<Kind>(alike), std::get<Type>(alike), std::get<std::uint32_t>(alike), count});
  Messages messages(instructions);
  analysis.messages = messages.counted(messages.between(0, UINT32_MAX));
  auto loops = loops_of(instructions, messages);
  analysis.loops_known = loops.has_value();
  if (loops) analysis.loops = *std::move(loops);
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
