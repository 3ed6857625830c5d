// SPDX-License-Identifier: MIT
// Kernels whose collectives are all of sub-groups, asking for ids as sub-groups know them.
#pragma once

#include <llvm/IR/Function.h>

namespace kiln::cpu {

/// A copy of an item entry whose collectives are of sub-groups, none of the work-group: for groups in which
/// each sub-group has its items of one row, so that they have local ids one behind the other. Null for
/// others.
llvm::Function* ask_by_sub_groups(llvm::Function& item_entry);

}  // namespace kiln::cpu
