// SPDX-License-Identifier: MIT
// Gives a kernel's `__local` variables their places in the work-group's SLM.
#pragma once

#include <llvm/IR/Function.h>

#include <string>

#include "kiln/binary.hpp"

namespace kiln::cpu {

/// Replaces the `__local` variables that `entry` uses by offsets from `slm` and sets facts.static_slm.
bool place_slm(llvm::Function& entry, llvm::Value* slm, KernelFacts& facts, std::string& log);

}  // namespace kiln::cpu
