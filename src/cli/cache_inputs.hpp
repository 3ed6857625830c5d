// SPDX-License-Identifier: MIT
// What a module is made of: the files and build options that `kiln cache explain` and `warm` are given.
#pragma once

#include "cli/cache_command.hpp"

namespace kiln::cli {

/// --options and --constant, as a program gives them to Bundle::load and Bundle::link. Error: K0407. Pure.
[[nodiscard]] Result<BundleOptions> build_options(const CacheCommand& command);

/// Regular files alone: a pipe would be waited for, and a device may have no end. Error: K0201.
[[nodiscard]] Result<std::vector<KernelFile>> read_inputs(std::span<const std::string> paths);

/// The question of Bundle::load for one file, of Bundle::link for several.
[[nodiscard]] CacheQuestion question_for(const OpenDevice& device, std::span<const KernelFile> files,
                                         const BundleOptions& options);

/// "main.spv + part.spv", as a bundle calls it. Pure.
[[nodiscard]] std::string module_name(std::span<const std::string> paths);

}  // namespace kiln::cli
