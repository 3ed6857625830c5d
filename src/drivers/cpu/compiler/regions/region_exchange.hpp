// SPDX-License-Identifier: MIT
// What items exchange at a collective that all of them come to, as loops over their values.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <vector>

#include "drivers/cpu/compiler/regions/region_collectives.hpp"
#include "drivers/cpu/compiler/regions/uniformity.hpp"

namespace kiln::cpu {

/// Where each item finds the result of an exchange; that of others stands behind the item's value.
using OwnResults = llvm::DenseMap<const llvm::CallInst*, llvm::AllocaInst*>;

/// Gives results of reductions, scans and gathers a variable of their own, where each access is to the value
/// or to the result: then the values of all items stand side by side, and so do the results.
OwnResults part_results(const std::vector<llvm::CallInst*>& collectives);
/// They stand behind the values again.
void join_results(const OwnResults& parted);

/// Loads of results right behind exchanges that give all items the same, if they ask for the same; each
/// exchange stands in a block of its own.
UniformResults uniform_results(const OwnResults& results, const LeftParameters& parameters);

/// Whether it is a gather.
bool is_gather(const llvm::CallInst& collective);

/// Does such an exchange, for all items of a group: void (values, results, parameters, parameter, items). Of
/// values, results and parameters the first item's is given, and the others' follow; where there are no
/// parameters all items have `parameter`. Sub-groups have `members` items; 0: it is one of the work-group.
/// One for each kind, type and operation of a module.
llvm::Function& exchange_function(const llvm::CallInst& collective, std::uint32_t members, bool parameters);

}  // namespace kiln::cpu
