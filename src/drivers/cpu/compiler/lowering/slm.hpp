// SPDX-License-Identifier: MIT
// Gives a kernel's `__local` variables their places in the work-group's SLM, and makes its atomics cheap.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <string>

#include "kiln/binary.hpp"

namespace kiln::cpu {

/// Replaces the `__local` variables that `entry` uses by offsets from `slm` and sets facts.static_slm.
bool place_slm(llvm::Function& entry, llvm::Value* slm, KernelFacts& facts, std::string& log);

/// Makes plain reads and writes of the atomics on SLM: the work-items of a group take turns on one thread,
/// and nothing interrupts one between two barriers. Behind all that promises independence of memory accesses,
/// which these do not have.
void unlock_slm_atomics(llvm::Module& module);

}  // namespace kiln::cpu
