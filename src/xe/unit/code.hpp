// SPDX-License-Identifier: MIT
// Code as the unit keeps it: ops in the order of their offsets, and the bytes they were made of.
#pragma once

#include <deque>
#include <map>

#include "xe/disassembler.hpp"
#include "xe/unit/machine.hpp"
#include "xe/unit/message/form.hpp"
#include "xe/unit/op.hpp"

namespace kiln::xe {

struct Code::Body {
  Target target{};
  std::uint32_t register_bytes = 32;
  bool older = false;              ///< Xe-LP
  std::uint32_t entry = kNowhere;  ///< an index, like those in ops
  std::uint64_t entry_offset = 0;
  std::vector<Op> ops{};
  std::vector<std::string> texts{};                ///< of each op
  std::map<std::uint64_t, std::uint32_t> index{};  ///< by offset
  /// What operands and sends refer to.
  std::deque<std::array<std::uint16_t, kMostLanes>> tables{};
  std::deque<std::array<std::byte, 64>> vectors{};
  std::deque<Form> forms{};
  struct Piece {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes{};
  };
  std::vector<Piece> pieces{};
};

/// Fills in what the text says of an instruction; a reason where it says something that the unit does not
/// know, and the op then fails when it is executed. Targets of branches are left as distances in `jumps`.
struct Jumps {
  std::optional<std::int64_t> jip{}, uip{};
};
[[nodiscard]] std::string resolve_op(const Instruction& instruction, Code::Body& body, Op& op, Jumps& jumps);

/// Handlers for what is no instruction, or none that is known.
void run_unknown(Thread& thread, const Op& op);
void run_undecodable(Thread& thread, const Op& op);

}  // namespace kiln::xe
