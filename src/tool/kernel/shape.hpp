// SPDX-License-Identifier: MIT
// How many work-items a kernel is launched with, where the user leaves it open.
#pragma once

#include "kiln/check.hpp"
#include "tool/kernel/match.hpp"

namespace kiln::tool {

/// What the user said of it.
struct ShapeRequest {
  std::optional<Extent> groups, group, global;  ///< work-groups; work-items of a group; work-items in all
};

/// Groups as given, or those that cover `global` without a rest, since a kernel without a guard would write
/// beyond its buffers. Neither: a work-item for each element of the longest buffer, counted in the kernel's
/// own type. The group: as given, as the kernel requires or hints, else the largest multiple of 16 up to 256
/// that divides, and where there is none the largest number. Error: K0431. Pure.
[[nodiscard]] Result<LaunchShape> choose_shape(const ShapeRequest& request, const KernelFacts& kernel,
                                               const LaunchLimits& limits, const std::vector<Bound>& bound,
                                               const Signature& signature);

}  // namespace kiln::tool
