// SPDX-License-Identifier: MIT
// Programs whose kernels are compiled when they are first asked for.
#pragma once

#include <string>

#include "drivers/cpu/compiler/compilation.hpp"
#include "drivers/cpu/program.hpp"

namespace kiln::cpu {

/// Of a compilation that has intermediate code; each later one may take `seconds` of CPU time.
BuildResult make_late_program(Compilation compilation, const std::string& flags, unsigned seconds);

}  // namespace kiln::cpu
