// SPDX-License-Identifier: MIT
// What several checks word and count alike.
#pragma once

#include <cstdint>
#include <string>

#include "kiln/binary.hpp"

namespace kiln::detail {

inline constexpr std::uint64_t kKiB = 1024;

inline std::string quoted(const KernelFacts& kernel) { return "kernel `" + kernel.name + "`"; }

}  // namespace kiln::detail
