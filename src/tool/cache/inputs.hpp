// SPDX-License-Identifier: MIT
// What a module is made of: the files and build options that `kiln cache explain` and `warm` are given.
#pragma once

#include "tool/cache/command.hpp"

namespace kiln::tool {

/// --options and --constant, as a program gives them to Bundle::load and Bundle::link. Error: K0407. Pure.
[[nodiscard]] Result<BundleOptions> build_options(const CacheCommand& command);

/// Regular files alone: a pipe would be waited for, and a device may have no end. Error: K0201.
[[nodiscard]] Result<std::vector<KernelFile>> read_inputs(std::span<const std::string> paths);

/// What is compiled of a file, should that be needed.
struct CodeToCompile {
  std::span<const std::byte> spirv;  ///< inside the file's bytes
  std::string member{};              ///< of a fat binary; empty where the file itself is SPIR-V
  bool native_first = false;         ///< native code beside it is loaded instead where the driver takes it
};

/// As Bundle::load looks for it on that device. Nothing: the file has no SPIR-V. Pure.
[[nodiscard]] std::optional<CodeToCompile> code_to_compile(const KernelFile& file, const OpenDevice& device);

/// The question of Bundle::load for one code, of Bundle::link for several.
[[nodiscard]] CacheQuestion question_for(const OpenDevice& device, std::span<const CodeToCompile> codes,
                                         const BundleOptions& options);

/// "main.spv + part.spv", as a bundle calls it. Pure.
[[nodiscard]] std::string module_name(std::span<const std::string> paths);

}  // namespace kiln::tool
