// SPDX-License-Identifier: MIT
// Kernels that number the items of a group by their ids in two dimensions.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Instructions.h>

namespace kiln::cpu {

/// Of a kernel whose items ask for their ids only as `id(0) + id(1) * size(0)`, and not for that in the third
/// dimension: it is right as well where the first id is that number and the second 0, so that one loop may go
/// round both dimensions.
struct LinearIds {
  bool well = false;
  /// Sums that have one of the two in them and not the other: those are others then, and may wrap.
  llvm::DenseSet<const llvm::Instruction*> parts;
};

LinearIds find_linear_ids(llvm::Function& item_entry);

}  // namespace kiln::cpu
