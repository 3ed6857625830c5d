// SPDX-License-Identifier: MIT
// The operands of SPIR-V's group and sub-group instructions.
#pragma once

#include <cstdint>
#include <string_view>

namespace kiln::cpu {

/// One letter for each word behind the result, or behind the opcode when there is none:
///   s  scope, work-group or sub-group      u  scope, sub-group
///   o  reduce or scan                      c  reduce, scan or clustered reduce
///   i, f, b  integer, float, truth value, of the result's type, as scalar or vector; v  any of these
///   p  truth value   w  ballot: four words   x  any value of numbers   n  number of an item, 32 bits
///   l  id of a work-item: one to three numbers   k  optional: constant cluster size
///   r  pointer to lanes of the result   P  pointer to lanes of the next operand
/// and first the result: i, f, b, w as above, v any, t truth value, n 32 bits, - none. Empty: not such one.
std::string_view group_signature(std::uint32_t op);

/// Whether the second operand is a group operation, a literal.
inline bool is_group_operation(std::uint32_t op) {
  const std::string_view signature = group_signature(op);
  return signature.size() > 2 && (signature[2] == 'o' || signature[2] == 'c');
}

}  // namespace kiln::cpu
