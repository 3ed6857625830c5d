// SPDX-License-Identifier: MIT
// Finds the code that a division is followed by, copies it, and joins what both find.
#include "drivers/cpu/compiler/lanes/lane_quotients.hpp"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace kiln::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;
using Block = llvm::BasicBlock*;

bool is_division(const Instruction& value) {
  return (value.getOpcode() == Instruction::UDiv || value.getOpcode() == Instruction::URem) &&
         value.getType()->isIntegerTy(32);
}

Instruction* first_division(const llvm::Loop& items, const LaneShapes& shapes) {
  for (Block block : shapes.blocks())
    for (Instruction& value : *block)
      if (is_division(value) && !llvm::isa<llvm::Constant>(value.getOperand(1)) &&
          items.isLoopInvariant(value.getOperand(1)) &&
          shapes.of(value.getOperand(0)) == LaneShape{LaneShape::Kind::linear, 1})
        return &value;
  return nullptr;
}

llvm::CallInst* ask(llvm::IRBuilder<>& b, llvm::StringRef name, llvm::Type* type,
                    const Instruction& division) {
  Value* operands[] = {division.getOperand(0), division.getOperand(1)};
  llvm::FunctionCallee callee = b.GetInsertBlock()->getModule()->getOrInsertFunction(
      name, llvm::FunctionType::get(type, {operands[0]->getType(), operands[1]->getType()}, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  return b.CreateCall(callee, operands);
}

/// Puts what the end of a loop's turn is made of, and nothing of `blocks` is, into a block of its own.
Block split_end(Block latch, const llvm::SetVector<Block>& blocks) {
  llvm::SetVector<Instruction*> end;
  const auto is_of_end = [&](const Value* value) {
    auto* instruction = llvm::dyn_cast<Instruction>(const_cast<Value*>(value));
    return instruction == nullptr || !blocks.contains(instruction->getParent()) || end.contains(instruction);
  };
  for (Instruction& value : *latch)
    if (!llvm::isa<llvm::PHINode>(value) && !value.isTerminator() && !value.mayReadOrWriteMemory() &&
        llvm::all_of(value.operands(), is_of_end))
      end.insert(&value);
  // What other blocks ask for, or phis do, may be of the end; what stays before it asks for nothing of that.
  for (bool again = true; again;) {
    again = false;
    for (Instruction* value : end.getArrayRef())
      if (llvm::any_of(value->users(), [&](const llvm::User* user) {
            const auto* instruction = llvm::cast<Instruction>(user);
            return blocks.contains(const_cast<Block>(instruction->getParent())) &&
                   !instruction->isTerminator() && !end.contains(const_cast<Instruction*>(instruction));
          })) {
        end.remove(value);
        again = true;
        break;
      }
  }
  Instruction* terminator = latch->getTerminator();
  for (Instruction* value : end) value->moveBefore(*latch, terminator->getIterator());
  return latch->splitBasicBlock((end.empty() ? terminator : end[0])->getIterator());
}

void join_values(const llvm::SetVector<Block>& blocks, Block join, const llvm::ValueToValueMapTy& copies) {
  const auto copy_of = [&](Value* value) {
    const auto found = copies.find(value);
    return found != copies.end() ? static_cast<Value*>(found->second) : value;
  };
  for (llvm::PHINode& phi : join->phis())
    for (unsigned i = 0, count = phi.getNumIncomingValues(); i < count; ++i)
      if (blocks.contains(phi.getIncomingBlock(i)))
        phi.addIncoming(copy_of(phi.getIncomingValue(i)),
                        llvm::cast<llvm::BasicBlock>(copy_of(phi.getIncomingBlock(i))));
  for (Block block : blocks)
    for (Instruction& value : *block) {
      llvm::SmallVector<llvm::Use*, 4> outside;
      for (llvm::Use& use : value.uses()) {
        auto* user = llvm::cast<Instruction>(use.getUser());
        const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
        if (!blocks.contains(phi != nullptr ? phi->getIncomingBlock(use) : user->getParent()))
          outside.push_back(&use);
      }
      if (outside.empty()) continue;
      llvm::IRBuilder<> b(join, join->begin());
      llvm::PHINode* both = b.CreatePHI(value.getType(), 2);
      for (Block from : llvm::predecessors(join))
        both->addIncoming(blocks.contains(from) ? &value : copy_of(&value), from);
      for (llvm::Use* use : outside) use->set(both);
    }
}

/// What lanes know that have one quotient, in the copied blocks.
void use_one_quotient(const Instruction& division, llvm::ArrayRef<Block> copies) {
  llvm::IRBuilder<> b(copies[0], copies[0]->begin());
  Value* quotient = ask(b, kQuotientFunction, b.getInt32Ty(), division);
  Value* remainder = ask(b, kRemainderFunction, b.getInt64Ty(), division);
  Value* narrow = b.CreateTrunc(remainder, b.getInt32Ty());
  for (Block block : copies)
    for (Instruction& value : *block) {
      if (!is_division(value) || value.getOperand(0) != division.getOperand(0) ||
          value.getOperand(1) != division.getOperand(1))
        continue;
      value.replaceAllUsesWith(value.getOpcode() == Instruction::UDiv ? quotient : narrow);
    }
  for (llvm::User* user : narrow->users())
    if (llvm::isa<llvm::ZExtInst>(user) && user->getType()->isIntegerTy(64))
      user->replaceAllUsesWith(remainder);
}

}  // namespace

LaneQuestion lane_question(const llvm::Value& value) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&value);
  const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  if (callee == nullptr) return LaneQuestion::none;
  const llvm::StringRef name = callee->getName();
  if (name == kOneQuotientFunction) return LaneQuestion::one_quotient;
  if (name == kQuotientFunction) return LaneQuestion::quotient;
  return name == kRemainderFunction ? LaneQuestion::remainder : LaneQuestion::none;
}

bool ask_for_one_quotient(llvm::Function& function, const llvm::Loop& items, const LaneShapes& shapes,
                          const llvm::LoopInfo& loops, std::size_t most) {
  Instruction* division = first_division(items, shapes);
  if (division == nullptr) return false;
  const llvm::Loop& loop = *loops.getLoopFor(division->getParent());
  Block head = division->getParent(), latch = loop.getLoopLatch();
  if (latch == nullptr) return false;
  Block start = head->splitBasicBlock(division->getIterator());
  if (latch == head) latch = start;
  const auto is_of_loop = [&](Block block) { return block == start || loop.contains(block); };
  const llvm::DominatorTree tree(function);
  const llvm::PostDominatorTree after(function);
  Block join = start;
  while (join != nullptr && join != latch && is_of_loop(join) && tree.dominates(start, join)) {
    const auto* next = after.getNode(join)->getIDom();
    join = next != nullptr ? next->getBlock() : nullptr;
  }
  if (join == nullptr || !is_of_loop(join) || join == loop.getHeader()) return true;
  const bool to_end = join == latch && tree.dominates(start, join);
  llvm::SetVector<Block> blocks;
  blocks.insert(start);
  std::size_t size = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!is_of_loop(blocks[i]) || !tree.dominates(start, blocks[i])) return true;
    size += blocks[i]->size();
    if (blocks[i] == latch) continue;
    for (Block next : llvm::successors(blocks[i]))
      if (to_end || next != join) blocks.insert(next);
  }
  if (size > most) return true;
  if (to_end) join = split_end(latch, blocks);

  llvm::ValueToValueMapTy copies;
  llvm::SmallVector<Block, 8> copied;
  for (Block block : blocks) {
    Block copy = llvm::CloneBasicBlock(block, copies, ".one", &function);
    copies[block] = copy;
    copied.push_back(copy);
  }
  llvm::remapInstructionsInBlocks(copied, copies);
  join_values(blocks, join, copies);
  Instruction* end = head->getTerminator();
  llvm::IRBuilder<> b(end);
  b.CreateCondBr(ask(b, kOneQuotientFunction, b.getInt1Ty(), *division), copied[0], start);
  end->eraseFromParent();
  use_one_quotient(*division, copied);
  return true;
}

void forget_quotients(llvm::Function& function) {
  bool any = false;
  for (llvm::BasicBlock& block : function)
    for (Instruction& value : llvm::make_early_inc_range(block)) {
      if (lane_question(value) != LaneQuestion::one_quotient) continue;
      value.replaceAllUsesWith(llvm::ConstantInt::getFalse(function.getContext()));
      value.eraseFromParent();
      any = true;
    }
  if (!any) return;
  for (llvm::BasicBlock& block : function) llvm::ConstantFoldTerminator(&block);
  llvm::removeUnreachableBlocks(function);
}

}  // namespace kiln::cpu
