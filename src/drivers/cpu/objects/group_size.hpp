// SPDX-License-Identifier: MIT
// Pure arithmetic of launches: group sizes that fit and the shared local memory of a work-group.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "drivers/cpu/program.hpp"
#include "kiln/binary.hpp"

namespace kiln::cpu {

/// A group size that divides the global size in every dimension, with at most `limit` work-items, x first.
[[nodiscard]] std::array<std::uint32_t, 3> suggest_group_size(std::array<std::uint32_t, 3> global,
                                                              std::uint32_t limit);

/// Bytes of shared local memory of a work-group: every local argument at its alignment, the sum rounded up to
/// 1 KiB, and the kernel's own arrays, as Intel's driver adds them, but in 64 bits. UINT64_MAX when even
/// those overflow.
[[nodiscard]] std::uint64_t slm_of_group(const KernelFacts& facts, std::span<const ArgumentValue> arguments);

}  // namespace kiln::cpu
