// SPDX-License-Identifier: MIT
// Live registers: a backward walk over the blocks of a kernel, with a bit for each byte of the registers.
#include <algorithm>
#include <bitset>
#include <map>

#include "xe/analysis.hpp"

namespace kiln::xe {
namespace {

constexpr std::size_t kMostRegisters = 256, kMostBytes = kMostRegisters * 64;
using RegisterBytes = std::bitset<kMostBytes>;
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
    } else {
      mark_region(uses.written, each.result, each.lanes, true);
      for (const Operand& source : each.sources) mark_region(uses.read, source, each.lanes, false);
    }
    // A lane whose bit is not set keeps what was there.
    if (each.predicate && each.opcode != "sel") uses.written.reset();
    return uses;
  }

  [[nodiscard]] std::uint32_t registers(const RegisterBytes& bytes) const {
    std::uint32_t count = 0;
    for (std::size_t first = 0; first < kMostBytes; first += register_bytes_) {
      bool any = false;
      for (std::size_t i = first; i < first + register_bytes_ && !any; ++i) any = bytes[i];
      count += any ? 1 : 0;
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
  std::size_t first = 0, behind = 0;
  std::vector<std::size_t> next{};
  RegisterBytes in{}, out{};
};

std::vector<Block> blocks_of(std::span<const Instruction> instructions) {
  std::map<std::uint32_t, std::size_t> at;  // instruction by offset
  for (std::size_t i = 0; i < instructions.size(); ++i) at[instructions[i].offset] = i;
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
    blocks.back().behind = i + 1;
    block_of[i] = blocks.size() - 1;
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Instruction& last = instructions[blocks[i].behind - 1];
    const bool leaves =
        last.ends_thread() || last.opcode == "ret" || (last.opcode == "jmpi" && !last.predicate);
    if (!leaves && i + 1 < blocks.size()) blocks[i].next.push_back(i + 1);
    if (!last.is_branch()) continue;
    for (const Operand& target : last.sources)
      if (target.file == File::label)
        if (const auto found = at.find(static_cast<std::uint32_t>(target.value)); found != at.end())
          blocks[i].next.push_back(block_of[found->second]);
  }
  return blocks;
}

}  // namespace

Liveness live_registers(std::span<const Instruction> instructions, std::uint32_t register_bytes) {
  Liveness live;
  if (instructions.empty()) return live;
  const Machine machine(register_bytes);
  std::vector<Block> blocks = blocks_of(instructions);
  const auto is_indirect = [](const Operand& operand) { return operand.indirect; };
  live.indirect = std::ranges::any_of(instructions, [&](const Instruction& each) {
    return is_indirect(each.result) || std::ranges::any_of(each.sources, is_indirect);
  });
  // Each block as one step: what it reads before it writes, and what it writes.
  std::vector<Uses> steps(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t at = blocks[i].behind; at-- > blocks[i].first;) {
      const Uses uses = machine.uses(instructions[at]);
      steps[i].read = (steps[i].read & ~uses.written) | uses.read;
      steps[i].written |= uses.written;
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = blocks.size(); i-- > 0;) {
      RegisterBytes out;
      for (const std::size_t next : blocks[i].next) out |= blocks[next].in;
      const RegisterBytes in = (out & ~steps[i].written) | steps[i].read;
      changed |= in != blocks[i].in;
      blocks[i].in = in;
      blocks[i].out = out;
    }
  }
  for (const Block& block : blocks) {
    RegisterBytes now = block.out;
    for (std::size_t at = block.behind; at-- > block.first;) {
      const Uses uses = machine.uses(instructions[at]);
      // While it runs both what it reads and what it writes have a place.
      const std::uint32_t during = machine.registers(now | uses.read | uses.written);
      if (during > live.peak || (during == live.peak && instructions[at].offset < live.at))
        live.peak = during, live.at = instructions[at].offset;
      now = (now & ~uses.written) | uses.read;
    }
  }
  return live;
}

}  // namespace kiln::xe
