// SPDX-License-Identifier: MIT
// Arithmetic and logic that integers (and, where it makes sense, floats) have.
#include <bit>

#include "xe/unit/alu/alu.hpp"

namespace kiln::xe {
namespace {

struct Move {
  static constexpr bool kFlagsOfWritten = true;
  template <class E>
  static E of(E a, const Op&) {
    return a;
  }
};
struct Not {
  template <class E>
  static E of(E a, const Op&) {
    return static_cast<E>(~a);
  }
};
struct Add {
  static constexpr bool kFlagsOfWritten = true;  // ocloc tells by (lt) that a sum that wrapped is negative
  template <class E>
  static E of(E a, E b, const Op&) {
    return plus(a, b);
  }
};
struct Add3 {
  static constexpr bool kFlagsOfWritten = true;
  template <class E>
  static E of(E a, E b, E c, const Op&) {
    return plus(plus(a, b), c);
  }
};
struct Multiply {
  static constexpr bool kFlagsOfWritten = true;  // of 8 bits ocloc tells by (ne) whether any is left
  template <class E>
  static E of(E a, E b, const Op&) {
    return times(a, b);
  }
};
struct MultiplyAdd {
  static constexpr bool kFlagsOfWritten = true;
  template <class E>
  static E of(E a, E b, E c, const Op&) {
    return plus(a, times(b, c));
  }
};
struct Average {
  static constexpr bool kFlagsOfWritten = true;
  template <class E>
  static E of(E a, E b, const Op&) {
    return static_cast<E>(plus(plus(a, b), E{1}) >> 1);
  }
};
struct And {
  template <class E>
  static E of(E a, E b, const Op&) {
    return a & b;
  }
};
struct Or {
  template <class E>
  static E of(E a, E b, const Op&) {
    return a | b;
  }
};
struct Xor {
  template <class E>
  static E of(E a, E b, const Op&) {
    return a ^ b;
  }
};
/// Any function of three bits: bit i of `control` is its value where the sources' bits are those of i.
struct Boolean {
  template <class E>
  static E of(E a, E b, E c, const Op& op) {
    E result = 0;
    for (int i = 0; i < 8; ++i)
      if (op.control >> i & 1)
        result |= (i & 1 ? a : static_cast<E>(~a)) & (i & 2 ? b : static_cast<E>(~b)) &
                  (i & 4 ? c : static_cast<E>(~c));
    return result;
  }
};

/// Bits of the first source, which shifts count in.
std::uint64_t bits_of(std::int64_t value, std::uint32_t size) {
  return static_cast<std::uint64_t>(value) & (size >= 8 ? ~0ULL : (1ULL << 8 * size) - 1);
}
std::uint32_t count_of(std::int64_t count, const Op& op) {
  const bool wide = size_of(op.sources[0].type) == 8 || size_of(op.result.type) == 8;
  return static_cast<std::uint32_t>(count) & (wide ? 63U : 31U);
}
struct ShiftLeft {
  static constexpr bool kFlagsOfWritten = true;  // ocloc tells by (eq) that no bit is left
  static std::int64_t of(std::int64_t a, std::int64_t b, const Op& op) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << count_of(b, op));
  }
  static std::int32_t of(std::int32_t a, std::int32_t b, const Op&) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << (static_cast<std::uint32_t>(b) & 31U));
  }
};
struct ShiftRight {
  static constexpr bool kFlagsOfWritten = true;
  static std::int64_t of(std::int64_t a, std::int64_t b, const Op& op) {
    return static_cast<std::int64_t>(bits_of(a, size_of(op.sources[0].type)) >> count_of(b, op));
  }
};
struct ShiftArithmetic {
  static constexpr bool kFlagsOfWritten = true;
  static std::int64_t of(std::int64_t a, std::int64_t b, const Op& op) { return a >> count_of(b, op); }
};
template <bool Left>
struct Rotate {
  static constexpr bool kFlagsOfWritten = true;
  static std::int64_t of(std::int64_t a, std::int64_t b, const Op& op) {
    const std::uint32_t size = size_of(op.sources[0].type), width = 8 * size;
    const std::uint64_t value = bits_of(a, size);
    std::uint32_t count = static_cast<std::uint32_t>(b) & (width - 1);
    if (count == 0) return static_cast<std::int64_t>(value);
    if (!Left) count = width - count;
    return static_cast<std::int64_t>(bits_of(static_cast<std::int64_t>(value << count), size) |
                                     value >> (width - count));
  }
};
struct Reverse {
  static std::int64_t of(std::int64_t a, const Op&) {
    auto bits = static_cast<std::uint32_t>(a);
    std::uint32_t result = 0;
    for (int i = 0; i < 32; ++i, bits >>= 1) result = result << 1 | (bits & 1);
    return result;
  }
};
struct CountBits {
  static std::int64_t of(std::int64_t a, const Op& op) {
    return std::popcount(bits_of(a, size_of(op.sources[0].type)));
  }
};
struct LeadingZeros {
  static std::int64_t of(std::int64_t a, const Op&) {
    return std::countl_zero(static_cast<std::uint32_t>(a));
  }
};
struct FirstLow {
  static std::int64_t of(std::int64_t a, const Op&) {
    const auto bits = static_cast<std::uint32_t>(a);
    return bits ? std::countr_zero(bits) : 0xffffffff;
  }
};
/// From the top: the first one, or of signed sources the first bit that is not the sign's.
struct FirstHigh {
  static std::int64_t of(std::int64_t a, const Op& op) {
    auto bits = static_cast<std::uint32_t>(a);
    if (op.sources[0].type == Type::d && (bits >> 31)) bits = ~bits;
    return bits ? std::countl_zero(bits) : 0xffffffff;
  }
};
/// `width`, `offset`, and the bits they are taken from.
struct Extract {
  static std::int64_t of(std::int64_t a, std::int64_t b, std::int64_t c, const Op& op) {
    const std::uint32_t width = static_cast<std::uint32_t>(a) & 31U,
                        offset = static_cast<std::uint32_t>(b) & 31U;
    if (width == 0) return 0;
    const auto value = static_cast<std::uint32_t>(c);
    const bool is_signed = op.result.type == Type::d;
    if (width + offset < 32) {
      const std::uint32_t left = value << (32 - width - offset);
      return is_signed ? static_cast<std::int32_t>(left) >> (32 - width)
                       : static_cast<std::int64_t>(left >> (32 - width));
    }
    return is_signed ? static_cast<std::int32_t>(value) >> offset
                     : static_cast<std::int64_t>(value >> offset);
  }
};
struct FieldMask {
  static std::int64_t of(std::int64_t a, std::int64_t b, const Op&) {
    const std::uint32_t width = static_cast<std::uint32_t>(a) & 31U,
                        offset = static_cast<std::uint32_t>(b) & 31U;
    return static_cast<std::uint32_t>(((1U << width) - 1) << offset);
  }
};
struct Insert {
  static std::int64_t of(std::int64_t mask, std::int64_t value, std::int64_t base, const Op&) {
    return (value & mask) | (base & ~mask);
  }
};
/// The sum of four products of bytes, and the first source.
struct DotBytes {
  static std::int64_t of(std::int64_t a, std::int64_t b, std::int64_t c, const Op& op) {
    const auto byte = [](std::int64_t word, int i, Type type) -> std::int64_t {
      const auto bits = static_cast<std::uint8_t>(static_cast<std::uint64_t>(word) >> 8 * i);
      return type == Type::d || type == Type::b ? static_cast<std::int8_t>(bits) : std::int64_t{bits};
    };
    for (int i = 0; i < 4; ++i) a += byte(b, i, op.sources[1].type) * byte(c, i, op.sources[2].type);
    return a;
  }
};

template <class F, int Count, bool Bitwise = false>
constexpr Family integers() {
  return {compute<std::int32_t, F, Count, Bitwise>, compute<std::int64_t, F, Count, Bitwise>};
}
template <class F, int Count>
constexpr Family wide_only() {
  return {nullptr, compute<std::int64_t, F, Count>};
}
template <class F, int Count>
constexpr Family all() {
  return {compute<std::int32_t, F, Count>, compute<std::int64_t, F, Count>, compute<float, F, Count>,
          compute<double, F, Count>};
}

}  // namespace

Family integer_family(std::string_view opcode) {
  if (opcode == "mov") return all<Move, 1>();
  if (opcode == "add") return all<Add, 2>();
  if (opcode == "mul") return all<Multiply, 2>();
  if (opcode == "mad") return integers<MultiplyAdd, 3>();
  if (opcode == "add3") return integers<Add3, 3>();
  if (opcode == "and") return integers<And, 2, true>();
  if (opcode == "or") return integers<Or, 2, true>();
  if (opcode == "xor") return integers<Xor, 2, true>();
  if (opcode == "not") return integers<Not, 1, true>();
  if (opcode == "bfn") return integers<Boolean, 3, true>();
  if (opcode == "shl") return integers<ShiftLeft, 2>();
  if (opcode == "shr") return wide_only<ShiftRight, 2>();
  if (opcode == "asr") return wide_only<ShiftArithmetic, 2>();
  if (opcode == "rol") return wide_only<Rotate<true>, 2>();
  if (opcode == "ror") return wide_only<Rotate<false>, 2>();
  if (opcode == "avg") return wide_only<Average, 2>();
  if (opcode == "bfrev") return wide_only<Reverse, 1>();
  if (opcode == "cbit") return wide_only<CountBits, 1>();
  if (opcode == "lzd") return wide_only<LeadingZeros, 1>();
  if (opcode == "fbl") return wide_only<FirstLow, 1>();
  if (opcode == "fbh") return wide_only<FirstHigh, 1>();
  if (opcode == "bfe") return wide_only<Extract, 3>();
  if (opcode == "bfi1") return wide_only<FieldMask, 2>();
  if (opcode == "bfi2") return wide_only<Insert, 3>();
  if (opcode == "dp4a") return wide_only<DotBytes, 3>();
  return {};
}

}  // namespace kiln::xe
