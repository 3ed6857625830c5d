// SPDX-License-Identifier: MIT
// cmp, sel and csel: what depends on a comparison.
#include <cmath>

#include "xe/unit/alu/alu.hpp"

namespace kiln::xe {
namespace {

/// Bit i: the condition holds between the lanes. Nothing but `ne` and `un` holds for what is not a number.
template <class E>
std::uint32_t between(Condition condition, const Lanes<E>& a, const Lanes<E>& b, std::uint32_t n) {
  std::uint32_t bits = 0;
  const auto each = [&](auto holds) {
    for (std::uint32_t i = 0; i < n; ++i) bits |= static_cast<std::uint32_t>(holds(a[i], b[i])) << i;
  };
  switch (condition) {
    case Condition::eq:
      each([](E x, E y) { return x == y; });
      break;
    case Condition::ne:
      each([](E x, E y) { return x != y; });
      break;
    case Condition::gt:
      each([](E x, E y) { return x > y; });
      break;
    case Condition::ge:
      each([](E x, E y) { return x >= y; });
      break;
    case Condition::lt:
      each([](E x, E y) { return x < y; });
      break;
    case Condition::le:
      each([](E x, E y) { return x <= y; });
      break;
    case Condition::un:
      if constexpr (std::is_floating_point_v<E>) each([](E x, E y) { return std::isunordered(x, y); });
      break;
    default:
      break;
  }
  return bits;
}

template <class E>
std::uint32_t compare_lanes(const Op& op, const Lanes<E>& a, const Lanes<E>& b) {
  if constexpr (std::is_same_v<E, std::int64_t>) {
    if (op.is_unsigned) {
      Lanes<std::uint64_t> x, y;
      std::memcpy(x.v, a.v, sizeof x.v);
      std::memcpy(y.v, b.v, sizeof y.v);
      return between(op.condition, x, y, op.lanes);
    }
  }
  return between(op.condition, a, b, op.lanes);
}

template <class E>
void compare(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), n = op.lanes;
  if (mask == 0) return;
  Lanes<E> a, b;
  load(thread, op.sources[0], n, a);
  load(thread, op.sources[1], n, b);
  const std::uint32_t bits = compare_lanes(op, a, b);
  if (!op.result.null) {  // all ones where it holds
    Place place = op.result;
    place.type = size_of(place.type) == 8   ? Type::q
                 : size_of(place.type) == 2 ? Type::w
                 : size_of(place.type) == 1 ? Type::b
                                            : Type::d;
    Lanes<std::int64_t> ones;
    for (std::uint32_t i = 0; i < n; ++i) ones[i] = -static_cast<std::int64_t>(bits >> i & 1U);
    store(thread, op, place, ones, mask);
  }
  thread.set_flags(op, bits, mask);
}

/// By the predicate, or by a comparison.
template <class E>
void select(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), n = op.lanes;
  if (mask == 0) return;
  Lanes<E> a, b;
  load(thread, op.sources[0], n, a);
  load(thread, op.sources[1], n, b);
  std::uint32_t bits = 0;
  if (op.condition == Condition::none) {
    bits = thread.predicate(op);
  } else {
    bits = compare_lanes(op, a, b);
    // `ge` and `lt` are the larger and the smaller of two numbers; with other conditions a NaN takes the
    // second.
    const bool takes_number = op.condition == Condition::ge || op.condition == Condition::lt;
    if constexpr (std::is_floating_point_v<E>)
      for (std::uint32_t i = 0; i < n; ++i) {
        if (std::isnan(a[i])) bits &= ~(1U << i);
        if (std::isnan(b[i])) takes_number ? bits |= 1U << i : bits &= ~(1U << i);
      }
  }
  for (std::uint32_t i = 0; i < n; ++i)
    if (!(bits >> i & 1U)) a[i] = b[i];
  store(thread, op, op.result, a, mask, op.is_unsigned);
  if (op.writes_accumulator) store(thread, op, accumulator_of(op), a, mask, op.is_unsigned);
}

/// The third source against zero chooses; no flag is written.
template <class E>
void compare_select(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), n = op.lanes;
  if (mask == 0) return;
  Lanes<E> a, b, c;
  load(thread, op.sources[0], n, a);
  load(thread, op.sources[1], n, b);
  load(thread, op.sources[2], n, c);
  const std::uint32_t bits = conditions(op.condition, c, n);
  for (std::uint32_t i = 0; i < n; ++i)
    if (!(bits >> i & 1U)) a[i] = b[i];
  store(thread, op, op.result, a, mask, op.is_unsigned);
}

}  // namespace

Family compare_family(std::string_view opcode) {
  if (opcode == "cmp") return {nullptr, compare<std::int64_t>, compare<float>, compare<double>};
  if (opcode == "sel") return {nullptr, select<std::int64_t>, select<float>, select<double>};
  if (opcode == "csel")
    return {nullptr, compare_select<std::int64_t>, compare_select<float>, compare_select<double>};
  return {};
}

}  // namespace kiln::xe
