// SPDX-License-Identifier: MIT
// Widths of specialization constants: Level Zero passes only a pointer for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace kiln::detail {

/// Bytes of each specialization constant of a SPIR-V module, by its SpecId. Every read is bounded by the
/// module's size. Pure.
[[nodiscard]] std::unordered_map<std::uint32_t, std::size_t> constant_sizes(std::span<const std::byte> spirv);

}  // namespace kiln::detail
