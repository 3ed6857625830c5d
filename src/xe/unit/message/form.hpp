// SPDX-License-Identifier: MIT
// What a message's descriptors ask for, as values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "xe/unit/machine.hpp"

namespace kiln::xe {

/// The shared functions that messages go to. Those of images and the rest of graphics are not known.
enum class Function : std::uint8_t { none, dc0, dc1, read_only, ugm, slm, tgm, gateway, spawner, other };
[[nodiscard]] Function function_of(std::string_view name);

/// In the numbers of the LSC; the data ports' are translated.
enum class Atomic : std::uint8_t {
  inc = 0x08,
  dec,
  load,
  store,
  add,
  sub,
  smin,
  smax,
  umin,
  umax,
  cas,
  fadd,
  fsub,
  fmin,
  fmax,
  fcas,
  band,
  bor,
  bxor,
  reverse_sub = 0x40,  // of the data ports alone
  predec,
};

struct Form {
  enum class Kind : std::uint8_t {
    unknown,
    load,  ///< of each lane's address
    store,
    atomic,
    block_load,  ///< of one address
    block_store,
    plane_load,  ///< rows of a matrix in memory
    plane_store,
    fence,
    barrier,
    end,
  } kind = Kind::unknown;
  enum class Where : std::uint8_t { flat, stateless, surface, slm } where = Where::flat;
  SurfaceKind surface_kind = SurfaceKind::table;
  std::uint32_t surface = 0;
  Atomic atomic = Atomic::load;
  std::uint8_t address_bytes = 8;
  std::uint8_t memory_bytes = 4, register_bytes = 4;  ///< of an element
  bool upper_half = false;                            ///< 16 bits go into the upper half of 32
  std::uint8_t components = 1;                        ///< bit i: the element `i` behind the address is moved
  std::uint32_t elements = 1;                         ///< how many, of blocks too
  std::uint32_t lanes = 16;                           ///< the message's width, by which its registers lie
  bool header = false;                    ///< the payload begins with a register that has no addresses
  bool masked_words = false;              ///< scratch blocks: lane i writes word i
  bool block_in_header = false;           ///< the block's place stands in the header
  bool header_is_64 = false;              ///< as 64 bits in words 0 and 1, else 32 in word 2
  std::uint32_t header_unit = 1;          ///< bytes that it counts in
  bool base_in_header = false;            ///< Xe-LP, stateless: word 5 says, from bit 10 on, what more to add
  bool scratch = false;                   ///< counted from what r0.5 says
  bool high_half_of_register = false;     ///< a block of 16 bytes in a register's second half
  bool transposed = false, vnni = false;  ///< of planes
  std::int64_t offset = 0;                ///< bytes, added to every address
  std::int16_t offset_x = 0, offset_y = 0;  ///< of planes: elements and rows
  bool by_table = false;                    ///< an LSC message that names an entry of the binding table
  std::uint32_t sent = 0, sent_more = 0, received = 0;  ///< registers
  std::string why{};                                    ///< unknown: what of it
};

/// Of a product whose registers are `register_bytes` long; `older`: Xe-LP, whose scratch is no surface.
/// `lanes` is the instruction's width. Pure.
[[nodiscard]] Form decode_message(Function function, std::uint32_t descriptor, std::uint32_t extended,
                                  bool wide_offset, std::uint32_t lanes, std::uint32_t register_bytes,
                                  bool older);

/// From Xe2 on LSC messages have an offset, in an extended descriptor that is an immediate or in bits of the
/// instruction beside one that is a register. Pure.
void add_offset(Form& form, std::uint32_t bits, bool beside_register);

}  // namespace kiln::xe
