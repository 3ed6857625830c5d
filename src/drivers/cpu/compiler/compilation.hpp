// SPDX-License-Identifier: MIT
// Compiles whole modules, or their kernels one by one, in child processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "drivers/cpu/compiler/backend/facts_section.hpp"
#include "drivers/cpu/program.hpp"

namespace kiln::cpu {

/// What a compilation gives.
struct Compilation {
  bool well = false;
  BuildStatus failure = BuildStatus::build_failure;  ///< when it did not go well
  std::string log;
  std::string facts;  ///< write_facts() of all kernels that `code` holds; a native binary has its own
  std::vector<std::byte> code;       ///< with facts: intermediate code or an object; without: a native binary
  std::vector<std::byte> constants;  ///< with intermediate code: an object with those that it exports, if any
  bool begun = true;                 ///< false: no child process could be started for it

  /// For the way from a child process.
  [[nodiscard]] std::string to_text() const;
  static Compilation from_text(const std::string& text);
};

/// What to do where no child process can be started.
enum class WithoutChild : std::uint8_t { compile_here, leave };

/// A compilation, for a child process: the translator and LLVM assert, exit and abort on some modules that no
/// validation finds.
struct CompilerWork {
  std::function<bool(Compilation&)> work;
  std::function<bool(Compilation&)> plainer;  ///< where that ends the child, in another one; may be empty
  std::function<std::string()> more;          ///< what may be known of why both did; may be empty
  unsigned seconds = 0;                       ///< of CPU time for each; 0: no limit
  WithoutChild without_child = WithoutChild::compile_here;
};
[[nodiscard]] Compilation compile_in_child(const CompilerWork& steps);

/// CPU seconds that modules of a program may take.
unsigned allowed_seconds(std::span<const SpirvModule> modules);

/// With options.late, and where nothing speaks against it, `code` is intermediate code that compile_kernels()
/// takes: validated, translated and fitted to the host.
Compilation compile_module(std::span<const SpirvModule> modules, const BuildOptions& options);

/// An object with the entries of the `wanted` of `kernels`, which are all that have code, in their order.
/// Facts are those of the wanted ones.
Compilation compile_kernels(std::span<const std::byte> intermediate, std::span<const DescribedKernel> kernels,
                            std::span<const std::size_t> wanted, const std::string& flags, unsigned seconds,
                            WithoutChild without_child = WithoutChild::compile_here);

/// A native binary of such objects; `kernels` are all, those without code too.
Compilation bind_objects(std::span<const std::span<const std::byte>> objects,
                         std::span<const DescribedKernel> kernels, const std::string& flags);

}  // namespace kiln::cpu
