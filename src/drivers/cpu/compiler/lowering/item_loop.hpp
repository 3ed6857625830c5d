// SPDX-License-Identifier: MIT
// Loops over the work-items of a group, as compiled kernels have them.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Metadata.h>

#include <cstdint>

namespace kiln::cpu {

/// Says of the loop that ends with `latch` what `facts` say, and that it is not to be unrolled: with a number
/// of turns that nobody knows that made five times the code, and took most of a compilation.
inline void describe_loop(llvm::BranchInst& latch, llvm::ArrayRef<llvm::Metadata*> facts = {}) {
  llvm::LLVMContext& context = latch.getContext();
  llvm::SmallVector<llvm::Metadata*, 4> parts = {
      nullptr, llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"))};
  parts.append(facts.begin(), facts.end());
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, parts);
  loop->replaceOperandWith(0, loop);
  latch.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

/// Says that `load` reads a size of a work-group, so that ids of 32 bits and of 64 are known to be the same
/// number: no loop over work-items then needs a check at run time, or stays scalar, for an id that might
/// wrap.
inline void promise_group_size(llvm::LoadInst& load) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;  // far above what a launch may ask for
  load.setMetadata(
      llvm::LLVMContext::MD_range,
      llvm::MDBuilder(load.getContext()).createRange(llvm::APInt(64, 1), llvm::APInt(64, kMost)));
}

/// Opens a loop from 0 below `count`, which is at least 1; close() ends it and leaves the builder behind it.
struct Loop {
  llvm::PHINode* index = nullptr;
  llvm::Value* count = nullptr;

  static Loop open(llvm::IRBuilder<>& b, llvm::Value* count) {
    llvm::Function* function = b.GetInsertBlock()->getParent();
    llvm::BasicBlock* before = b.GetInsertBlock();
    auto* head = llvm::BasicBlock::Create(b.getContext(), "items", function);
    b.CreateBr(head);
    b.SetInsertPoint(head);
    llvm::PHINode* index = b.CreatePHI(b.getInt64Ty(), 2);
    index->addIncoming(b.getInt64(0), before);
    return {index, count};
  }
  llvm::BranchInst* close(llvm::IRBuilder<>& b) const {
    llvm::Value* next = b.CreateAdd(index, b.getInt64(1), "", true, true);
    index->addIncoming(next, b.GetInsertBlock());
    auto* after = llvm::BasicBlock::Create(b.getContext(), "after", b.GetInsertBlock()->getParent());
    llvm::BranchInst* branch = b.CreateCondBr(b.CreateICmpULT(next, count), index->getParent(), after);
    describe_loop(*branch);
    b.SetInsertPoint(after);
    return branch;
  }
};

/// Where a load or a store goes that may get such a promise: the order of atomics and volatile accesses
/// counts.
inline const llvm::Value* simple_access(const llvm::Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  if (load != nullptr && load->isSimple()) return load->getPointerOperand();
  return store != nullptr && store->isSimple() ? store->getPointerOperand() : nullptr;
}

inline constexpr const char* kParallelAccesses = "llvm.loop.parallel_accesses";
inline constexpr const char* kItemLoop = "kiln.items";
/// Of variables that are no private memory of the kernel.
inline constexpr const char* kOfLanes = "kiln.lanes";

/// Promises that the accesses in `group` do not meet from one turn of the loop, which is of neighbouring
/// work-items, to another.
inline void promise_independence(llvm::BranchInst& latch, llvm::MDNode* group) {
  llvm::LLVMContext& context = latch.getContext();
  llvm::Metadata* accesses[] = {llvm::MDString::get(context, kParallelAccesses), group};
  describe_loop(latch, {llvm::MDNode::get(context, accesses),
                        llvm::MDNode::get(context, llvm::MDString::get(context, kItemLoop))});
}

}  // namespace kiln::cpu
