// SPDX-License-Identifier: MIT
// Which devices ZE_AFFINITY_MASK leaves.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kiln::cpu {

/// The numbers below `count` that the mask names, in their order; all when it names none: then it is meant
/// for another driver, beside which this one is the reference. An entry is "N", or "N.0": a device without
/// sub-devices counts as its only one. What names no device is passed over, as by Intel's driver. Pure.
[[nodiscard]] std::vector<std::uint32_t> unmasked_devices(std::string_view mask, std::uint32_t count);

}  // namespace kiln::cpu
