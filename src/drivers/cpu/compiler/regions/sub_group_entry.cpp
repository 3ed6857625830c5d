// SPDX-License-Identifier: MIT
// Writes ids as those of the sub-group's first item and lanes.
#include "drivers/cpu/compiler/regions/sub_group_entry.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "drivers/cpu/compiler/regions/region_collectives.hpp"
#include "drivers/cpu/compiler/regions/uniformity.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

/// Says of built-ins such as min() that they read and write nothing, before LLVM finds it out: what they give
/// is the same for all where their arguments are.
void tell_pure_calls(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
    if (callee != nullptr && !callee->isDeclaration() && !callee->doesNotAccessMemory() &&
        llvm::none_of(llvm::instructions(*callee),
                      [](const llvm::Instruction& each) { return each.mayReadOrWriteMemory(); }))
      callee->setDoesNotAccessMemory();
  }
}

}  // namespace

llvm::Function* ask_by_sub_groups(llvm::Function& item_entry) {
  const auto collectives = find_collectives(item_entry);
  if (!collectives || llvm::any_of(*collectives, [](const auto* call) { return is_of_group(*call); }))
    return nullptr;
  tell_pure_calls(item_entry);
  llvm::ValueToValueMapTy map;
  llvm::Function* function = llvm::CloneFunction(&item_entry, map);
  llvm::SmallVector<llvm::LoadInst*, 8> ids;
  for (llvm::Instruction& instruction : llvm::instructions(*function))
    if (item_field(instruction) == 1) ids.push_back(llvm::cast<llvm::LoadInst>(&instruction));
  for (llvm::LoadInst* id : ids) {
    llvm::IRBuilder<> b(id);
    const auto field = [&](std::size_t offset) {
      llvm::LoadInst* load = b.CreateLoad(
          b.getInt64Ty(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), function->getArg(0), offset));
      load->copyMetadata(*id);
      return load;
    };
    llvm::Value *first = field(offsetof(ItemState, first_id)), *lane = field(offsetof(ItemState, lane));
    // A half of the sum is a sum of halves, which a lane taken from it leaves nothing of.
    for (llvm::User* user : llvm::make_early_inc_range(id->users()))
      if (auto* half = llvm::dyn_cast<llvm::TruncInst>(user)) {
        half->replaceAllUsesWith(
            b.CreateAdd(b.CreateTrunc(first, half->getType()), b.CreateTrunc(lane, half->getType())));
        half->eraseFromParent();
      }
    id->replaceAllUsesWith(b.CreateAdd(first, lane, "", true, true));
  }
  return function;
}

}  // namespace kiln::cpu
