// SPDX-License-Identifier: MIT
#include "drivers/cpu/compiler/lanes/deferred_updates.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

constexpr llvm::StringLiteral kDeferred = "kiln.deferred";

/// What no other group sees: private and local memory, and what the run time keeps.
bool is_own(unsigned space) { return space == kPrivateSpace || space == kLocalSpace; }

bool may_be_deferred(const llvm::Instruction& instruction) {
  const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  return update != nullptr && update->use_empty() && !update->isVolatile() &&
         update->getOperation() == llvm::AtomicRMWInst::Add && update->getType()->isIntegerTy(32) &&
         update->getPointerAddressSpace() == kGlobalSpace;
}

/// The space of what is loaded, stored, or updated; nothing: it is no such access.
std::optional<unsigned> space_of(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->getPointerAddressSpace();
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
    return store->getPointerAddressSpace();
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return update->getPointerAddressSpace();
  return {};
}

bool is_harmless(const llvm::CallBase& call) {
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call))
    return intrinsic->isAssumeLikeIntrinsic() || !intrinsic->mayReadOrWriteMemory();
  const llvm::Function* callee = call.getCalledFunction();
  return callee != nullptr && (callee->getName() == "kiln_item_memory" || callee->getName() == "kiln_agree" ||
                               callee->getName() == "kiln_exchange");
}

/// Whether a group with this among the rest may wait for what another adds.
bool may_wait(const llvm::Instruction& instruction) {
  if (may_be_deferred(instruction)) return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) return !is_harmless(*call);
  const auto space = space_of(instruction);
  if (!space) return instruction.mayReadOrWriteMemory();
  return !is_own(*space) && (instruction.isAtomic() || instruction.isVolatile());
}

bool sees(const llvm::Instruction& instruction) {
  const auto space = space_of(instruction);
  const bool only_read = space == kConstantSpace && llvm::isa<llvm::LoadInst>(instruction);
  return space && !is_own(*space) && !only_read && !may_be_deferred(instruction);
}

/// Whether something that the group does behind it sees what it adds.
bool is_seen(const llvm::Instruction& update) {
  const llvm::BasicBlock* block = update.getParent();
  for (const auto* next = update.getNextNode(); next != nullptr; next = next->getNextNode())
    if (sees(*next)) return true;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> known;
  llvm::SmallVector<const llvm::BasicBlock*, 16> open(llvm::succ_begin(block), llvm::succ_end(block));
  while (!open.empty()) {
    block = open.pop_back_val();
    if (!known.insert(block).second) continue;
    if (llvm::any_of(*block, sees)) return true;
    open.append(llvm::succ_begin(block), llvm::succ_end(block));
  }
  return false;
}

}  // namespace

void find_deferred_updates(llvm::Function& entry) {
  if (llvm::any_of(llvm::instructions(entry), may_wait)) return;
  for (llvm::Instruction& instruction : llvm::instructions(entry))
    if (may_be_deferred(instruction) && !is_seen(instruction))
      instruction.setMetadata(kDeferred, llvm::MDNode::get(entry.getContext(), {}));
}

bool is_deferred(const llvm::Instruction& update) { return update.hasMetadata(kDeferred); }

}  // namespace kiln::cpu
