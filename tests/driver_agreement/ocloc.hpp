// SPDX-License-Identifier: MIT
// Native binaries by ocloc, for drivers that do not compile to zebin themselves.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kiln::agreement {

/// What ocloc made, and what it printed.
struct Compiled {
  std::optional<std::vector<std::byte>> binary;
  std::string log;
};

/// Compiles SPIR-V in a private folder; no binary when ocloc refuses.
[[nodiscard]] Compiled compile_native(const std::string& ocloc, std::span<const std::byte> spirv,
                                      const std::string& target, bool large_registers);

}  // namespace kiln::agreement
