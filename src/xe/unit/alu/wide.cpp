// SPDX-License-Identifier: MIT
// Integers wider than 32 bits, in steps: products through the accumulator, carries and borrows.
#include "xe/unit/alu/alu.hpp"

namespace kiln::xe {
namespace {

/// Integers of the accumulator with all of their 64 bits.
void load_accumulator(Thread& thread, const Op& op, Lanes<std::int64_t>& to) {
  for (std::uint32_t i = 0; i < op.lanes; ++i) {
    const auto low = read_as<std::uint32_t>(thread.registers.accumulator + 4 * std::size_t{i});
    to[i] = static_cast<std::int64_t>(
        std::uint64_t{static_cast<std::uint32_t>(thread.registers.high[i])} << 32 | low);
  }
}

/// The second half of a product of 32 bits by 32: what `mul` left in the accumulator, plus the first source
/// times the upper half of the second. The result is the product's upper half and the
/// accumulator keeps the lower one; without, the result is the lower half (`macl`).
void multiply_high(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), n = op.lanes;
  if (mask == 0) return;
  Lanes<std::int64_t> a, b, sum, r;
  load(thread, op.sources[0], n, a);
  load(thread, op.sources[1], n, b);
  load_accumulator(thread, op, sum);
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto upper = static_cast<std::uint64_t>(a[i]) * static_cast<std::uint64_t>(b[i] >> 16);
    sum[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum[i]) + (upper << 16));
    const bool is_unsigned = op.sources[0].type == Type::ud && op.sources[1].type == Type::ud;
    const std::int64_t high =
        is_unsigned ? static_cast<std::int64_t>(static_cast<std::uint64_t>(sum[i]) >> 32) : sum[i] >> 32;
    r[i] = op.upper_half ? high : sum[i] & 0xffffffff;
  }
  if (op.result.type == Type::d)
    for (std::uint32_t i = 0; i < n; ++i) r[i] = static_cast<std::int32_t>(r[i]);
  store(thread, op, op.result, r, mask);
  if (op.condition != Condition::none) thread.set_flags(op, conditions(op.condition, r, n), mask);
  if (op.writes_accumulator) {
    const Place place = accumulator_of(op);
    store(thread, op, place, sum, mask);
    store_high(thread, op, place, sum, mask);
  }
}

/// The sum or difference, and its carry or borrow in the accumulator.
template <bool Minus>
void with_carry(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), n = op.lanes;
  if (mask == 0) return;
  Lanes<std::int64_t> a, b, r, carry;
  load(thread, op.sources[0], n, a);
  load(thread, op.sources[1], n, b);
  for (std::uint32_t i = 0; i < n; ++i) {
    const auto x = static_cast<std::uint32_t>(a[i]), y = static_cast<std::uint32_t>(b[i]);
    r[i] = Minus ? x - y : x + y;
    carry[i] = Minus ? x < y : (std::uint64_t{x} + y) >> 32;
  }
  store(thread, op, op.result, r, mask);
  if (op.condition != Condition::none) thread.set_flags(op, conditions(op.condition, r, n), mask);
  const Place place = accumulator_of(op);
  store(thread, op, place, carry, mask);
  store_high(thread, op, place, carry, mask);
}

/// A product into the accumulator, which takes the lower half of the second source.
void multiply_to_accumulator(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), n = op.lanes;
  if (mask == 0) return;
  Lanes<std::int64_t> a, b;
  load(thread, op.sources[0], n, a);
  load(thread, op.sources[1], n, b);
  const bool halves = size_of(op.sources[0].type) == 4 && size_of(op.sources[1].type) == 4;
  for (std::uint32_t i = 0; i < n; ++i) a[i] = times(a[i], halves ? b[i] & 0xffff : b[i]);
  finish(thread, op, a, mask);
}

}  // namespace

Family wide_family(std::string_view opcode) {
  if (opcode == "mach" || opcode == "macl") return {nullptr, multiply_high};
  if (opcode == "addc") return {nullptr, with_carry<false>};
  if (opcode == "subb") return {nullptr, with_carry<true>};
  if (opcode == "mul.acc") return {nullptr, multiply_to_accumulator};
  return {};
}

}  // namespace kiln::xe
