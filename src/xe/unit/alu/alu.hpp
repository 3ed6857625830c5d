// SPDX-License-Identifier: MIT
// Handlers of arithmetic: sources into lanes, one function a lane, the result back.
#pragma once

#include "xe/unit/alu/values.hpp"

namespace kiln::xe {

/// A handler for each type that lanes may be computed in; null: there is none.
struct Family {
  Handler i32 = nullptr;  ///< where only the low 32 bits matter
  Handler i64 = nullptr, f = nullptr, df = nullptr;
};

/// Bits beyond the result's type are none of a logical operation's, nor of a move's: flags are those of what
/// is written.
template <class E>
void cut(const Op& op, Lanes<E>& values) {
  const std::uint32_t size = size_of(op.result.type);
  if (size == 0 || size >= sizeof(E)) return;
  const std::uint32_t unused = 8 * (static_cast<std::uint32_t>(sizeof(E)) - size);
  const bool is_signed = op.result.type == Type::d || op.result.type == Type::w || op.result.type == Type::b;
  for (std::uint32_t i = 0; i < op.lanes; ++i) {
    const auto up = static_cast<std::make_unsigned_t<E>>(values[i]) << unused;
    values[i] = is_signed ? static_cast<E>(up) >> unused : static_cast<E>(up >> unused);
  }
}

/// Floats as the result's type holds them: a move of 0.5 to an integer writes 0, and its flags say so.
template <class E>
void convert(const Op& op, Lanes<E>& values) {
  const auto each = [&]<class T>(T) {
    for (std::uint32_t i = 0; i < op.lanes; ++i) values[i] = widen<E>(narrow<T>(values[i], false, false));
  };
  switch (op.result.type) {
    case Type::ub:
      return each(std::uint8_t{});
    case Type::b:
      return each(std::int8_t{});
    case Type::uw:
      return each(std::uint16_t{});
    case Type::w:
      return each(std::int16_t{});
    case Type::ud:
      return each(std::uint32_t{});
    case Type::d:
      return each(std::int32_t{});
    case Type::uq:
      return each(std::uint64_t{});
    case Type::q:
      return each(std::int64_t{});
    case Type::hf:
      return each(Half{});
    case Type::bf:
      return each(BFloat{});
    case Type::f:
      return each(float{});
    default:
      return;
  }
}

template <class E, class F, int Count, bool Bitwise = false>
void compute(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), n = op.lanes;
  if (mask == 0) return;
  Lanes<E> a, b, c, r;
  load(thread, op.sources[0], n, a, Bitwise);
  if constexpr (Count > 1) load(thread, op.sources[1], n, b, Bitwise);
  if constexpr (Count > 2) load(thread, op.sources[2], n, c, Bitwise);
  if constexpr (Count == 1)
    for (std::uint32_t i = 0; i < n; ++i) r[i] = F::of(a[i], op);
  else if constexpr (Count == 2)
    for (std::uint32_t i = 0; i < n; ++i) r[i] = F::of(a[i], b[i], op);
  else
    for (std::uint32_t i = 0; i < n; ++i) r[i] = F::of(a[i], b[i], c[i], op);
  if constexpr (Bitwise || requires { F::kFlagsOfWritten; })
    if (op.condition != Condition::none && !op.result.saturated) {
      if constexpr (std::is_floating_point_v<E>)
        convert(op, r);
      else if (!is_floating(op.result.type))
        cut(op, r);
    }
  finish(thread, op, r, mask);
}

/// Wrapping arithmetic for integers, plain for floats.
template <class E>
E plus(E a, E b) {
  if constexpr (std::is_integral_v<E>)
    return static_cast<E>(static_cast<std::make_unsigned_t<E>>(a) + static_cast<std::make_unsigned_t<E>>(b));
  else
    return a + b;
}
template <class E>
E times(E a, E b) {
  if constexpr (std::is_integral_v<E>)
    return static_cast<E>(static_cast<std::make_unsigned_t<E>>(a) * static_cast<std::make_unsigned_t<E>>(b));
  else
    return a * b;
}

/// The handlers of an opcode; all null: it has none here.
[[nodiscard]] Family integer_family(std::string_view opcode);
[[nodiscard]] Family float_family(std::string_view opcode);
[[nodiscard]] Family compare_family(std::string_view opcode);
[[nodiscard]] Family wide_family(std::string_view opcode);
/// Of math, by what stands behind its point ("inv").
[[nodiscard]] Family math_family(std::string_view control);

}  // namespace kiln::xe
