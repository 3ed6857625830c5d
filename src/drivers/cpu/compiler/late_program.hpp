// SPDX-License-Identifier: MIT
// Programs whose kernels are compiled when they are first asked for.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "drivers/cpu/compiler/backend/facts_section.hpp"
#include "drivers/cpu/compiler/compilation.hpp"
#include "drivers/cpu/program.hpp"

namespace kiln::cpu {

/// Who compiles for a late program.
struct LateCompiler {
  /// An object with the entries of the `wanted` of those kernels that have code, as compile_kernels() gives.
  std::function<Compilation(std::span<const std::size_t> wanted, WithoutChild)> compile;
  /// As bind_objects().
  std::function<Compilation(std::span<const std::span<const std::byte>> objects,
                            std::span<const DescribedKernel> kernels)>
      bind;
};

/// Of a compilation that has intermediate code; each later one may take `seconds` of CPU time.
BuildResult make_late_program(Compilation compilation, const std::string& flags, unsigned seconds);

/// The same with another compiler, for tests.
BuildResult make_late_program(Compilation compilation, LateCompiler compiler);

}  // namespace kiln::cpu
