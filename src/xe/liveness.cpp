// SPDX-License-Identifier: MIT
// Live registers: a backward walk over the blocks of a kernel, with a bit for each byte of the registers.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "xe/analysis.hpp"

namespace kiln::xe {
namespace {

constexpr std::size_t kMostRegisters = 256, kMostBytes = kMostRegisters * 64;
// Code of compilers needs a few steps a block; files can be made to need the square of that.
constexpr std::size_t kMostBlocks = 1 << 14, kMostSteps = 1 << 18, kMostVisits = 1 << 22;

/// A bit for each byte of the registers.
class RegisterBytes {
 public:
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void clear() { words_.fill(0); }
  [[nodiscard]] std::uint64_t word(std::size_t i) const { return words_[i]; }
  RegisterBytes& operator|=(const RegisterBytes& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  /// What is not in `other` any more.
  RegisterBytes& operator-=(const RegisterBytes& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
    return *this;
  }
  [[nodiscard]] friend bool operator==(const RegisterBytes&, const RegisterBytes&) = default;

 private:
  std::array<std::uint64_t, kMostBytes / 64> words_{};
};
constexpr std::uint32_t kSystolicDepth = 8, kSystolicBytes = 4;  // of dpas, for each lane and step

struct Uses {
  RegisterBytes read, written;  // `written` has those alone whose former content is gone
};

class Machine {
 public:
  explicit Machine(std::uint32_t register_bytes) : register_bytes_(register_bytes) {}

  void mark(RegisterBytes& bytes, std::uint64_t from, std::uint64_t count) const {
    for (std::uint64_t i = from; i < std::min<std::uint64_t>(from + count, kMostBytes); ++i) bytes.set(i);
  }
  void mark_registers(RegisterBytes& bytes, const Operand& operand, std::uint32_t count) const {
    if (operand.file == File::general && !operand.indirect)
      mark(bytes, std::uint64_t{operand.number} * register_bytes_, std::uint64_t{count} * register_bytes_);
  }
  void mark_region(RegisterBytes& bytes, const Operand& operand, std::uint32_t lanes, bool is_result) const {
    if (operand.file != File::general || operand.indirect) return;
    const std::uint64_t size = std::max(size_of(operand.type), 1U);
    const std::uint64_t start = std::uint64_t{operand.number} * register_bytes_ + operand.element * size;
    const auto [vertical, width, horizontal] = operand.region;
    for (std::uint64_t lane = 0; lane < lanes; ++lane)
      mark(bytes,
           start + (is_result ? lane * std::max<std::uint64_t>(horizontal, 1)
                              : lane / width * vertical + lane % width * horizontal) *
                       size,
           size);
  }
  void mark_dpas(Uses& uses, const Instruction& each) const {
    // dpas.8x4: the depth, then how often it is repeated
    const auto x = each.control.find('x');
    const auto repeats =
        x == std::string::npos
            ? 8
            : static_cast<std::uint32_t>(std::max(std::atoi(each.control.c_str() + x + 1), 1));
    const auto place = [&](const Operand& operand) {
      return std::uint64_t{operand.number} * register_bytes_ +
             std::uint64_t{operand.element} * std::max(size_of(operand.type), 1U);
    };
    const auto mark_at = [&](RegisterBytes& bytes, const Operand& operand, std::uint64_t count) {
      if (operand.file == File::general) mark(bytes, place(operand), count);
    };
    const std::uint64_t lanes = each.lanes;
    mark_at(uses.written, each.result, repeats * lanes * std::max(size_of(each.result.type), 1U));
    mark_at(uses.read, each.sources[0], repeats * lanes * std::max(size_of(each.sources[0].type), 1U));
    mark_at(uses.read, each.sources[1], kSystolicDepth * lanes * kSystolicBytes);
    mark_at(uses.read, each.sources[2], std::uint64_t{repeats} * kSystolicDepth * kSystolicBytes);
  }

  /// The way back of a subroutine, two dwords: where it goes on, and with which lanes. They have no type.
  void mark_return(RegisterBytes& bytes, const Operand& operand) const {
    if (operand.file == File::general && !operand.indirect)
      mark(bytes, std::uint64_t{operand.number} * register_bytes_ + operand.element * 4U, 8);
  }

  [[nodiscard]] Uses uses(const Instruction& each) const {
    Uses uses;
    if (each.is_send()) {
      const Message message = message_of(each);
      const std::uint32_t second = each.sources[1].registers.value_or(second_length(each));
      mark_registers(uses.read, each.sources[0],
                     each.sources[0].registers.value_or(message.sent - std::min(message.sent, second)));
      mark_registers(uses.read, each.sources[1], second);
      mark_registers(uses.written, each.result, each.result.registers.value_or(message.received));
    } else if (each.opcode.starts_with("dpas")) {
      mark_dpas(uses, each);
    } else if (each.opcode == "call") {
      mark_return(uses.written, each.result);
    } else if (each.opcode == "ret") {
      mark_return(uses.read, each.sources[0]);
    } else {
      mark_region(uses.written, each.result, each.lanes, true);
      for (const Operand& source : each.sources) mark_region(uses.read, source, each.lanes, false);
    }
    // A lane whose bit is not set keeps what was there.
    if (each.predicate && each.opcode != "sel") uses.written.clear();
    return uses;
  }

  [[nodiscard]] std::uint32_t registers(const RegisterBytes& bytes) const {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < kMostBytes / 64; ++i) {
      const std::uint64_t word = bytes.word(i);
      if (register_bytes_ == 64)
        count += word != 0 ? 1 : 0;
      else  // two of 32 bytes
        count += ((word & UINT32_MAX) != 0 ? 1U : 0U) + (word >> 32 != 0 ? 1U : 0U);
    }
    return count;
  }

 private:
  /// Registers of the second part of what is sent: "wr:2+1".
  static std::uint32_t second_length(const Instruction& each) {
    const auto plus = each.comment.find('+');
    return plus == std::string::npos
               ? 0
               : static_cast<std::uint32_t>(std::max(std::atoi(each.comment.c_str() + plus + 1), 0));
  }
  std::uint32_t register_bytes_;
};

struct Block {
  std::size_t first = 0, behind = 0;  // instructions
  std::vector<std::size_t> next{};
  std::vector<std::size_t> callees{};
  bool returns = false;
};

/// Where each block may go on, calls as if their subroutines did nothing. Nothing: there are too many.
std::optional<std::vector<Block>> blocks_of(std::span<const Instruction> instructions) {
  std::map<std::uint32_t, std::size_t> at;  // instruction by offset
  for (std::size_t i = 0; i < instructions.size(); ++i) at.emplace_hint(at.end(), instructions[i].offset, i);
  std::vector<bool> begins(instructions.size() + 1);
  begins[0] = true;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& each = instructions[i];
    if (!each.is_branch() && !each.ends_thread()) continue;
    begins[i + 1] = true;
    for (const Operand& target : each.sources)
      if (target.file == File::label)
        if (const auto found = at.find(static_cast<std::uint32_t>(target.value)); found != at.end())
          begins[found->second] = true;
  }
  std::vector<Block> blocks;
  std::vector<std::size_t> block_of(instructions.size());
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (begins[i]) blocks.push_back({i, i});
    if (blocks.size() > kMostBlocks) return std::nullopt;
    blocks.back().behind = i + 1;
    block_of[i] = blocks.size() - 1;
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Block& block = blocks[i];
    const Instruction& last = instructions[block.behind - 1];
    block.returns = last.opcode == "ret";
    const bool leaves = last.ends_thread() || ((block.returns || last.opcode == "jmpi") && !last.predicate);
    if (!leaves && i + 1 < blocks.size()) block.next.push_back(i + 1);
    if (!last.is_branch()) continue;
    for (const Operand& target : last.sources)
      if (target.file == File::label)
        if (const auto found = at.find(static_cast<std::uint32_t>(target.value)); found != at.end())
          (last.opcode == "call" ? block.callees : block.next).push_back(block_of[found->second]);
  }
  return blocks;
}

/// Lets calls go to their subroutines, and what returns from those to behind all calls of them. False: that
/// takes too long.
bool follow_calls(std::vector<Block>& blocks, std::span<const Instruction> instructions) {
  std::map<std::size_t, std::vector<std::size_t>> callers;  // by the block that is called
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (const std::size_t callee : blocks[i].callees) callers[callee].push_back(i);
  std::vector<std::set<std::size_t>> added(blocks.size());
  std::size_t visits = 0;
  for (const auto& [entry, from] : callers) {
    std::vector<bool> seen(blocks.size());
    std::vector<std::size_t> left{entry};
    seen[entry] = true;
    while (!left.empty()) {
      const std::size_t at = left.back();
      left.pop_back();
      if (++visits > kMostVisits) return false;
      if (blocks[at].returns)
        for (const std::size_t caller : from) {
          if (++visits > kMostVisits) return false;
          if (caller + 1 < blocks.size()) added[at].insert(caller + 1);
        }
      for (const std::size_t next : blocks[at].next)
        if (!seen[next]) seen[next] = true, left.push_back(next);
    }
    visits += blocks.size() / 64;  // of `seen`
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Block& block = blocks[i];
    block.next.insert(block.next.end(), added[i].begin(), added[i].end());
    if (block.callees.empty()) continue;
    if (!instructions[block.behind - 1].predicate) block.next.clear();  // it goes on when they have returned
    block.next.insert(block.next.end(), block.callees.begin(), block.callees.end());
  }
  return true;
}

/// What each block needs of those before it. Nothing: that takes too long.
std::optional<std::vector<RegisterBytes>> needs_of(const std::vector<Block>& blocks,
                                                   const std::vector<Uses>& uses) {
  std::vector<RegisterBytes> needs(blocks.size());
  std::vector<std::vector<std::size_t>> before(blocks.size());
  std::set<std::size_t, std::greater<>> left;  // from the back, as what is needed travels
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    left.insert(i);
    for (const std::size_t next : blocks[i].next) before[next].push_back(i);
  }
  for (std::size_t steps = 0; !left.empty();) {
    const std::size_t at = *left.begin();
    left.erase(left.begin());
    steps += 1 + blocks[at].next.size();
    if (steps > kMostSteps) return std::nullopt;
    RegisterBytes need;
    for (const std::size_t next : blocks[at].next) need |= needs[next];
    need -= uses[at].written;
    need |= uses[at].read;
    if (need == needs[at]) continue;
    needs[at] = need;
    left.insert(before[at].begin(), before[at].end());
  }
  return needs;
}

}  // namespace

Liveness live_registers(std::span<const Instruction> instructions, std::uint32_t register_bytes) {
  Liveness live;
  if (instructions.empty()) return live;
  const Machine machine(register_bytes);
  const auto is_indirect = [](const Operand& operand) { return operand.indirect; };
  live.indirect = std::ranges::any_of(instructions, [&](const Instruction& each) {
    return is_indirect(each.result) || std::ranges::any_of(each.sources, is_indirect);
  });
  live.known = false;
  auto blocks = blocks_of(instructions);
  if (!blocks || !follow_calls(*blocks, instructions)) return live;
  // Each block as one step: what it reads before it writes, and what it writes.
  std::vector<Uses> steps(blocks->size());
  for (std::size_t i = 0; i < blocks->size(); ++i)
    for (std::size_t at = (*blocks)[i].behind; at-- > (*blocks)[i].first;) {
      const Uses uses = machine.uses(instructions[at]);
      steps[i].read -= uses.written;
      steps[i].read |= uses.read;
      steps[i].written |= uses.written;
    }
  const auto needs = needs_of(*blocks, steps);
  if (!needs) return live;
  live.known = true;
  for (const Block& block : *blocks) {
    RegisterBytes now;
    for (const std::size_t next : block.next) now |= (*needs)[next];
    for (std::size_t at = block.behind; at-- > block.first;) {
      const Uses uses = machine.uses(instructions[at]);
      // While it runs both what it reads and what it writes have a place.
      RegisterBytes during = now;
      during |= uses.read;
      during |= uses.written;
      const std::uint32_t count = machine.registers(during);
      if (count > live.peak || (count == live.peak && instructions[at].offset < live.at))
        live.peak = count, live.at = instructions[at].offset;
      now -= uses.written;
      now |= uses.read;
    }
  }
  return live;
}

}  // namespace kiln::xe
