// SPDX-License-Identifier: MIT
// Atomic operations by compare and swap.
#include "xe/unit/message/atomic.hpp"

#include <bit>
#include <cmath>
#include <type_traits>

#include "xe/unit/alu/half.hpp"

namespace kiln::xe {
namespace {

template <class F, class U>
F as_float(U bits) {
  if constexpr (sizeof(U) == 2)
    return to_float(Half{bits});
  else
    return std::bit_cast<F>(bits);
}
template <class F, class U>
U as_bits(F value) {
  if constexpr (sizeof(U) == 2)
    return to_half(static_cast<double>(value)).bits;
  else
    return std::bit_cast<U>(value);
}

/// The new value; nothing changes where it is the old one.
template <class U>
U result(Atomic operation, U old, U a, U b) {
  using S = std::make_signed_t<U>;
  using F = std::conditional_t<sizeof(U) == 8, double, float>;
  const auto smaller = [](F x, F y) { return std::isnan(x) ? y : std::isnan(y) ? x : x < y ? x : y; };
  const auto larger = [](F x, F y) { return std::isnan(x) ? y : std::isnan(y) ? x : x > y ? x : y; };
  switch (operation) {
    case Atomic::inc:
      return static_cast<U>(old + 1);
    case Atomic::dec:
    case Atomic::predec:
      return static_cast<U>(old - 1);
    case Atomic::load:
      return old;
    case Atomic::store:
      return a;
    case Atomic::add:
      return static_cast<U>(old + a);
    case Atomic::sub:
      return static_cast<U>(old - a);
    case Atomic::reverse_sub:
      return static_cast<U>(a - old);
    case Atomic::smin:
      return static_cast<S>(a) < static_cast<S>(old) ? a : old;
    case Atomic::smax:
      return static_cast<S>(a) > static_cast<S>(old) ? a : old;
    case Atomic::umin:
      return a < old ? a : old;
    case Atomic::umax:
      return a > old ? a : old;
    case Atomic::cas:
      return old == a ? b : old;
    case Atomic::band:
      return old & a;
    case Atomic::bor:
      return old | a;
    case Atomic::bxor:
      return old ^ a;
    case Atomic::fadd:
      return as_bits<F, U>(as_float<F>(old) + as_float<F>(a));
    case Atomic::fsub:
      return as_bits<F, U>(as_float<F>(old) - as_float<F>(a));
    case Atomic::fmin:
      return as_bits<F, U>(smaller(as_float<F>(old), as_float<F>(a)));
    case Atomic::fmax:
      return as_bits<F, U>(larger(as_float<F>(old), as_float<F>(a)));
    case Atomic::fcas:
      return as_float<F>(old) == as_float<F>(a) ? b : old;
  }
  return old;
}

template <class U>
std::uint64_t exchange(Atomic operation, std::byte* at, std::uint64_t first, std::uint64_t second) {
  auto* memory = reinterpret_cast<U*>(at);
  U old = __atomic_load_n(memory, __ATOMIC_RELAXED);
  for (;;) {
    const U next = result(operation, old, static_cast<U>(first), static_cast<U>(second));
    if (__atomic_compare_exchange_n(memory, &old, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return operation == Atomic::predec ? next : old;
  }
}

}  // namespace

std::uint64_t do_atomic(Atomic operation, std::byte* at, std::uint32_t bytes, std::uint64_t first,
                        std::uint64_t second) {
  if (bytes == 2) return exchange<std::uint16_t>(operation, at, first, second);
  if (bytes == 8) return exchange<std::uint64_t>(operation, at, first, second);
  return exchange<std::uint32_t>(operation, at, first, second);
}

std::uint32_t atomic_operands(Atomic operation) {
  switch (operation) {
    case Atomic::inc:
    case Atomic::dec:
    case Atomic::predec:
    case Atomic::load:
      return 0;
    case Atomic::cas:
    case Atomic::fcas:
      return 2;
    default:
      return 1;
  }
}

}  // namespace kiln::xe
