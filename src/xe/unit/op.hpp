// SPDX-License-Identifier: MIT
// An instruction as the unit executes it: its handler, and operands whose places are resolved.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "xe/instruction.hpp"
#include "xe/unit/registers.hpp"

namespace kiln::xe {

struct Thread;
struct Op;
struct Form;
using Handler = void (*)(Thread&, const Op&);

/// How the lanes of an operand lie.
enum class Shape : std::uint8_t {
  scalar,   ///< all lanes have the element at `at`
  packed,   ///< one behind another
  strided,  ///< `stride` bytes from one to the next
  table,    ///< each where its offset says
  indirect  ///< where a0 says, when it is executed
};

struct Place {
  Shape shape = Shape::scalar;
  Type type = Type::none;
  bool negated = false, absolute = false, saturated = false;
  bool null = true;
  bool rows = false;  ///< indirect: each row has an element of a0
  bool accumulator = false;
  std::uint8_t address = 0;  ///< indirect: the element of a0
  std::int16_t displacement = 0;
  std::uint16_t stride = 0;  ///< bytes
  Region region{};
  std::uint32_t at = 0;                  ///< bytes in Registers
  const std::byte* constant = nullptr;   ///< of immediates: in place of registers
  const std::uint16_t* table = nullptr;  ///< bytes from `at`, of each lane
};

/// `early`: of math macros, that the result is final.
enum class Condition : std::uint8_t { none, eq, ne, gt, ge, lt, le, un, early };

/// What a jump waits for.
inline constexpr std::uint32_t kNowhere = UINT32_MAX;

struct Op {
  Handler run = nullptr;
  Handler inner = nullptr;              ///< what a step before or behind it surrounds
  std::uint32_t offset = 0, size = 16;  ///< bytes
  std::uint32_t next = kNowhere;        ///< as an index, like those below
  std::uint32_t jip = kNowhere, uip = kNowhere;
  std::uint32_t lane_mask = 0;  ///< of its lanes, from bit 0
  std::uint8_t lanes = 1, first = 0;
  bool all = false;                    ///< whatever the channel mask is
  bool wakes = false;                  ///< lanes may wait for this instruction
  bool backward = false;               ///< goto.b
  bool loops = false, breaks = false;  ///< while; break
  std::uint8_t is_immediate = 0;       ///< bit i: source i stands in `immediates`
  bool predicated = false, inverted = false;
  bool writes_accumulator = false;
  bool upper_half = false;    ///< mach
  bool half_precise = false;  ///< all sources are hf or bf: its own rounding
  std::uint8_t flag = 0, flag_shift = 0;
  std::uint8_t group = 1;  ///< of the predicate: lanes whose bits are taken together
  bool group_all = false;
  Condition condition = Condition::none;
  std::uint8_t condition_flag = 0, condition_shift = 0;
  std::uint8_t control = 0;  ///< of bfn, math and the like
  Place result{};
  std::array<Place, 3> sources{};
  std::array<std::uint64_t, 3> immediates{};
  // Of sends.
  std::uint8_t unit = 0;
  std::uint32_t resume = 0;  ///< of calls: the offset behind them
  bool ends = false, wide_offset = false;
  bool has_descriptor = true, has_extended = true;
  bool has_offset = false;                       ///< of LSC messages from Xe2 on
  std::uint32_t offset_bits = 0;                 ///< beside an extended descriptor in a0
  std::optional<std::uint8_t> registers_more{};  ///< of the second payload, where the text says so
  std::uint8_t descriptor_address = 0, extended_address = 0;
  std::uint32_t descriptor = 0, extended = 0;
  const Form* form = nullptr;  ///< decoded, where no part of it stands in a0

  bool selects = false;      ///< sel: the predicate chooses, it masks nothing
  bool is_unsigned = false;  ///< integers are compared and clamped as unsigned ones of 64 bits
};

}  // namespace kiln::xe
