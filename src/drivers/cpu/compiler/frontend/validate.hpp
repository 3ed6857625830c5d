// SPDX-License-Identifier: MIT
// Decides whether a SPIR-V module may be handed to the translator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kiln::cpu {

/// The newest version of SPIR-V that the translator of this build reads, as in ZE_MAKE_VERSION.
std::uint32_t newest_spirv_version();

/// What is left of a module after validation.
struct ValidatedModule {
  std::vector<std::uint32_t> words;  ///< empty: refused
  /// What SPIR-V's validator says against it; empty when it is valid. Compilers write modules that are
  /// invalid by the letter and that translators take all the same, so the translator has the last word.
  std::string verdict;
  std::map<std::string, std::string> refused;  ///< kernels that are left out, with the reason
  std::map<std::string, std::array<std::uint32_t, 3>> size_hints;  ///< by kernel: work_group_size_hint
};

/// Takes out what the CPU device cannot run: kernels that use it, and the functions that they share it with.
/// When no kernel is left, or something that cannot be is wrong, the module is refused; `log` says what and
/// where. Some hints are left out. Thread-safe.
/// Without `fp64` a kernel with double precision refuses the module, as Intel's compiler does.
ValidatedModule validate_spirv(std::span<const std::byte> spirv, std::string& log, bool fp64 = true);

}  // namespace kiln::cpu
