// SPDX-License-Identifier: MIT
// Decides whether a SPIR-V module may be handed to the translator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kiln::cpu {

/// The words of the module, when it is valid and uses only what the CPU device can run. Else nothing, and
/// `log` says what is wrong: the validator's words, or the instruction and the function that has it. Some
/// hints are left out. Thread-safe.
std::vector<std::uint32_t> screen_spirv(std::span<const std::byte> spirv, std::string& log);

}  // namespace kiln::cpu
