// SPDX-License-Identifier: MIT
// What a load of a file would look up in the cache.
#pragma once

#include "cli/cache_command.hpp"

namespace kiln::cli {

struct Wanted {
  Manifest manifest;
  std::string unused;  ///< not empty: why the cache would not be asked at all
};

/// As Bundle::load makes it for a build from SPIR-V.
[[nodiscard]] Wanted wanted_manifest(const OpenDevice& device, const KernelFile& file,
                                     const std::string& flags);

}  // namespace kiln::cli
