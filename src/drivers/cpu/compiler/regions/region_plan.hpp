// SPDX-License-Identifier: MIT
// Divides a kernel with barriers into regions that each work-item runs without waiting.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <optional>
#include <vector>

#include "drivers/cpu/compiler/regions/uniformity.hpp"

namespace kiln::cpu {

/// From `start` up to the cuts that can come next.
struct Region {
  llvm::BasicBlock* start;
  llvm::SetVector<llvm::BasicBlock*> blocks;
  llvm::SetVector<llvm::BasicBlock*> exits;  ///< cuts; null: the end of the kernel
};

/// A cut is a block of one instruction, at which all items end a region: a barrier and the branch behind it,
/// or a branch that all items take together and the same way.
struct RegionPlan {
  llvm::MapVector<llvm::BasicBlock*, llvm::CallInst*> cuts;  ///< null: a branch
  std::vector<Region> regions;                               ///< the first one starts the kernel
  /// What is known before each cut and start of a region, and used behind it.
  llvm::MapVector<llvm::BasicBlock*, llvm::SetVector<llvm::Instruction*>> live;
};

/// Splits blocks of `item_entry`, whose barriers these are; it does the same as before.
RegionPlan plan_regions(llvm::Function& item_entry, const std::vector<llvm::CallInst*>& barriers,
                        const Uniformity& uniformity);

/// Gives each barrier a block of its own.
void set_apart(const std::vector<llvm::CallInst*>& barriers);

}  // namespace kiln::cpu
