// SPDX-License-Identifier: MIT
// Reads the application's specialization constants with the sizes that the SPIR-V module gives them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "drivers/cpu/api/abi.hpp"
#include "drivers/cpu/program.hpp"

namespace kiln::cpu {

/// Level Zero passes only a pointer for each constant; how many bytes to read stands in the module. Constants
/// that the module does not have are left out and named in the log. Every read of the module is bounded by
/// its size.
[[nodiscard]] std::vector<SpecializationConstant> read_constants(std::span<const std::byte> spirv,
                                                                 const ze_module_constants_t& constants,
                                                                 std::string& log);

}  // namespace kiln::cpu
