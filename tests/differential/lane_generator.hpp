// SPDX-License-Identifier: MIT
// OpenCL C from a seed, of what work-items go through as lanes of a vector: loops, branches that some take,
// places next to each other, the same, and apart.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::test {

/// What a kernel's groups have and write, in ints.
inline constexpr std::uint32_t kLaneInputs = 64;   ///< read by all
inline constexpr std::uint32_t kLaneOutputs = 14;  ///< for each work-item
inline constexpr std::uint32_t kLaneCounters =
    16;                                        ///< that all change, and one more for each item of a group
inline constexpr std::uint32_t kLaneTile = 8;  ///< of SLM, for each item of a group

/// `kernel void NAME(global const int* in, global int* out, int n, local int* tile)`, `n` from 1 to 16. What
/// it writes is the same on every device that is right, whatever the order of work-items.
[[nodiscard]] std::string generate_lane_kernel(const std::string& name, std::uint64_t seed);

}  // namespace kiln::test
