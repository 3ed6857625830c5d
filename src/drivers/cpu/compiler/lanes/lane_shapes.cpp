// SPDX-License-Identifier: MIT
// Follows shapes through values until nothing changes.
#include "drivers/cpu/compiler/lanes/lane_shapes.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <optional>

namespace kiln::cpu {
namespace {

using Kind = LaneShape::Kind;

constexpr LaneShape kUniform{}, kStrided{Kind::strided, 0}, kVarying{Kind::varying, 0};

LaneShape linear(std::uint64_t stride, const llvm::Type* type) {
  const unsigned bits = type->isPointerTy() ? 64 : type->getScalarSizeInBits();
  if (bits < 64) stride &= (std::uint64_t{1} << bits) - 1;
  return stride == 0 ? kUniform : LaneShape{Kind::linear, stride};
}

LaneShape join(LaneShape a, LaneShape b) { return a == b ? a : kVarying; }

/// Of what adds up to the shape of a sum.
LaneShape added(LaneShape a, LaneShape b, bool subtract, const llvm::Type* type) {
  if (a.kind == Kind::varying || b.kind == Kind::varying) return kVarying;
  if (a.kind == Kind::strided || b.kind == Kind::strided) return kStrided;
  return linear(subtract ? a.stride - b.stride : a.stride + b.stride, type);
}

std::optional<std::uint64_t> constant(const llvm::Value* value) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
  if (number == nullptr || number->getBitWidth() > 64) return std::nullopt;
  return number->getZExtValue();
}

LaneShape scaled(LaneShape shape, const llvm::Value* factor, const llvm::Type* type) {
  if (shape.kind == Kind::varying) return kVarying;
  if (const auto by = constant(factor); by && shape.kind == Kind::linear)
    return linear(shape.stride * *by, type);
  return kStrided;
}

}  // namespace

LaneShapes::LaneShapes(const Blocks& blocks, const llvm::DenseMap<const llvm::Value*, LaneShape>& seeds,
                       const llvm::PostDominatorTree& after, const llvm::BasicBlock* last,
                       llvm::ScalarEvolution* numbers, const llvm::Loop* items)
    : blocks_(blocks), seeds_(seeds), after_(after), last_(last), numbers_(numbers), items_(items) {
  while (step())
    ;
}

bool LaneShapes::known(const llvm::Value* value) const {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  return instruction == nullptr || !contains(instruction->getParent()) || seeds_.count(value) != 0 ||
         shapes_.count(value) != 0;
}

LaneShape LaneShapes::of(const llvm::Value* value) const {
  if (const auto seed = seeds_.find(value); seed != seeds_.end()) return seed->second;
  return shapes_.lookup(value);  // uniform, what stands elsewhere
}

bool LaneShapes::step() {
  bool changed = false;
  for (llvm::BasicBlock* block : blocks_) {
    for (const llvm::Instruction& value : *block) {
      if (seeds_.count(&value) != 0) continue;
      const auto* phi = llvm::dyn_cast<llvm::PHINode>(&value);
      if (phi == nullptr &&
          !llvm::all_of(value.operands(), [&](const llvm::Value* operand) { return known(operand); }))
        continue;  // only in blocks that nothing comes to
      LaneShape shape = phi != nullptr ? find_phi(*phi) : find(value);
      const auto before = shapes_.find(&value);
      if (before != shapes_.end()) {
        if (before->second == shape) continue;
        if (!before->second.is_uniform()) shape = kVarying;  // only ever upwards
        if (before->second == shape) continue;
      }
      shapes_[&value] = shape;
      changed = true;
    }
    const llvm::Instruction* end = block->getTerminator();
    if (block == last_ || end->getNumSuccessors() < 2 || partings_.count(block) != 0) continue;
    if (of(end->getOperand(0)).is_uniform()) continue;
    part(*block);
    changed = true;
  }
  return changed;
}

void LaneShapes::part(llvm::BasicBlock& block) {
  Parting& parting = partings_[&block];
  const auto* node = after_.getNode(&block);
  const auto* next = node != nullptr ? node->getIDom() : nullptr;
  parting.join = next != nullptr ? next->getBlock() : nullptr;
  if (parting.join == nullptr || !contains(parting.join) ||
      !llvm::isa<llvm::BranchInst>(block.getTerminator())) {
    meet_ = false;
    return;
  }
  const auto add = [&](llvm::BasicBlock& of) {
    for (llvm::BasicBlock* successor : llvm::successors(&of))
      if (successor != parting.join) parting.blocks.insert(successor);
  };
  add(block);
  for (std::size_t i = 0; i < parting.blocks.size(); ++i) {
    if (parting.blocks[i] == last_ || !contains(parting.blocks[i])) {
      meet_ = false;
      return;
    }
    add(*parting.blocks[i]);
  }
  joins_.insert(parting.join);
}

bool LaneShapes::well() const {
  if (!meet_) return false;
  for (const auto& [block, parting] : partings_)
    for (const llvm::BasicBlock* between : parting.blocks)
      for (const llvm::Instruction& value : *between)
        for (const llvm::User* user : value.users()) {
          const auto* instruction = llvm::cast<llvm::Instruction>(user);
          const llvm::BasicBlock* where = instruction->getParent();
          if (parting.blocks.contains(const_cast<llvm::BasicBlock*>(where))) continue;
          // Of the turn before, in a loop around both.
          if (where != parting.join || !llvm::isa<llvm::PHINode>(instruction)) return false;
        }
  return true;
}

// One value, of the turn in which the lane left a loop.
bool LaneShapes::leaves_loop(const llvm::PHINode& phi) const {
  const auto* value = llvm::dyn_cast<llvm::Instruction>(phi.hasConstantValue());
  return value != nullptr && llvm::any_of(partings_, [&](const auto& parting) {
           return parting.second.join == phi.getParent() &&
                  parting.second.blocks.contains(const_cast<llvm::BasicBlock*>(value->getParent()));
         });
}

LaneShape LaneShapes::find_phi(const llvm::PHINode& phi) const {
  if (joins_.contains(phi.getParent()) && (phi.hasConstantValue() == nullptr || leaves_loop(phi)))
    return kVarying;
  std::optional<LaneShape> shape;
  for (const llvm::Value* value : phi.incoming_values())
    if (known(value)) shape = shape ? join(*shape, of(value)) : of(value);
  return shape.value_or(kUniform);
}

LaneShape LaneShapes::find_address(const llvm::GetElementPtrInst& address) const {
  const llvm::DataLayout& layout = address.getModule()->getDataLayout();
  LaneShape shape = of(address.getPointerOperand());
  for (auto type = llvm::gep_type_begin(address); type != llvm::gep_type_end(address); ++type) {
    LaneShape index = of(type.getOperand());
    if (index.is_uniform()) continue;
    if (type.isStruct()) return kVarying;
    if (!type.getOperand()->getType()->isIntegerTy(64)) index = kVarying;
    if (index.kind == Kind::linear)
      index.stride *= layout.getTypeAllocSize(type.getIndexedType()).getFixedValue();
    shape = added(shape, index, false, address.getType());
  }
  return shape;
}

LaneShape LaneShapes::find(const llvm::Instruction& value) const {
  const bool all =
      llvm::all_of(value.operands(), [&](const llvm::Value* operand) { return of(operand).is_uniform(); });
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&value))
    return all && load->isSimple() ? kUniform : kVarying;
  if (value.mayReadOrWriteMemory() || llvm::isa<llvm::AllocaInst>(value)) return kVarying;
  if (const LaneQuestion question = lane_question(value); question != LaneQuestion::none && !all) {
    if (of(value.getOperand(0)) != LaneShape{Kind::linear, 1} || !of(value.getOperand(1)).is_uniform())
      return kVarying;
    return question == LaneQuestion::remainder ? LaneShape{Kind::linear, 1} : kUniform;
  }
  if (all) return kUniform;
  LaneShape shape = kVarying;
  const auto operand = [&](unsigned i) { return of(value.getOperand(i)); };
  switch (value.getOpcode()) {
    case llvm::Instruction::GetElementPtr:
      return find_address(llvm::cast<llvm::GetElementPtrInst>(value));
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
      if (value.getType()->isVectorTy()) return kVarying;
      shape = added(operand(0), operand(1), value.getOpcode() == llvm::Instruction::Sub, value.getType());
      break;
    case llvm::Instruction::Mul:
      if (value.getType()->isVectorTy()) return kVarying;
      if (operand(1).is_uniform()) shape = scaled(operand(0), value.getOperand(1), value.getType());
      if (operand(0).is_uniform()) shape = scaled(operand(1), value.getOperand(0), value.getType());
      break;
    case llvm::Instruction::Shl:
      if (value.getType()->isVectorTy() || !operand(1).is_uniform()) return kVarying;
      shape = operand(0).kind == Kind::varying ? kVarying : kStrided;
      if (const auto by = constant(value.getOperand(1)); by && *by < 64 && operand(0).kind == Kind::linear)
        shape = linear(operand(0).stride << *by, value.getType());
      break;
    case llvm::Instruction::Trunc:
      if (operand(0).kind == Kind::linear) return linear(operand(0).stride, value.getType());
      shape = operand(0);
      break;
    case llvm::Instruction::BitCast:
    case llvm::Instruction::AddrSpaceCast:
      if (value.getOperand(0)->getType()->isPointerTy()) return operand(0);
      return kVarying;
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt:
      if (operand(0).kind == Kind::strided) shape = kStrided;
      break;
    case llvm::Instruction::Select:
      if (operand(0).is_uniform()) return join(operand(1), operand(2));
      return kVarying;
    default:
      break;
  }
  if (shape.kind <= Kind::linear || numbers_ == nullptr || !value.getType()->isIntegerTy()) return shape;
  // Numbers that cannot wrap, as those of a group's items.
  const auto* turns =
      llvm::dyn_cast<llvm::SCEVAddRecExpr>(numbers_->getSCEV(const_cast<llvm::Instruction*>(&value)));
  if (turns == nullptr || turns->getLoop() != items_ || !turns->isAffine()) return shape;
  const auto* stride = llvm::dyn_cast<llvm::SCEVConstant>(turns->getStepRecurrence(*numbers_));
  if (stride == nullptr || stride->getAPInt().getBitWidth() > 64) return shape;
  return linear(stride->getAPInt().getZExtValue(), value.getType());
}

}  // namespace kiln::cpu
