// SPDX-License-Identifier: MIT
// Gives the built-in functions that a translated module calls their bodies.
#pragma once

#include <string>
#include <vector>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace kiln::cpu {

/// Defines every declared function but the work-item functions. One that is not known goes to `unknown`;
/// where that is null: false, with each such function and its caller added to `log`.
bool define_builtins(llvm::Module& module, std::vector<llvm::Function*>* unknown, std::string& log);

}  // namespace kiln::cpu
