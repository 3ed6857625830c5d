// SPDX-License-Identifier: MIT
// Gives the built-in functions that a translated module calls their bodies.
#pragma once

#include <string>

namespace llvm {
class Module;
}

namespace kiln::cpu {

/// Defines every declared function but the work-item functions. False, with each unknown function and its
/// caller added to `log`, when one is not known.
bool define_builtins(llvm::Module& module, std::string& log);

}  // namespace kiln::cpu
