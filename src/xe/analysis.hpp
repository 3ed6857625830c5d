// SPDX-License-Identifier: MIT
// What a kernel's native code costs, as far as its instructions tell: a pure function of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "xe/message.hpp"

namespace kiln::xe {

enum class Kind : std::uint8_t {
  arithmetic,
  math,  ///< the extended unit: roots, quotients, sines
  dpas,  ///< systolic products of matrices
  logic,
  compare,
  move,
  control,
  wait,  ///< sync and nop
  send,
};
[[nodiscard]] std::string_view to_string(Kind kind);
[[nodiscard]] Kind kind_of(const Instruction& instruction);

/// Instructions that are alike. Of sends the type is none.
struct MixEntry {
  Kind kind = Kind::arithmetic;
  Type type = Type::none;
  std::uint32_t lanes = 1;
  std::uint64_t count = 0;
};

struct MessageEntry {
  Message message;
  std::uint64_t count = 0;
};

/// A backward branch, no call, and what it jumps over.
struct Loop {
  std::uint32_t begin = 0, end = 0;  ///< bytes: its first instruction, and the one behind its branch
  std::uint32_t depth = 1;           ///< 2: inside another
  std::uint64_t instructions = 0;    ///< all in it, those of loops inside too
  std::vector<MessageEntry> messages{};
};

struct Liveness {
  std::uint32_t peak = 0;  ///< registers that hold something which is read later
  std::uint32_t at = 0;    ///< bytes
  bool indirect = false;   ///< registers are also addressed through a0: there may be more
  bool known = true;       ///< false: the code branches more than is followed
};

struct CodeAnalysis {
  std::uint64_t instructions = 0, bytes = 0;  ///< without the padding behind the end
  std::vector<MixEntry> mix{};                ///< by kind, type and lanes
  std::vector<MessageEntry> messages{};       ///< by unit, in the order of their first use
  std::vector<Loop> loops{};                  ///< in the order of the code
  bool loops_known = true;                    ///< false: there are more than are looked at, and none here
  Liveness live{};

  /// Messages of a unit; of an action, where one is given.
  [[nodiscard]] std::uint64_t count(Unit unit) const;
  [[nodiscard]] std::uint64_t count(Unit unit, Action action) const;
  [[nodiscard]] std::uint64_t count(Kind kind) const;
  /// In the loop that has most; 0: there is none, or loops are not known.
  [[nodiscard]] std::uint64_t largest_loop() const;
};

/// As the mix has it: of what computes, else none. Pure.
[[nodiscard]] Type mix_type_of(const Instruction& instruction);

/// Instructions behind the end of the program, which are padding, are left out. Pure; thread-safe.
[[nodiscard]] std::span<const Instruction> without_padding(std::span<const Instruction> instructions);

/// `register_bytes`: 32, or 64 from Xe-HPC on. Pure; thread-safe.
[[nodiscard]] CodeAnalysis analyze(std::span<const Instruction> instructions, std::uint32_t register_bytes);

/// Live registers alone, by a backward walk over the bytes of all registers, through the subroutines that are
/// called. Predicated and partial writes end no life. Bounded in time and memory. Pure.
[[nodiscard]] Liveness live_registers(std::span<const Instruction> instructions,
                                      std::uint32_t register_bytes);

}  // namespace kiln::xe
