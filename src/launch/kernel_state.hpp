// SPDX-License-Identifier: MIT
// What the driver says of a fresh kernel, joined with what its file says.
#pragma once

#include "kiln/check.hpp"
#include "kiln/device.hpp"
#include "kiln/module.hpp"

namespace kiln::detail {

/// `properties` as they are before an argument is set. Pure.
void add_properties(KernelFacts& facts, const KernelProperties& properties);

/// What device and kernel allow together. Pure.
[[nodiscard]] LaunchLimits launch_limits(const KernelProperties& properties, const ComputeProperties& device);

}  // namespace kiln::detail
