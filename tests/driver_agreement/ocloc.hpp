// SPDX-License-Identifier: MIT
// Native binaries by ocloc, for drivers that do not compile to zebin themselves.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kiln::agreement {

/// Compiles SPIR-V in a private folder; nothing when ocloc refuses.
[[nodiscard]] std::optional<std::vector<std::byte>> compile_native(const std::string& ocloc,
                                                                   std::span<const std::byte> spirv,
                                                                   const std::string& target,
                                                                   bool large_registers);

}  // namespace kiln::agreement
