// SPDX-License-Identifier: MIT
// Cooperative launches: all work-groups run at the same time, so that they can wait for each other.
#pragma once

#include "kiln/launch.hpp"

namespace kiln {

/// The most work-groups that such a launch may have: what the driver suggests, lowered to what each core has
/// room for where the product is known; that room alone where it suggests 1, as 26.27 does for everything on
/// dg2 and tgllp. The driver is asked after the check alone: where SLM does not fit,
/// zeKernelSuggestMaxCooperativeGroupCount ends the process (22.43 to 26.31). Sets arguments and group size.
/// Errors: check_launch's with a diagnostic, or the driver's. Thread rules of the kernel apply.
[[nodiscard]] Result<std::uint64_t> max_cooperative_groups(const CheckedKernel& kernel,
                                                           const Extent& group_size,
                                                           std::span<const LaunchArgument> arguments);

/// launch_with() for a cooperative launch. Error besides its own: INVALID_ARGUMENT (K0120) for more groups
/// than may run at the same time; the driver counts them in 32 bits, and only for kernels that synchronize
/// work-groups. K0122 where the list has launches of the other kind (22.43, regular lists).
[[nodiscard]] Result<void> launch_cooperative_with(CommandListRef list, const CheckedKernel& kernel,
                                                   const Launch& launch,
                                                   std::span<const LaunchArgument> arguments);

}  // namespace kiln
