// SPDX-License-Identifier: MIT
// A size in up to three dimensions.
#pragma once

#include <cstdint>

namespace kiln {

/// Work-items of a group, or groups of a launch. Dimensions that are not named are 1.
struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;

  [[nodiscard]] constexpr std::uint32_t operator[](int dimension) const {
    return dimension == 0 ? x : dimension == 1 ? y : z;
  }
  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

/// All work-items of a group, or all groups of a launch; UINT64_MAX where 64 bits do not hold them.
[[nodiscard]] constexpr std::uint64_t total(const Extent& extent) {
  const std::uint64_t area = std::uint64_t{extent.x} * extent.y;
  return extent.z && area > UINT64_MAX / extent.z ? UINT64_MAX : area * extent.z;
}

}  // namespace kiln
