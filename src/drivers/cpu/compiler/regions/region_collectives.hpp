// SPDX-License-Identifier: MIT
// The places of an item entry where work-items wait for each other, and what they bring there.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <optional>
#include <vector>

namespace kiln::cpu {

/// Operands of kiln_barrier() and kiln_collective(), see collective.hpp; those behind `place` are the
/// latter's alone.
struct CollectiveOperand {
  static constexpr unsigned place = 1, what = 2, value = 3, parameter = 4, combine = 5;
};

/// The calls, in no promised order, when all that `item_entry` does with its item is asking for ids and
/// meeting others. Of each the place is a constant; of each exchange `what`, and what combines the values,
/// and the values are private variables.
std::optional<std::vector<llvm::CallInst*>> find_collectives(llvm::Function& item_entry);

/// Whether items exchange values there; else it is a barrier.
bool is_exchange(const llvm::CallInst& collective);
/// Of the work-group, else of the sub-group.
bool is_of_group(const llvm::CallInst& collective);
/// Where the value of each item stands.
llvm::AllocaInst* value_of(const llvm::CallInst& exchange);

/// Where each item leaves the parameter that it brings to an exchange; those that bring a constant are not
/// there.
using LeftParameters = llvm::DenseMap<const llvm::CallInst*, llvm::AllocaInst*>;

/// Lets items leave their parameters in private variables, and bring 0.
LeftParameters leave_parameters(const std::vector<llvm::CallInst*>& collectives);
/// They bring them again.
void take_back(const LeftParameters& left, const std::vector<llvm::CallInst*>& collectives);

}  // namespace kiln::cpu
