// SPDX-License-Identifier: MIT
// What a send asks of which unit, and how wide it is.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "xe/instruction.hpp"

namespace kiln::xe {

enum class Unit : std::uint8_t {
  global,     ///< device memory by address or surface
  slm,        ///< shared local memory
  constant,   ///< the read-only cache
  scratch,    ///< memory of the hardware thread: private arrays, spilled registers
  arguments,  ///< the kernel's arguments and local ids, as the thread begins
  image,      ///< typed surfaces and samplers
  barrier,    ///< the gateway's: a signal to the work-group
  fence,
  thread,  ///< its end
  other,
};
[[nodiscard]] std::string_view to_string(Unit unit);

enum class Action : std::uint8_t { load, store, atomic, other };
[[nodiscard]] std::string_view to_string(Action action);

/// Of a memory message: `elements` of `bits` for each lane, or for the one address of a block.
struct Message {
  Unit unit = Unit::other;
  Action action = Action::other;
  std::uint32_t bits = 0, elements = 0;  ///< 0: not known
  bool block = false;
  std::uint32_t lanes = 0;               ///< that it may serve
  std::uint32_t sent = 0, received = 0;  ///< registers

  /// Bytes of memory that it touches when all lanes are active; 0: not known.
  [[nodiscard]] std::uint64_t bytes() const;
  /// "global load of 4 x 32 bits for each of 16 lanes". Pure.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] friend auto operator<=>(const Message&, const Message&) = default;
};

/// Of a send, by its unit, its descriptor and libiga64's words for it. Pure; thread-safe.
[[nodiscard]] Message message_of(const Instruction& send);

}  // namespace kiln::xe
