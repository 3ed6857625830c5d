// SPDX-License-Identifier: MIT
// Copies the blocks that lanes go through alone.
#include "drivers/cpu/compiler/lanes/lane_alone.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

#include "drivers/cpu/compiler/lowering/item_loop.hpp"

namespace kiln::cpu {

LaneWriter::Alone::Alone(LaneWriter& writer, llvm::BasicBlock& block, const LaneShapes::Parting& parting)
    : w_(writer), block_(block), parting_(parting) {
  find_needed();
}

// Of the blocks that are copied, and there before the branch: only in loops that go round it. What its own
// block alone asks for is found anew there.
bool LaneWriter::Alone::is_carried(const Value* value) const {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction == nullptr || w_.lazy_.contains(value)) return false;
  auto* block = const_cast<llvm::BasicBlock*>(instruction->getParent());
  return parting_.blocks.contains(block) && w_.tree_.dominates(block, &block_) &&
         llvm::any_of(instruction->users(), [&](const llvm::User* user) {
           return llvm::isa<llvm::PHINode>(user) || llvm::cast<llvm::Instruction>(user)->getParent() != block;
         });
}

void LaneWriter::Alone::need(Value* value) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction == nullptr || !w_.shapes_.contains(instruction->getParent())) return;
  if (is_carried(value) || !parting_.blocks.contains(const_cast<llvm::BasicBlock*>(instruction->getParent())))
    needed_.insert(value);
}

void LaneWriter::Alone::find_needed() {
  const auto from_here = [&](llvm::BasicBlock* block) {
    return block == &block_ || parting_.blocks.contains(block);
  };
  for (llvm::BasicBlock* block : parting_.blocks)
    for (llvm::Instruction& instruction : *block) {
      auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction);
      for (unsigned i = 0; i < instruction.getNumOperands(); ++i)
        if (phi == nullptr || from_here(phi->getIncomingBlock(i))) need(instruction.getOperand(i));
    }
  for (llvm::PHINode& phi : parting_.join->phis())
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
      if (from_here(phi.getIncomingBlock(i))) need(phi.getIncomingValue(i));
}

LaneWriter::Value* LaneWriter::Alone::store_vector(Value* vector) {
  llvm::Type* type = w_.wide_type(stored(vector->getType()->getScalarType()));
  if (type != vector->getType()) vector = w_.b_.CreateZExt(vector, type);
  llvm::AllocaInst* array = w_.variable(type);
  w_.b_.CreateStore(vector, array);
  return array;
}

LaneWriter::Value* LaneWriter::Alone::load_vector(llvm::AllocaInst* array, llvm::Type* type) {
  Value* vector = w_.b_.CreateLoad(array->getAllocatedType(), array);
  return stored(type) == type ? vector : w_.b_.CreateTrunc(vector, w_.wide_type(type));
}

LaneWriter::Value* LaneWriter::Alone::element(llvm::IRBuilder<>& b, Value* array, llvm::Type* type) {
  Value* place = b.CreateInBoundsGEP(stored(type), array, lane_);
  Value* value = b.CreateLoad(stored(type), place);
  return stored(type) == type ? value : b.CreateTrunc(value, type);
}

// What a value that was found in lock-step is in this lane.
LaneWriter::Value* LaneWriter::Alone::known_before(llvm::IRBuilder<>& b, Value* value) {
  const LaneShape shape = w_.shapes_.of(value);
  if (const auto array = arrays_.find(value); array != arrays_.end())
    return element(b, array->second, value->getType());
  Value* first = w_.scalar(*value);
  if (shape.is_uniform()) return first;
  if (first->getType()->isPointerTy())
    return b.CreateGEP(b.getInt8Ty(), first, b.CreateMul(lane_, b.getInt64(shape.stride)));
  llvm::Type* type = first->getType();
  Value* stride =
      llvm::ConstantInt::get(type, llvm::APInt(64, shape.stride).zextOrTrunc(type->getIntegerBitWidth()));
  return b.CreateAdd(first, b.CreateMul(b.CreateZExtOrTrunc(lane_, type), stride));
}

void LaneWriter::Alone::write(Value* condition, bool may_be_all_alike) {
  llvm::IRBuilder<>& b = w_.b_;
  const auto& branch = llvm::cast<llvm::BranchInst>(*block_.getTerminator());
  // Where one way is empty only those that go the other have a turn.
  std::optional<unsigned> skipped;
  for (unsigned i = 0; i < 2; ++i)
    if (branch.getSuccessor(i) == parting_.join) skipped = i;
  Value* lanes = b.getInt64(0);
  Value* conditions = nullptr;
  if (skipped)
    lanes = b.CreateZExt(
        b.CreateBitCast(*skipped == 0 ? b.CreateNot(condition) : condition, b.getIntNTy(w_.lanes_)),
        b.getInt64Ty());
  else
    conditions = store_vector(condition);
  for (Value* value : needed_)
    if (!w_.shapes_.of(value).has_first()) arrays_[value] = store_vector(w_.wide(*value));
  // Where the ways meet each lane keeps what phis tell.
  struct Result {
    llvm::PHINode* phi;
    llvm::AllocaInst* array;
  };
  std::vector<Result> results;
  for (llvm::PHINode& phi : parting_.join->phis())
    if (!w_.shapes_.of(&phi).has_first()) {
      llvm::Type* type = w_.wide_type(stored(phi.getType()));
      results.push_back({&phi, skipped ? llvm::cast<llvm::AllocaInst>(
                                             store_vector(w_.wide(*phi.getIncomingValueForBlock(&block_))))
                                       : w_.variable(type)});
    }
  Block before = b.GetInsertBlock();
  head_ = w_.new_block();
  done_ = w_.new_block();
  Block after = w_.new_block();
  if (skipped && may_be_all_alike)
    b.CreateCondBr(b.CreateIsNotNull(lanes), head_, after);
  else
    b.CreateBr(head_);
  b.SetInsertPoint(head_);
  llvm::PHINode* left = b.CreatePHI(b.getInt64Ty(), 2);  // lanes, a bit each; else the one whose turn it is
  left->addIncoming(lanes, before);
  lane_ = left;
  if (skipped) lane_ = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b.getTrue());
  for (Value* value : needed_) {
    Value* known = known_before(b, value);
    if (!is_carried(value)) {
      map_[value] = known;
      continue;
    }
    at_first_[value] = known;
    slots_[value] = w_.variable(value->getType());
    b.CreateStore(known, slots_[value]);
  }
  for (const llvm::BasicBlock* block : parting_.blocks) map_[block] = w_.new_block();
  const auto way = [&](unsigned i) { return llvm::cast<llvm::BasicBlock>(map_[branch.getSuccessor(i)]); };
  if (skipped)
    b.CreateBr(way(1 - *skipped));
  else
    b.CreateCondBr(element(b, conditions, b.getInt1Ty()), way(0), way(1));
  copy_blocks();

  b.SetInsertPoint(done_);
  Arrival arrival;
  for (llvm::PHINode& phi : parting_.join->phis()) {
    if (w_.shapes_.of(&phi).has_first()) {
      arrival.values[&phi] = w_.scalar(*phi.hasConstantValue());
      continue;
    }
    llvm::PHINode* one = b.CreatePHI(phi.getType(), 2);
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      llvm::BasicBlock* from = phi.getIncomingBlock(i);
      Value* value = phi.getIncomingValue(i);
      if (parting_.blocks.contains(from)) {
        Block end = llvm::cast<llvm::BasicBlock>(map_[from]);
        one->addIncoming(value_at_end(value, end), end);
      }
    }
    map_[&phi] = one;
  }
  for (const Result& result : results) {
    Value* one = map_[result.phi];
    if (stored(one->getType()) != one->getType()) one = b.CreateZExt(one, b.getInt8Ty());
    b.CreateStore(one, b.CreateInBoundsGEP(one->getType(), result.array, lane_));
  }
  Value* next = skipped ? b.CreateAnd(left, b.CreateSub(left, b.getInt64(1)))
                        : b.CreateAdd(left, b.getInt64(1), "", true, true);
  left->addIncoming(next, b.GetInsertBlock());
  Value* another = skipped ? b.CreateIsNotNull(next) : b.CreateICmpULT(next, b.getInt64(w_.lanes_));
  describe_loop(*b.CreateCondBr(another, head_, after));
  b.SetInsertPoint(after);
  for (const Result& result : results)
    arrival.values[result.phi] = load_vector(result.array, result.phi->getType());
  arrival.from = after;
  b.CreateBr(w_.begins_[parting_.join]);
  w_.arrivals_[parting_.join].push_back(std::move(arrival));
  for (const auto& [value, slot] : slots_) w_.slots_.push_back(slot);
}

LaneWriter::Value* LaneWriter::Alone::value_at_end(Value* value, Block end) {
  if (const auto slot = slots_.find(value); slot != slots_.end())
    return llvm::IRBuilder<>(end->getTerminator()).CreateLoad(value->getType(), slot->second);
  const auto known = map_.find(value);
  return known != map_.end() ? static_cast<Value*>(known->second) : w_.scalar(*value);
}

void LaneWriter::Alone::copy_blocks() {
  std::vector<std::pair<llvm::Instruction*, llvm::Instruction*>> copies;
  for (llvm::BasicBlock* block : parting_.blocks) {
    llvm::IRBuilder<> b(llvm::cast<llvm::BasicBlock>(map_[block]));
    for (llvm::Instruction& instruction : *block) {
      if (llvm::isa<llvm::DbgInfoIntrinsic>(instruction) || instruction.isLifetimeStartOrEnd()) continue;
      llvm::Instruction* copy = b.Insert(instruction.clone());
      copies.emplace_back(&instruction, copy);
      if (slots_.count(&instruction) == 0) map_[&instruction] = copy;
    }
  }
  for (const auto& [from, copy] : copies) {
    auto* phi = llvm::dyn_cast<llvm::PHINode>(copy);
    if (phi == nullptr) {
      for (llvm::Use& use : copy->operands()) {
        Value* value = use.get();
        if (value == parting_.join)
          use.set(done_);
        else if (const auto slot = slots_.find(value); slot != slots_.end())
          use.set(llvm::IRBuilder<>(copy).CreateLoad(value->getType(), slot->second));
        else if (const auto known = map_.find(value); known != map_.end())
          use.set(known->second);
        else
          use.set(w_.scalar(*value));
      }
      continue;
    }
    const auto& old = llvm::cast<llvm::PHINode>(*from);
    while (phi->getNumIncomingValues() != 0) phi->removeIncomingValue(0u, false);
    for (unsigned i = 0; i < old.getNumIncomingValues(); ++i) {
      llvm::BasicBlock* block = old.getIncomingBlock(i);
      Value* value = old.getIncomingValue(i);
      if (block == &block_) {
        const auto first = at_first_.find(value);
        const auto known = map_.find(value);
        phi->addIncoming(first != at_first_.end() ? first->second
                         : known != map_.end()    ? static_cast<Value*>(known->second)
                                                  : w_.scalar(*value),
                         head_);
      }
      if (parting_.blocks.contains(block)) {
        Block end = llvm::cast<llvm::BasicBlock>(map_[block]);
        phi->addIncoming(value_at_end(value, end), end);
      }
    }
  }
  for (const auto& [from, copy] : copies) {
    const auto slot = slots_.find(from);
    if (slot == slots_.end()) continue;
    llvm::IRBuilder<> b(copy->getParent());
    if (llvm::isa<llvm::PHINode>(copy))
      b.SetInsertPoint(copy->getParent(), copy->getParent()->getFirstInsertionPt());
    else
      b.SetInsertPoint(copy->getNextNode());
    b.CreateStore(copy, slot->second);
  }
}

}  // namespace kiln::cpu
