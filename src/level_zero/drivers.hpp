// SPDX-License-Identifier: MIT
// The two ways of Level Zero to ask which drivers there are.
#pragma once

#include <span>
#include <vector>

#include "kiln/device.hpp"

// The specification (since 1.10) calls the two together in one process undefined. Loaders up to 1.32 allow
// them, in either order: a driver that one of them started is not started again by the other. Neither does
// alone: zeInit counts once in a process, with the flags of whoever was first, and zeInitDrivers skips
// drivers that are older than it. So zeInitDrivers is asked only where zeInit shows no GPU.
namespace kiln::detail {

/// zeDriverGet: all that zeInit made ready.
[[nodiscard]] Result<std::vector<DriverRef>> drivers_by_init(const Api& api);

/// zeInitDrivers, which the table must have, for drivers of GPUs.
[[nodiscard]] Result<std::vector<DriverRef>> drivers_by_type(const Api& api);

[[nodiscard]] bool has_gpu(std::span<const DriverRef> drivers);

}  // namespace kiln::detail
