// SPDX-License-Identifier: MIT
// The facts of a program's kernels as bytes: `.ze_info` says the same to others, but reading YAML costs more
// than linking the code.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/binary.hpp"

namespace kiln::cpu {

std::string write_facts(std::span<const KernelFacts> kernels);

/// Empty when the bytes are not such facts. Every read is bounded.
std::vector<KernelFacts> read_facts(std::string_view bytes);

}  // namespace kiln::cpu
