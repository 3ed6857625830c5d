// SPDX-License-Identifier: MIT
// build_module behind the kernel cache.
#pragma once

#include <functional>
#include <span>

#include "kiln/build.hpp"
#include "kiln/cache.hpp"
#include "kiln/open.hpp"

namespace kiln::detail {

struct CachedBuild {
  ModuleBuild build;
  ModuleFacts facts;        ///< of what the module was made from, where `build` succeeded
  bool from_cache = false;  ///< nothing was compiled in this call
};

/// One compilation.
struct MadeModule {
  ModuleBuild build;
  ModuleFacts source;         ///< what it was made from says
  std::string not_kept{};     ///< not empty: why no cache may have it
  bool keeps_refusal = true;  ///< a refusal may be remembered, and told again without a compiler
  std::vector<std::span<const std::byte>> inputs{};  ///< as Compilation has them
};

[[nodiscard]] std::vector<std::span<const std::byte>> codes_of(std::span<const ModuleInput> inputs);

/// How somebody makes modules.
struct ModuleMaker {
  std::function<MadeModule()> compile;
  std::function<ModuleBuild(std::span<const std::byte> native)> take;  ///< from an entry's native code
};

/// A module from the cache, under `question`, else made and stored. Thread-safe.
[[nodiscard]] CachedBuild build_cached(Cache& cache, const OpenDevice& device, const CacheQuestion& question,
                                       const std::function<MadeModule()>& make);

/// The same for who makes modules otherwise: the layer of `kiln exec`, whose modules are a program's.
[[nodiscard]] CachedBuild build_cached(Cache& cache, const OpenDevice& device, const CacheQuestion& question,
                                       const ModuleMaker& maker);

/// What was made, where no cache is asked.
[[nodiscard]] CachedBuild without_cache(MadeModule made, const OpenDevice& device);

/// The same for SPIR-V inputs. `source` is what they say. The result is that of build_module, but for its
/// time.
[[nodiscard]] CachedBuild build_cached(Cache& cache, const OpenDevice& device,
                                       std::span<const ModuleInput> inputs, const ModuleFacts& source,
                                       const BuildOptions& options);

/// What the compiled module says, with the names and sizes of arguments that only the source knows.
[[nodiscard]] ModuleFacts compiled_facts(std::span<const std::byte> binary, const ModuleFacts& source);

/// The same of a module that is there, without compiling kernels that nobody has asked for where the driver
/// can tell (Kiln's own): for a native binary it would.
[[nodiscard]] ModuleFacts facts_of(DriverRef driver, ModuleRef module, const ModuleFacts& source);

/// Adds to `facts` what the SPIR-V beside it knows.
void complete(ModuleFacts& facts, const ModuleFacts& source);

}  // namespace kiln::detail
