// SPDX-License-Identifier: MIT
// The facts of a program's kernels as bytes: `.ze_info` says the same to others, but reading YAML costs more
// than linking the code.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/binary.hpp"

namespace kiln::cpu {

/// What is known of a kernel besides its code.
struct DescribedKernel {
  KernelFacts facts;
  std::array<std::uint32_t, 3> group_size_hint{};  ///< zero: none
  std::string refused;                             ///< why it has no code; else empty
  bool grid_barrier = false;                       ///< work-groups wait for each other
  bool calls_pointers = false;                     ///< may call functions that are known at run time alone
};

std::string write_facts(std::span<const DescribedKernel> kernels);

/// Nothing when the bytes are not such facts. Every read is bounded.
std::optional<std::vector<DescribedKernel>> read_facts(std::string_view bytes);

}  // namespace kiln::cpu
