// SPDX-License-Identifier: MIT
// DPAS by its definition: for each row of the third source and each lane, the first source plus a dot product
// of `depth` words of 32 bits, each of which holds several numbers.
#include "xe/unit/alu/systolic.hpp"

#include "xe/unit/alu/values.hpp"
#include "xe/unit/places.hpp"

namespace kiln::xe {
namespace {

/// Bits of a number; 0: that type is none of a matrix.
std::uint32_t bits_of(Type type) {
  switch (type) {
    case Type::tf32:
      return 32;
    case Type::hf:
    case Type::bf:
      return 16;
    case Type::ub:
    case Type::b:
    case Type::u8:
    case Type::s8:
      return 8;
    case Type::u4:
    case Type::s4:
      return 4;
    case Type::u2:
    case Type::s2:
      return 2;
    default:
      return 0;
  }
}

/// Products that a step adds to each lane: of numbers of less than 8 bits on both sides no more than of 4.
std::uint32_t products_of(Type b, Type c) {
  const std::uint32_t wider = std::max(bits_of(b), bits_of(c));
  return std::min(8U, 32 / wider);
}
bool is_float_matrix(Type type) { return type == Type::hf || type == Type::bf || type == Type::tf32; }

std::int64_t integer_of(std::uint32_t value, Type type) {
  const bool is_signed = type == Type::b || type == Type::s8 || type == Type::s4 || type == Type::s2;
  const std::uint32_t bits = bits_of(type);
  return is_signed && value >> (bits - 1) ? std::int64_t{value} - (std::int64_t{1} << bits)
                                          : std::int64_t{value};
}
float float_of(std::uint32_t value, Type type) {
  if (type == Type::tf32) return std::bit_cast<float>(value & ~0x1fffU);
  const auto half = static_cast<std::uint16_t>(value);
  return type == Type::hf ? to_float(Half{half}) : to_float(BFloat{half});
}

std::uint32_t word_at(const Thread& thread, std::uint32_t at) {
  return read_as<std::uint32_t>(thread.registers.bytes() + at);
}

/// Calls `add` with the numbers of each product of a row and a lane. A lane's numbers of the second source
/// stand one behind another in its words, one register a word; those of the third lie packed, row by row.
template <class F>
void each_product(const Thread& thread, const Op& op, std::uint32_t row, std::uint32_t lane, F add) {
  const Type b_type = op.sources[1].type, c_type = op.sources[2].type;
  const std::uint32_t depth = op.control & 15U, products = products_of(b_type, c_type);
  const auto number = [&](std::uint32_t word, std::uint32_t index, std::uint32_t bits) {
    return bits == 32 ? word : word >> index % (32 / bits) * bits & ((1U << bits) - 1);
  };
  const std::uint32_t b_bits = bits_of(b_type), c_bits = bits_of(c_type);
  for (std::uint32_t i = 0; i < depth * products; ++i) {
    const std::uint32_t b_word = i / (32 / b_bits), of_c = row * depth * products + i;
    const std::uint32_t b = word_at(thread, op.sources[1].at + (b_word * op.lanes + lane) * 4);
    const std::uint32_t c = word_at(thread, op.sources[2].at + of_c / (32 / c_bits) * 4);
    add(number(b, i, b_bits), number(c, of_c, c_bits));
  }
}

void multiply_matrices(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), rows = op.control >> 4, n = op.lanes;
  const Type b_type = op.sources[1].type, c_type = op.sources[2].type;
  const std::uint32_t size = size_of(op.result.type), sum_size = size_of(op.sources[0].type);
  // All is read before anything is written, as a row may be the next one's source.
  alignas(64) std::byte out[8 * kMostLanes * 4];

  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::uint32_t lane = 0; lane < n; ++lane) {
      std::byte* to = out + (row * n + lane) * std::size_t{4};
      const std::uint32_t from = op.sources[0].at + (row * n + lane) * sum_size;
      if (is_float_matrix(b_type)) {
        float sum = 0;
        if (!op.sources[0].null)
          sum = op.sources[0].type == Type::f    ? read_as<float>(thread.registers.bytes() + from)
                : op.sources[0].type == Type::hf ? to_float(read_as<Half>(thread.registers.bytes() + from))
                                                 : to_float(read_as<BFloat>(thread.registers.bytes() + from));
        each_product(thread, op, row, lane, [&](std::uint32_t b, std::uint32_t c) {
          sum = std::fma(float_of(b, b_type), float_of(c, c_type), sum);
        });
        if (op.result.type == Type::f) {
          std::memcpy(to, &sum, 4);
        } else {
          const std::uint16_t bits = op.result.type == Type::hf ? to_half(sum).bits : to_bfloat(sum).bits;
          std::memcpy(to, &bits, 2);
        }
      } else {
        std::int64_t sum = op.sources[0].null ? 0 : static_cast<std::int32_t>(word_at(thread, from));
        each_product(thread, op, row, lane, [&](std::uint32_t b, std::uint32_t c) {
          sum += integer_of(b, b_type) * integer_of(c, c_type);
        });
        const auto bits = static_cast<std::uint32_t>(sum);
        std::memcpy(to, &bits, 4);
      }
    }
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::uint32_t lane = 0; lane < n; ++lane)
      if (mask >> lane & 1U)
        std::memcpy(thread.registers.bytes() + op.result.at + (row * n + lane) * size,
                    out + (row * n + lane) * std::size_t{4}, size);
}

}  // namespace

std::string resolve_systolic(const Instruction& from, Code::Body& body, Op& op) {
  if (from.opcode != "dpas") return "dpasw";
  const std::string& shape = from.control;  // "8x4": depth by rows
  if (shape.size() != 3 || shape[0] != '8' || shape[1] != 'x' || shape[2] < '1' || shape[2] > '8')
    return "dpas." + shape;
  const auto rows = static_cast<std::uint32_t>(shape[2] - '0');
  constexpr std::uint32_t kDepth = 8;
  op.control = static_cast<std::uint8_t>(rows << 4 | kDepth);
  for (auto why :
       {place_payload(from.result, body, op.result), place_payload(from.sources[0], body, op.sources[0]),
        place_payload(from.sources[1], body, op.sources[1]),
        place_payload(from.sources[2], body, op.sources[2])})
    if (!why.empty()) return why;
  op.result.type = from.result.type;
  for (std::size_t i = 0; i < 3; ++i) op.sources[i].type = from.sources[i].type;
  const Type b = op.sources[1].type, c = op.sources[2].type;
  if (bits_of(b) == 0 || bits_of(c) == 0 || ((is_float_matrix(b) || is_float_matrix(c)) && b != c))
    return "dpas of such types";
  const std::uint32_t begin = from.sources[2].element * bits_of(c);
  if (begin % 32 != 0) return "dpas from within a word";
  op.sources[2].at += begin / 8;
  const bool result_known = is_float_matrix(b) ? op.result.type == Type::f || op.result.type == Type::hf ||
                                                     op.result.type == Type::bf
                                               : op.result.type == Type::d || op.result.type == Type::ud;
  if (!result_known || op.result.saturated || op.condition != Condition::none || op.predicated ||
      (!op.sources[0].null && size_of(op.sources[0].type) == 0))
    return "dpas with such a result";
  const std::uint32_t end = Registers::kGeneral * body.register_bytes;
  if (op.lanes > 16 || op.result.null || op.sources[1].null || op.sources[2].null ||
      op.result.at + rows * op.lanes * 4 > end || op.sources[0].at + rows * op.lanes * 4 > end ||
      op.sources[1].at + kDepth * products_of(b, c) * bits_of(b) / 32 * op.lanes * 4 > end ||
      op.sources[2].at + rows * kDepth * products_of(b, c) * bits_of(c) / 8 > end)
    return "dpas beyond the registers";
  op.run = multiply_matrices;
  return {};
}

}  // namespace kiln::xe
