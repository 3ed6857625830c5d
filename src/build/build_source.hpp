// SPDX-License-Identifier: MIT
// A module of OpenCL C: from the cache, by the driver where it takes it, else by libocloc.
#pragma once

#include "build/cached_build.hpp"
#include "build/front_end.hpp"
#include "build/registers.hpp"
#include "build/source/text.hpp"

namespace kiln::detail {

/// Kiln's own driver looks at what it reads, and compiles in a process of its own.
[[nodiscard]] bool guards_itself(DeviceRef device);
/// Neither the caller nor KILN_COMPILER wants all in this process.
[[nodiscard]] bool compiles_apart(const BuildOptions& options);

/// Whether build options make a library of a module: it may use what others define, and have no kernel.
[[nodiscard]] bool is_library(std::string_view flags);

/// What a compilation leaves that who watches it has ended.
[[nodiscard]] ModuleBuild cancelled_build();

struct SourceBuild {
  CachedBuild built;
  /// Other than `compiled` and `refused`: no compiler was found, and built.build has its words in the log.
  FrontEndEnd front_end = FrontEndEnd::compiled;
};

/// The cache is asked before any compiler is opened; null: there is none. `flags` name no files. Thread-safe.
[[nodiscard]] SourceBuild build_source(Cache* cache, const OpenDevice& device, const SourceText& source,
                                       const std::string& flags, const BuildOptions& options,
                                       const RegisterPolicy& registers);

/// Under what build_source() asks.
[[nodiscard]] CacheQuestion source_question(const OpenDevice& device, const SourceText& source,
                                            const std::string& flags);

}  // namespace kiln::detail
