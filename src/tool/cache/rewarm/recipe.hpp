// SPDX-License-Identifier: MIT
// What an entry was compiled from and how, by its manifest, and the same for the device at hand.
#pragma once

#include "build/cached_build.hpp"
#include "build/registers.hpp"
#include "tool/cache/entries.hpp"

namespace kiln::tool {

/// All but the device, its driver and their surroundings. Entries of one recipe differ in these alone.
struct Recipe {
  struct Input {
    std::string digest;
    bool source = false;  ///< OpenCL C, else SPIR-V
    std::string flags;
    std::vector<SpecializationConstant> constants{};
  };
  std::vector<Input> inputs;
  detail::RegisterPolicy registers{};
  std::string text{};  ///< tells recipes apart

  using Codes = std::vector<std::vector<std::byte>>;  ///< what the digests name, in their order

  /// As programs ask for it on this device.
  [[nodiscard]] CacheQuestion question(const OpenDevice& device, const Codes& codes) const;
  /// Compiles it through the cache. Thread-safe.
  [[nodiscard]] detail::CachedBuild make(Cache& cache, const OpenDevice& device, const Codes& codes) const;
};

/// Nothing where the manifest names no inputs, or has them in a way that is not known here. Pure.
[[nodiscard]] std::optional<Recipe> recipe_of(const Manifest& manifest);

}  // namespace kiln::tool
