// SPDX-License-Identifier: MIT
// Lanes of an operand, from registers into arrays of one type and back.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "xe/unit/alu/half.hpp"
#include "xe/unit/thread.hpp"

namespace kiln::xe {

template <class E>
struct Lanes {
  alignas(64) E v[kMostLanes];
  E& operator[](std::size_t i) { return v[i]; }
  const E& operator[](std::size_t i) const { return v[i]; }
};

template <class T>
T read_as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class E, class T>
E widen(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return static_cast<E>(to_float(value));
  else if constexpr (std::is_same_v<T, BFloat>)
    return static_cast<E>(to_float(value));
  else
    return static_cast<E>(value);
}

/// Bytes of the general registers that an indirect operand takes, one offset a lane; false: beyond them, and
/// the thread has failed.
bool resolve(Thread& thread, const Place& place, std::uint32_t lanes, std::uint32_t bytes,
             std::uint16_t (&table)[kMostLanes]);

template <class T, class E>
void gather(Thread& thread, const Place& place, std::uint32_t n, Lanes<E>& to) {
  const std::byte* from = place.constant ? place.constant : thread.registers.bytes() + place.at;
  switch (place.shape) {
    case Shape::scalar: {
      const E value = widen<E>(read_as<T>(from));
      for (std::uint32_t i = 0; i < n; ++i) to[i] = value;
      return;
    }
    case Shape::packed:
      for (std::uint32_t i = 0; i < n; ++i) to[i] = widen<E>(read_as<T>(from + i * sizeof(T)));
      return;
    case Shape::strided:
      for (std::uint32_t i = 0; i < n; ++i) to[i] = widen<E>(read_as<T>(from + i * place.stride));
      return;
    case Shape::table:
      for (std::uint32_t i = 0; i < n; ++i) to[i] = widen<E>(read_as<T>(from + place.table[i]));
      return;
    case Shape::indirect: {
      std::uint16_t table[kMostLanes];
      if (!resolve(thread, place, n, sizeof(T), table)) {
        for (std::uint32_t i = 0; i < n; ++i) to[i] = E{};
        return;
      }
      from = thread.registers.bytes();
      for (std::uint32_t i = 0; i < n; ++i) to[i] = widen<E>(read_as<T>(from + table[i]));
      return;
    }
  }
}

template <class E>
E without_denormal(E value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(E{0}, value) : value;
}

/// Whether values of that type lose their denormals.
inline bool flushes(const Thread& thread, Type type) {
  return type == Type::f    ? thread.flush_f
         : type == Type::df ? thread.flush_df
         : type == Type::hf ? thread.flush_hf
                            : false;
}

inline bool is_denormal_half(float value) { return value != 0 && std::fabs(value) < 0x1p-14F; }

/// A source as the instruction sees it: with its modifiers, and denormals where they count.
template <class E>
void load(Thread& thread, const Place& place, std::uint32_t n, Lanes<E>& to, bool bitwise = false) {
  switch (place.type) {
    case Type::ub:
      gather<std::uint8_t>(thread, place, n, to);
      break;
    case Type::b:
      gather<std::int8_t>(thread, place, n, to);
      break;
    case Type::uw:
      gather<std::uint16_t>(thread, place, n, to);
      break;
    case Type::w:
      gather<std::int16_t>(thread, place, n, to);
      break;
    case Type::ud:
      gather<std::uint32_t>(thread, place, n, to);
      break;
    case Type::d:
      gather<std::int32_t>(thread, place, n, to);
      break;
    case Type::uq:
      gather<std::uint64_t>(thread, place, n, to);
      break;
    case Type::q:
      gather<std::int64_t>(thread, place, n, to);
      break;
    case Type::hf:
      if constexpr (std::is_floating_point_v<E>) gather<Half>(thread, place, n, to);
      break;
    case Type::bf:
      if constexpr (std::is_floating_point_v<E>) gather<BFloat>(thread, place, n, to);
      break;
    case Type::f:
      if constexpr (std::is_floating_point_v<E>) gather<float>(thread, place, n, to);
      break;
    case Type::df:
      if constexpr (std::is_floating_point_v<E>) gather<double>(thread, place, n, to);
      break;
    default:
      for (std::uint32_t i = 0; i < n; ++i) to[i] = E{};
      break;
  }
  if constexpr (std::is_floating_point_v<E>) {
    if (flushes(thread, place.type)) {
      if (place.type == Type::hf) {
        for (std::uint32_t i = 0; i < n; ++i)
          if (is_denormal_half(static_cast<float>(to[i]))) to[i] = std::copysign(E{0}, to[i]);
      } else if (place.type == Type::f) {  // a float that was widened is no denormal any more
        for (std::uint32_t i = 0; i < n; ++i)
          if (std::fabs(to[i]) < static_cast<E>(std::numeric_limits<float>::min()))
            to[i] = std::copysign(E{0}, to[i]);
      } else {
        for (std::uint32_t i = 0; i < n; ++i) to[i] = without_denormal(to[i]);
      }
    }
    if (place.absolute)
      for (std::uint32_t i = 0; i < n; ++i) to[i] = std::fabs(to[i]);
    if (place.negated)
      for (std::uint32_t i = 0; i < n; ++i) to[i] = -to[i];
  } else {
    using U = std::make_unsigned_t<E>;
    if (bitwise) {
      if (place.negated)
        for (std::uint32_t i = 0; i < n; ++i) to[i] = static_cast<E>(~static_cast<U>(to[i]));
      return;
    }
    if (place.absolute)
      for (std::uint32_t i = 0; i < n; ++i)
        to[i] = to[i] < 0 ? static_cast<E>(U{0} - static_cast<U>(to[i])) : to[i];
    if (place.negated)
      for (std::uint32_t i = 0; i < n; ++i) to[i] = static_cast<E>(U{0} - static_cast<U>(to[i]));
    // In the width of the source: of 0x80000000:d it is the same. Source: brw_fs.cpp of Mesa,
    // lower_sub_sat().
    if constexpr (sizeof(E) > 4)
      if (place.type == Type::d && (place.absolute || place.negated))
        for (std::uint32_t i = 0; i < n; ++i) to[i] = static_cast<std::int32_t>(to[i]);
  }
}

/// A value as a register holds it. Integers are cut off, or clamped when the result saturates; floats that
/// become integers are always clamped, and are rounded towards zero. `is_unsigned`: the value is one of 64
/// bits.
template <class T, class E>
T narrow(E value, bool saturated, bool is_unsigned) {
  if constexpr (std::is_same_v<T, Half>) {
    if constexpr (std::is_floating_point_v<E>)
      return to_half(static_cast<double>(value));
    else
      return to_half(is_unsigned ? static_cast<double>(static_cast<std::uint64_t>(value))
                                 : static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, BFloat>) {
    return to_bfloat(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    if constexpr (std::is_same_v<E, std::int64_t>)
      if (is_unsigned) return static_cast<T>(static_cast<std::uint64_t>(value));
    return static_cast<T>(value);
  } else if constexpr (std::is_floating_point_v<E>) {
    if (std::isnan(value)) return 0;
    // The first value above the range is a power of two, which both types have.
    constexpr E kBeyond = static_cast<E>(static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2);
    if (value >= kBeyond) return std::numeric_limits<T>::max();
    if (value <= static_cast<E>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    return static_cast<T>(value);
  } else {
    if (!saturated) return static_cast<T>(value);
    if (is_unsigned) {
      const auto bits = static_cast<std::uint64_t>(value);
      const auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
      return bits > most ? std::numeric_limits<T>::max() : static_cast<T>(bits);
    }
    if constexpr (std::is_same_v<T, std::uint64_t>)
      return value < 0 ? 0 : static_cast<T>(value);
    else
      return static_cast<T>(
          std::clamp<std::int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
}

template <class T, class E>
void scatter(Thread& thread, const Place& place, std::uint32_t n, const Lanes<E>& from, std::uint32_t mask,
             std::uint32_t full, bool is_unsigned) {
  std::byte* to = thread.registers.bytes() + place.at;
  const bool saturated = place.saturated;
  if (place.shape == Shape::packed && mask == full) {
    if (saturated) {
      for (std::uint32_t i = 0; i < n; ++i) {
        const T value = narrow<T>(from[i], true, is_unsigned);
        std::memcpy(to + i * sizeof(T), &value, sizeof value);
      }
      return;
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      const T value = narrow<T>(from[i], false, is_unsigned);
      std::memcpy(to + i * sizeof(T), &value, sizeof value);
    }
    return;
  }
  std::uint16_t table[kMostLanes];
  std::uint32_t stride = place.stride;
  const std::uint16_t* offsets = nullptr;
  if (place.shape == Shape::indirect) {
    if (!resolve(thread, place, n, sizeof(T), table)) return;
    to = thread.registers.bytes();
    offsets = table;
  }
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
    const T value = narrow<T>(from[i], saturated, is_unsigned);
    std::memcpy(to + (offsets ? offsets[i] : i * stride), &value, sizeof value);
  }
}

/// Writes what the mask lets through. Floats that saturate lie between 0 and 1.
template <class E>
void store(Thread& thread, const Op& op, const Place& place, Lanes<E>& from, std::uint32_t mask,
           bool is_unsigned = false) {
  const std::uint32_t n = op.lanes, full = op.lane_mask;
  if constexpr (std::is_floating_point_v<E>) {
    if (place.saturated && is_floating(place.type))
      for (std::uint32_t i = 0; i < n; ++i)
        from[i] = from[i] > E{0} ? std::min(from[i], E{1}) : E{0};  // not a number becomes 0
    if (flushes(thread, place.type)) {
      const E least = place.type == Type::hf  ? static_cast<E>(0x1p-14)
                      : place.type == Type::f ? static_cast<E>(std::numeric_limits<float>::min())
                                              : static_cast<E>(std::numeric_limits<E>::min());
      for (std::uint32_t i = 0; i < n; ++i)
        if (std::fabs(from[i]) < least) from[i] = std::copysign(E{0}, from[i]);
    }
  }
  if (place.null) return;
  switch (place.type) {
    case Type::ub:
      return scatter<std::uint8_t>(thread, place, n, from, mask, full, is_unsigned);
    case Type::b:
      return scatter<std::int8_t>(thread, place, n, from, mask, full, is_unsigned);
    case Type::uw:
      return scatter<std::uint16_t>(thread, place, n, from, mask, full, is_unsigned);
    case Type::w:
      return scatter<std::int16_t>(thread, place, n, from, mask, full, is_unsigned);
    case Type::ud:
      return scatter<std::uint32_t>(thread, place, n, from, mask, full, is_unsigned);
    case Type::d:
      return scatter<std::int32_t>(thread, place, n, from, mask, full, is_unsigned);
    case Type::uq:
      return scatter<std::uint64_t>(thread, place, n, from, mask, full, is_unsigned);
    case Type::q:
      return scatter<std::int64_t>(thread, place, n, from, mask, full, is_unsigned);
    case Type::hf:
      return scatter<Half>(thread, place, n, from, mask, full, is_unsigned);
    case Type::bf:
      return scatter<BFloat>(thread, place, n, from, mask, full, is_unsigned);
    case Type::f:
      return scatter<float>(thread, place, n, from, mask, full, is_unsigned);
    case Type::df:
      return scatter<double>(thread, place, n, from, mask, full, is_unsigned);
    default:
      return;
  }
}

/// Bit i: lane i meets the condition against zero.
template <class E>
std::uint32_t conditions(Condition condition, const Lanes<E>& a, std::uint32_t n) {
  std::uint32_t bits = 0;
  const auto each = [&](auto meets) {
    for (std::uint32_t i = 0; i < n; ++i) bits |= static_cast<std::uint32_t>(meets(a[i])) << i;
  };
  switch (condition) {
    case Condition::eq:
      each([](E x) { return x == E{0}; });
      break;
    case Condition::ne:
      each([](E x) { return x != E{0}; });
      break;
    case Condition::gt:
      each([](E x) { return x > E{0}; });
      break;
    case Condition::ge:
      each([](E x) { return x >= E{0}; });
      break;
    case Condition::lt:
      each([](E x) { return x < E{0}; });
      break;
    case Condition::le:
      each([](E x) { return x <= E{0}; });
      break;
    case Condition::un:
      if constexpr (std::is_floating_point_v<E>) each([](E x) { return std::isnan(x); });
      break;
    default:
      break;
  }
  return bits;
}

/// Bits 32 to 63 of what an integer result puts into an accumulator.
template <class E>
void store_high(Thread& thread, const Op& op, const Place& place, const Lanes<E>& values,
                std::uint32_t mask) {
  if constexpr (std::is_same_v<E, std::int64_t>) {
    if (place.type != Type::d && place.type != Type::ud) return;
    constexpr auto kStart = offsetof(Registers, accumulator);
    const std::uint32_t first = (place.at - kStart) / 4, step = std::max<std::uint32_t>(1, place.stride / 4);
    for (std::uint32_t i = 0; i < op.lanes; ++i)
      if (mask >> i & 1U)
        thread.registers.high[first + i * step] = static_cast<std::int32_t>(values[i] >> 32);
  }
}

/// The place that an instruction with AccWrEn writes too.
inline Place accumulator_of(const Op& op) {
  Place place = op.result;
  place.null = false;
  place.at = offsetof(Registers, accumulator);
  place.shape = Shape::packed;
  place.stride = static_cast<std::uint16_t>(size_of(place.type));
  place.accumulator = true;
  return place;
}

/// The end of most instructions: the result, the implicit accumulator, flags.
template <class E>
void finish(Thread& thread, const Op& op, Lanes<E>& values, std::uint32_t mask) {
  store(thread, op, op.result, values, mask, op.is_unsigned);
  if (op.result.accumulator) store_high(thread, op, op.result, values, mask);
  if (op.writes_accumulator) {
    const Place place = accumulator_of(op);
    store(thread, op, place, values, mask, op.is_unsigned);
    store_high(thread, op, place, values, mask);
  }
  if (op.condition != Condition::none) thread.set_flags(op, conditions(op.condition, values, op.lanes), mask);
}

}  // namespace kiln::xe
