// SPDX-License-Identifier: MIT
// SPIR-V changed in one place: another sub-group size, or a barrier less; and what tells of its sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kiln::tool {

/// The module whose kernel requires sub-groups of that size, whatever it required before. Empty: there is no
/// such kernel, or the module is damaged. Pure.
[[nodiscard]] std::vector<std::byte> with_sub_group_size(std::span<const std::byte> spirv,
                                                         std::string_view kernel, std::uint32_t size);

/// The whole numbers that comparisons of the kernel and the functions that it calls are with, in the order of
/// the code: the ends of its loops are among them. Pure.
[[nodiscard]] std::vector<std::uint64_t> compared_numbers(std::span<const std::byte> spirv,
                                                          std::string_view kernel);

/// A barrier of the work-group that orders SLM alone, in the kernel or a function that it calls.
struct SlmBarrier {
  std::size_t at = 0;      ///< word of the module
  std::uint32_t line = 0;  ///< of the source; 0: not known
};
/// In the order of the code. Those that order global memory are none: nobody here would see that they are
/// needed. Pure.
[[nodiscard]] std::vector<SlmBarrier> slm_barriers(std::span<const std::byte> spirv, std::string_view kernel);
/// Pure.
[[nodiscard]] std::vector<std::byte> without_barrier(std::span<const std::byte> spirv,
                                                     const SlmBarrier& barrier);

}  // namespace kiln::tool
