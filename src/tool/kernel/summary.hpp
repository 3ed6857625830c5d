// SPDX-License-Identifier: MIT
// What a kernel wrote, in few words, and compared with what was expected.
#pragma once

#include "support/json.hpp"
#include "tool/kernel/element.hpp"

namespace kiln::tool {

/// How far a number may be from the one that is expected: by the largest of this and this part of it.
struct Tolerance {
  double value = 0;  ///< absolute, and relative to the number that is expected
};

struct Difference {
  std::uint64_t count = 0, first = 0;  ///< numbers that differ, and the place of the first
  std::string got, wanted;             ///< the first's
  double largest = 0;                  ///< distance of two numbers that differ; infinite with a NaN
};

/// `got` and `wanted` have as many bytes. Two NaNs are equal. Without tolerance the bits decide, but for the
/// sign of zero. Vectors of three have a fourth number that nobody looks at. Pure.
[[nodiscard]] Difference compare_arrays(const Array& got, const Array& wanted, Tolerance tolerance);

/// Count, first values, smallest and largest, NaNs, SHA-256: as JSON. Pure.
[[nodiscard]] detail::Json summary_json(const Array& array);
/// The same as a line. Pure.
[[nodiscard]] std::string summary_text(const Array& array);

}  // namespace kiln::tool
