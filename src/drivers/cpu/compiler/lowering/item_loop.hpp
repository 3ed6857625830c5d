// SPDX-License-Identifier: MIT
// Loops over the work-items of a group, as compiled kernels have them.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace kiln::cpu {

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
    b.SetInsertPoint(after);
    return branch;
  }
};

/// Promises that the accesses in `group` do not meet from one turn of the loop to another.
inline void promise_independence(llvm::BranchInst& latch, llvm::MDNode* group) {
  llvm::LLVMContext& context = latch.getContext();
  llvm::Metadata* accesses[] = {llvm::MDString::get(context, "llvm.loop.parallel_accesses"), group};
  llvm::Metadata* parts[] = {nullptr, llvm::MDNode::get(context, accesses)};
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, parts);
  loop->replaceOperandWith(0, loop);
  latch.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace kiln::cpu
