// SPDX-License-Identifier: MIT
// How much of something fits.
#pragma once

#include <cstdint>

namespace kiln::detail {

/// The largest n in [0, high] with fits(n), where less fits if more does; 0 is not asked for.
template <class Fits>
std::uint64_t largest(std::uint64_t high, Fits fits) {
  std::uint64_t low = 0;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (fits(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

}  // namespace kiln::detail
