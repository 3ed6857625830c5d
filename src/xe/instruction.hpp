// SPDX-License-Identifier: MIT
// A native instruction as values: what libiga64's text says of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tl/expected.hpp"
#include "xe/disassembler.hpp"

namespace kiln::xe {

/// Of an operand's elements. `other` are packed immediates and what newer releases add.
enum class Type : std::uint8_t {
  none,
  ub,
  b,
  uw,
  w,
  ud,
  d,
  uq,
  q,
  hf,
  bf,
  f,
  df,
  tf32,
  bf8,
  hf8,
  u1,
  u2,
  s2,
  u4,
  s4,
  u8,
  s8,
  other
};
[[nodiscard]] std::string_view to_string(Type type);
/// Bytes of an element; 0: none, or less than one.
[[nodiscard]] std::uint32_t size_of(Type type);
[[nodiscard]] bool is_floating(Type type);

enum class File : std::uint8_t {
  none,         ///< there is no such operand
  general,      ///< r0 to r255
  null,         ///< a result that is thrown away, or nothing to send
  accumulator,  ///< acc0 and the rest of its kind (mme0)
  flag,
  address,  ///< a0
  other,    ///< control, state and what else is architectural
  immediate,
  label,  ///< an instruction, by its offset
};

/// Elements in steps: `<vertical;width,horizontal>`, of results `<horizontal>`.
struct Region {
  std::uint8_t vertical = 0, width = 1, horizontal = 0;
};

struct Operand {
  File file = File::none;
  Type type = Type::none;
  bool indirect = false;                    ///< of the register whose byte address stands in a0
  bool rows = false;                        ///< of those: each row has an element of a0 of its own
  bool negated = false, absolute = false;   ///< as sources; ~ counts as negated
  bool saturated = false;                   ///< as the result
  std::uint16_t number = 0, element = 0;    ///< of the register, and of its first element of that type
  std::optional<std::uint8_t> registers{};  ///< of messages: how many, where the text says so
  Region region{};
  std::uint64_t value = 0;        ///< of an immediate the bits; of a label bytes from the start
  std::uint16_t address = 0;      ///< of indirect ones: the element of a0
  std::int16_t displacement = 0;  ///< and what is added to it, in bytes
  std::string_view name{};  ///< of `other` registers: "cr"; of immediates that are vectors their type: "uv"
  std::optional<std::uint8_t> macro{};  ///< of math macros: the number behind "mme" ("nomme" is 8)
};

struct Predicate {
  std::uint8_t flag = 0, element = 0;  ///< f0.1
  bool inverted = false;
  std::string rule{};  ///< "any16h"; empty: each channel by its own bit
};

/// What a send carries besides registers.
struct Descriptor {
  std::optional<std::uint32_t> value{};  ///< nothing: it stands in a0
  std::uint16_t address = 0;             ///< then: the element of a0
  std::uint32_t beside = 0;              ///< and bits of the instruction itself: "0x4000:a0.2"
};

struct Instruction {
  std::uint32_t offset = 0, size = 0;  ///< bytes; 8 when compacted
  std::string opcode, control;         ///< "send", "ugm"; "math", "inv"; control may be empty
  std::uint8_t lanes = 1, first_lane = 0;
  bool all_lanes = false;  ///< whatever the channel mask is: (W)
  std::optional<Predicate> predicate{};
  std::string condition{};  ///< "lt" where it sets a flag
  std::uint8_t condition_flag = 0, condition_element = 0;
  Operand result{};
  std::array<Operand, 3> sources{};     ///< of branches their labels
  Descriptor extended{}, descriptor{};  ///< of sends
  std::string options{};                ///< between braces: dependencies, EOT, Compacted
  std::string comment{};                ///< of sends: what libiga64 says of the message

  [[nodiscard]] bool has_option(std::string_view name) const;
  [[nodiscard]] bool is_send() const;
  [[nodiscard]] bool ends_thread() const;
  [[nodiscard]] bool is_branch() const;
};

/// The instructions of a text. Its labels and `size`, that of the code in bytes, must agree with what is
/// read; no line is skipped. Pure; thread-safe.
[[nodiscard]] tl::expected<std::vector<Instruction>, NoText> read_instructions(std::string_view text,
                                                                               std::uint64_t size);

/// One instruction of `size` bytes from its line; nothing: the line is not understood. Labels stand as their
/// distance. Pure; thread-safe.
[[nodiscard]] std::optional<Instruction> read_instruction(std::string_view line);

}  // namespace kiln::xe
