// SPDX-License-Identifier: MIT
// The order in which the places of a function stand in its program.
#pragma once

#include <llvm/IR/Function.h>

#include <vector>

namespace kiln::cpu {

/// All blocks, each behind those that lead to it, and what follows a loop behind the whole loop. An item that
/// is at an earlier block than another one can still come to where the other one is; so the first collective
/// of several in this order is the one to run.
std::vector<llvm::BasicBlock*> in_program_order(llvm::Function& function);

}  // namespace kiln::cpu
