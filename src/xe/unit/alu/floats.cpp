// SPDX-License-Identifier: MIT
// Arithmetic that only floats have: fused products, rounding.
#include <cmath>

#include "xe/unit/alu/alu.hpp"

namespace kiln::xe {
namespace {

/// A product and a sum, rounded once. Halves are computed in double, which holds their products whole.
template <class E>
void multiply_add(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), n = op.lanes;
  if (mask == 0) return;
  Lanes<E> a, b, c;
  load(thread, op.sources[0], n, a);
  load(thread, op.sources[1], n, b);
  load(thread, op.sources[2], n, c);
  for (std::uint32_t i = 0; i < n; ++i) a[i] = std::fma(b[i], c[i], a[i]);
  finish(thread, op, a, mask);
}

#if defined(__x86_64__)
/// The same with the host's instruction in place of a call for each lane.
template <class E>
__attribute__((target("avx2,fma"))) void fuse(Lanes<E>& a, const Lanes<E>& b, const Lanes<E>& c,
                                              std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) a[i] = __builtin_fma(b[i], c[i], a[i]);
}
template <>
__attribute__((target("avx2,fma"))) void fuse(Lanes<float>& a, const Lanes<float>& b, const Lanes<float>& c,
                                              std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) a[i] = __builtin_fmaf(b[i], c[i], a[i]);
}
template <class E>
void multiply_add_fast(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), n = op.lanes;
  if (mask == 0) return;
  Lanes<E> a, b, c;
  load(thread, op.sources[0], n, a);
  load(thread, op.sources[1], n, b);
  load(thread, op.sources[2], n, c);
  fuse(a, b, c, n);
  finish(thread, op, a, mask);
}
bool has_fma() {
  static const bool has = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
  return has;
}
#endif

/// The accumulator in place of the first source.
template <class E>
void multiply_accumulate(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), n = op.lanes;
  if (mask == 0) return;
  Lanes<E> a, b, c;
  Place accumulator = accumulator_of(op);
  load(thread, accumulator, n, a);
  load(thread, op.sources[0], n, b);
  load(thread, op.sources[1], n, c);
  for (std::uint32_t i = 0; i < n; ++i) a[i] = plus(a[i], times(b[i], c[i]));
  finish(thread, op, a, mask);
}

struct RoundDown {
  template <class E>
  static E of(E a, const Op&) {
    return std::floor(a);
  }
};
struct RoundUp {
  template <class E>
  static E of(E a, const Op&) {
    return std::ceil(a);
  }
};
struct RoundToZero {
  template <class E>
  static E of(E a, const Op&) {
    return std::trunc(a);
  }
};
struct RoundToEven {
  template <class E>
  static E of(E a, const Op&) {
    const E below = std::floor(a), past = a - below;
    const bool up = past > E{0.5} || (past == E{0.5} && std::fmod(below, E{2}) != 0);
    return std::copysign(up ? below + 1 : below, a);
  }
};
struct Fraction {
  template <class E>
  static E of(E a, const Op&) {
    return a - std::floor(a);
  }
};

template <class F>
constexpr Family floats() {
  return {nullptr, nullptr, compute<float, F, 1>, compute<double, F, 1>};
}

}  // namespace

Family float_family(std::string_view opcode) {
  if (opcode == "mad") {
#if defined(__x86_64__)
    if (has_fma()) return {nullptr, nullptr, multiply_add_fast<float>, multiply_add_fast<double>};
#endif
    return {nullptr, nullptr, multiply_add<float>, multiply_add<double>};
  }
  if (opcode == "mac")
    return {nullptr, multiply_accumulate<std::int64_t>, multiply_accumulate<float>,
            multiply_accumulate<double>};
  if (opcode == "rndd") return floats<RoundDown>();
  if (opcode == "rndu") return floats<RoundUp>();
  if (opcode == "rndz") return floats<RoundToZero>();
  if (opcode == "rnde") return floats<RoundToEven>();
  if (opcode == "frc") return floats<Fraction>();
  return {};
}

}  // namespace kiln::xe
