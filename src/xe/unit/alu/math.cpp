// SPDX-License-Identifier: MIT
// The extended math unit: roots, quotients, exponentials. Results are as exact as the host's; hardware's may
// differ by the units in the last place that its manual allows.
#include <cmath>

#include "xe/unit/alu/alu.hpp"

namespace kiln::xe {
namespace {

struct Inverse {
  template <class E>
  static E of(E a, const Op&) {
    return E{1} / a;
  }
};
struct Logarithm {
  template <class E>
  static E of(E a, const Op&) {
    return std::log2(a);
  }
};
struct Exponential {
  template <class E>
  static E of(E a, const Op&) {
    return std::exp2(a);
  }
};
struct Root {
  template <class E>
  static E of(E a, const Op&) {
    return std::sqrt(a);
  }
};
struct InverseRoot {
  template <class E>
  static E of(E a, const Op&) {
    if constexpr (std::is_same_v<E, float>) return static_cast<float>(1 / std::sqrt(static_cast<double>(a)));
    return E{1} / std::sqrt(a);
  }
};
struct Sine {
  template <class E>
  static E of(E a, const Op&) {
    return std::sin(a);
  }
};
struct Cosine {
  template <class E>
  static E of(E a, const Op&) {
    return std::cos(a);
  }
};
struct HyperbolicTangent {
  template <class E>
  static E of(E a, const Op&) {
    return std::tanh(a);
  }
};
/// Of whole numbers; a division by zero has all ones as its quotient and the dividend as its rest.
struct Quotient {
  static std::int64_t of(std::int64_t a, std::int64_t b, const Op&) {
    return b == 0 ? -1 : b == -1 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a)) : a / b;
  }
};
struct Rest {
  static std::int64_t of(std::int64_t a, std::int64_t b, const Op&) {
    return b == 0 ? a : b == -1 ? 0 : a % b;
  }
};

/// The first step of a macro for exactly rounded quotients and roots. Hardware says for some lanes that its
/// result is final and the other steps are left out; here it is final for all of them.
template <class E, bool Quotient>
void finish_early(Thread& thread, const Op& op) {
  const std::uint32_t mask = thread.mask(op), n = op.lanes;
  if (mask == 0) return;
  Lanes<E> a, b;
  load(thread, op.sources[0], n, a);
  if constexpr (Quotient) {
    load(thread, op.sources[1], n, b);
    for (std::uint32_t i = 0; i < n; ++i) a[i] = a[i] / b[i];
  } else {
    for (std::uint32_t i = 0; i < n; ++i) a[i] = std::sqrt(a[i]);
  }
  store(thread, op, op.result, a, mask);
  thread.set_flags(op, ~0U, mask);
}

template <class F>
constexpr Family one() {
  return {nullptr, nullptr, compute<float, F, 1>, compute<double, F, 1>};
}
}  // namespace

Family math_family(std::string_view control) {
  if (control == "inv") return one<Inverse>();
  if (control == "log") return one<Logarithm>();
  if (control == "exp") return one<Exponential>();
  if (control == "sqt") return one<Root>();
  if (control == "rsqt") return one<InverseRoot>();
  if (control == "sin") return one<Sine>();
  if (control == "cos") return one<Cosine>();
  if (control == "tanh") return one<HyperbolicTangent>();
  if (control == "invm") return {nullptr, nullptr, finish_early<float, true>, finish_early<double, true>};
  if (control == "rsqtm") return {nullptr, nullptr, finish_early<float, false>, finish_early<double, false>};
  if (control == "iqot") return {nullptr, compute<std::int64_t, Quotient, 2>};
  if (control == "irem") return {nullptr, compute<std::int64_t, Rest, 2>};
  return {};
}

}  // namespace kiln::xe
