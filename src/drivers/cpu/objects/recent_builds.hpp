// SPDX-License-Identifier: MIT
// The last builds of the process: programs that create one module again and again compile it once.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "drivers/cpu/program.hpp"

namespace kiln::cpu {

/// Keeps what builds that went well gave, and their logs, those that were asked for last, up to so many bytes
/// with their SPIR-V. Native binaries are still loaded for each module, as its variables are its own.
/// Programs whose kernels are compiled when they are asked for have none, so modules share those.
/// Thread-safe.
class RecentBuilds {
 public:
  struct Build {
    std::vector<std::byte> binary;  ///< or:
    std::string log;
    std::shared_ptr<const Program> program = nullptr;
  };

  explicit RecentBuilds(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Null: not there. `key` is all that the build depends on.
  [[nodiscard]] std::shared_ptr<const Build> find(const std::string& key);
  /// May throw bad_alloc.
  void keep(std::string key, Build build);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Build> build;
    [[nodiscard]] std::size_t bytes() const;
  };
  using Entries = std::list<Entry>;
  [[nodiscard]] Entries::iterator place_of(const std::string& key);

  const std::size_t most_bytes_;
  std::mutex mutex_;
  Entries entries_;  // asked for last first
  std::size_t bytes_ = 0;
};

/// As build_from_spirv, from memory where the same was built before.
[[nodiscard]] BuildResult build_once(std::span<const SpirvModule> modules, const BuildOptions& options);

}  // namespace kiln::cpu
