// SPDX-License-Identifier: MIT
// OpenCL C from a seed: one kernel whose answers are the same on every device that is right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::test {

inline constexpr std::uint32_t kGroupItems = 64, kGroups = 3, kItems = kGroupItems * kGroups;
inline constexpr std::uint32_t kInputs = 8;    ///< words of 64 bits that each work-item reads
inline constexpr std::uint32_t kAtomics = 12;  ///< words that all work-items change, 32 bits each
inline constexpr std::uint32_t kScratch = 64;  ///< bytes that each work-item has in global memory

/// The kernel is `test(in, out, atomics, scratch)`; `out` has `outputs` words of 64 bits for each work-item.
struct GeneratedKernel {
  std::string text;
  std::vector<std::string> outputs;  ///< what each of them is
};

struct GeneratorOptions {
  bool doubles = false;
  bool sub_group_8 = true;      ///< else 16 and 32 alone
  bool portable = false;        ///< neither halves, doubles nor functions of sub-groups
  std::size_t statements = 20;  ///< at most, blocks as one
};

/// No behaviour is undefined or left to the device: divisors are not 0, shifts are less than the width,
/// signed numbers are computed unsigned, floats that are not numbers or 0 lose their bits, sub-group
/// functions and barriers stand where all work-items come, each atomic word has one commutative operation.
[[nodiscard]] GeneratedKernel generate_kernel(std::uint64_t seed, const GeneratorOptions& options);

}  // namespace kiln::test
