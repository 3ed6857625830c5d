// SPDX-License-Identifier: MIT
// Turns kernels with barriers from one work-item at a time into whole work-groups.
#pragma once

#include <llvm/IR/Function.h>

#include <string>

#include "kiln/binary.hpp"

namespace kiln::cpu {

/// Whether write_regions() could take it. `counted`: its accesses are.
bool may_have_regions(llvm::Function& item_entry, bool counted);

/// Replaces the item entry by a group entry `symbol`, in which a loop over the work-items stands between
/// collectives instead of a fiber for each. Kernels whose items may come apart before one other than a
/// work-group barrier stay as they are, as do those that would grow too large. Best after simplification,
/// since what lives across collectives is stored. Items that wait at different barriers are found while the
/// kernel runs, as with fibers. Counts private memory that leaves the stack as facts.private_size.
bool write_regions(llvm::Function& item_entry, const std::string& symbol, KernelFacts& facts);

/// Writes a group entry `symbol`, in which each sub-group goes through all regions before the next one does,
/// of what ask_by_sub_groups() gives once it is simplified; that is changed, and of no more use. False when
/// items of a sub-group may come apart before a collective, or would keep too much.
bool write_sub_group_regions(llvm::Function& item_entry, const std::string& symbol, KernelFacts& facts);

}  // namespace kiln::cpu
