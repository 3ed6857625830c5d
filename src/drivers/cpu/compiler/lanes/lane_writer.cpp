// SPDX-License-Identifier: MIT
// Writes what lanes do together.
#include "drivers/cpu/compiler/lanes/lane_writer.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "drivers/cpu/compiler/instrument/neighbours.hpp"
#include "drivers/cpu/compiler/lanes/lane_alone.hpp"
#include "drivers/cpu/compiler/lowering/item_loop.hpp"

namespace kiln::cpu {
namespace {

using Kind = LaneShape::Kind;

/// Intrinsics of one type that do the same to each element; how many operands are vectors.
unsigned vector_operands(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::abs:
    case llvm::Intrinsic::ctlz:
    case llvm::Intrinsic::cttz:
    case llvm::Intrinsic::fabs:
    case llvm::Intrinsic::sqrt:
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::trunc:
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::ctpop:
    case llvm::Intrinsic::bswap:
    case llvm::Intrinsic::bitreverse:
      return 1;
    case llvm::Intrinsic::minnum:
    case llvm::Intrinsic::maxnum:
    case llvm::Intrinsic::copysign:
    case llvm::Intrinsic::smin:
    case llvm::Intrinsic::smax:
    case llvm::Intrinsic::umin:
    case llvm::Intrinsic::umax:
    case llvm::Intrinsic::uadd_sat:
    case llvm::Intrinsic::sadd_sat:
    case llvm::Intrinsic::usub_sat:
    case llvm::Intrinsic::ssub_sat:
      return 2;
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fmuladd:
    case llvm::Intrinsic::fshl:
    case llvm::Intrinsic::fshr:
      return 3;
    default:
      return 0;
  }
}

bool says_nothing(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call != nullptr && (llvm::isa<llvm::DbgInfoIntrinsic>(call) || call->isLifetimeStartOrEnd() ||
                             call->getIntrinsicID() == llvm::Intrinsic::assume);
}

}  // namespace

bool LaneWriter::is_plain(const llvm::Type* type) {
  if (type->isFloatTy() || type->isDoubleTy() || type->isHalfTy() || type->isPointerTy()) return true;
  return type->isIntegerTy(8) || type->isIntegerTy(16) || type->isIntegerTy(32) || type->isIntegerTy(64);
}

LaneWriter::LaneWriter(llvm::Function& function, const LaneShapes& shapes, const llvm::DominatorTree& tree,
                       unsigned lanes, llvm::BasicBlock& before, bool exchanges_16)
    : function_(function),
      shapes_(shapes),
      tree_(tree),
      lanes_(lanes),
      before_(before),
      exchanges_16_(exchanges_16),
      layout_(function.getParent()->getDataLayout()),
      loops_(tree),
      b_(&before) {
  find_lazy();
}

bool LaneWriter::is_counting(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  if (callee == nullptr) return false;
  const llvm::StringRef name = callee->getName();
  return name == kAccessFunction || name == kWriteFunction || name == kMeetFunction ||
         name == "kiln_private_access";
}

bool LaneWriter::can_write(const LaneShapes& shapes, std::size_t most_copied,
                           llvm::function_ref<bool(const llvm::Instruction&)> independent) {
  if (!shapes.well()) return false;
  std::size_t copied = 0;
  for (const llvm::BasicBlock* block : shapes.blocks())
    if (const LaneShapes::Parting* parting = shapes.parting(block))
      for (const llvm::BasicBlock* between : parting->blocks) copied += between->size();
  if (copied > most_copied) return false;
  for (const llvm::BasicBlock* block : shapes.blocks())
    for (const llvm::Instruction& instruction : *block) {
      if (says_nothing(instruction)) continue;
      if (lane_question(instruction) != LaneQuestion::none && !shapes.of(&instruction).has_first())
        return false;
      const llvm::Type* type = instruction.getType();
      if (!shapes.of(&instruction).is_uniform() && !type->isVoidTy() && !is_plain(type) &&
          !type->isIntegerTy(1))
        return false;
      if (llvm::isa<llvm::AllocaInst, llvm::FenceInst, llvm::AtomicCmpXchgInst>(instruction)) return false;
      if (instruction.isTerminator()) {
        if (block != shapes.last() && !llvm::isa<llvm::BranchInst, llvm::SwitchInst>(instruction))
          return false;
      } else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        if (is_counting(*call)) continue;
        if (call->mayReadOrWriteMemory() || call->isConvergent() || call->isInlineAsm()) return false;
      } else if (instruction.mayReadOrWriteMemory() && !independent(instruction)) {
        return false;
      }
    }
  return true;
}

LaneWriter::Value* LaneWriter::scalar(const Value& value) {
  const auto found = first_.find(&value);
  return found != first_.end() ? found->second : const_cast<Value*>(&value);
}

void LaneWriter::go_behind(llvm::IRBuilder<>& b, Value& value) {
  auto* made = llvm::dyn_cast<llvm::Instruction>(&value);
  if (made == nullptr) return;
  if (llvm::isa<llvm::PHINode>(made))
    b.SetInsertPoint(made->getParent(), made->getParent()->getFirstInsertionPt());
  else if (llvm::Instruction* next = made->getNextNode())
    b.SetInsertPoint(next);
  else
    b.SetInsertPoint(made->getParent());
}

// Right behind the value, so that it is there wherever it may be asked for.
LaneWriter::Value* LaneWriter::wide(const Value& value) {
  if (const auto found = wide_.find(&value); found != wide_.end()) return found->second;
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value))
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_),
                                          const_cast<llvm::Constant*>(constant));
  Value* first = scalar(value);
  llvm::IRBuilder<> b(before_.getTerminator());
  if (first != &value) go_behind(b, *first);
  Value* vector = b.CreateVectorSplat(lanes_, first);
  if (const LaneShape shape = shapes_.of(&value); shape.kind == Kind::linear) {
    const bool pointer = first->getType()->isPointerTy();
    llvm::Type* number = pointer ? b.getInt64Ty() : first->getType();
    llvm::SmallVector<llvm::Constant*, 32> steps;
    for (unsigned lane = 0; lane < lanes_; ++lane)
      steps.push_back(llvm::ConstantInt::get(
          number, llvm::APInt(64, shape.stride * lane).zextOrTrunc(number->getIntegerBitWidth())));
    Value* step = llvm::ConstantVector::get(steps);
    vector = pointer ? b.CreateGEP(b.getInt8Ty(), first, step) : b.CreateAdd(vector, step);
  }
  return wide_[&value] = vector;
}

LaneWriter::Value* LaneWriter::in_lane(llvm::IRBuilder<>& b, const Value& value, unsigned lane) {
  const LaneShape shape = shapes_.of(&value);
  if (shape.is_uniform()) return scalar(value);
  if (shape.kind == Kind::linear) {
    Value* first = scalar(value);
    if (lane == 0) return first;
    llvm::Type* type = first->getType();
    if (type->isPointerTy()) return b.CreateGEP(b.getInt8Ty(), first, b.getInt64(shape.stride * lane));
    return b.CreateAdd(
        first, llvm::ConstantInt::get(
                   type, llvm::APInt(64, shape.stride * lane).zextOrTrunc(type->getIntegerBitWidth())));
  }
  // Out of a vector that is not needed else the first one would take its way through two kinds of registers.
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&value);
      lane == 0 && cast != nullptr && llvm::isa<llvm::ZExtInst, llvm::SExtInst>(cast) &&
      cast->getType()->isIntegerTy() && shapes_.of(cast->getOperand(0)).has_first() &&
      first_.lookup(cast->getOperand(0)) != nullptr)
    return b.CreateCast(cast->getOpcode(), scalar(*cast->getOperand(0)), cast->getType());
  if (!lazy_.contains(&value)) {
    if (lane != 0 && is_before_loop(value)) return kept_in_lane(b, value, lane);
    return b.CreateExtractElement(wide(value), std::uint64_t{lane});
  }
  llvm::Instruction* copy = llvm::cast<llvm::Instruction>(value).clone();
  for (llvm::Use& use : copy->operands()) use.set(in_lane(b, *use.get(), lane));
  return b.Insert(copy);
}

bool LaneWriter::is_before_loop(const Value& value) const {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  if (instruction == nullptr || now_ == nullptr || !is_plain(value.getType())) return false;
  const llvm::Loop *here = loops_.getLoopFor(now_), *there = loops_.getLoopFor(instruction->getParent());
  return here != nullptr && here != there && (there == nullptr || there->contains(here));
}

// From memory: elements in registers would be taken from the vector before the loop, all of them, though the
// loop hardly ever comes to where lanes want them one by one. Volatile, or the loads would be as well.
LaneWriter::Value* LaneWriter::kept_in_lane(llvm::IRBuilder<>& b, const Value& value, unsigned lane) {
  Value* vector = wide(value);
  llvm::AllocaInst*& kept = kept_[&value];
  if (kept == nullptr) {
    kept = variable(vector->getType());
    llvm::IRBuilder<> behind(before_.getTerminator());
    go_behind(behind, *vector);
    behind.CreateStore(vector, kept);
  }
  return b.CreateLoad(value.getType(), b.CreateConstInBoundsGEP1_64(value.getType(), kept, lane), true);
}

void LaneWriter::write() {
  for (const llvm::BasicBlock* block : shapes_.blocks()) begins_[block] = new_block();
  for (llvm::BasicBlock* block : shapes_.blocks()) {
    b_.SetInsertPoint(begins_[block]);
    now_ = block;
    for (const llvm::PHINode& phi : block->phis())
      if (first_.count(&phi) == 0) write_phi(phi);
    for (const llvm::Instruction& instruction : *block)
      if (!llvm::isa<llvm::PHINode>(instruction) && !instruction.isTerminator()) write(instruction);
    ends_[block] = b_.GetInsertBlock();
    if (block != shapes_.last()) write_end(*block);
  }
  finish_phis();
  now_ = nullptr;
}

void LaneWriter::end() {
  llvm::DominatorTree tree(function_);
  if (!slots_.empty()) llvm::PromoteMemToReg(slots_, tree);
}

void LaneWriter::write_phi(const llvm::PHINode& phi) {
  if (shapes_.of(&phi).has_first())
    first_[&phi] = b_.CreatePHI(phi.getType(), phi.getNumIncomingValues());
  else
    wide_[&phi] = b_.CreatePHI(wide_type(phi.getType()), phi.getNumIncomingValues());
}

void LaneWriter::finish_phis() {
  for (const llvm::BasicBlock* block : shapes_.blocks())
    for (const llvm::PHINode& phi : block->phis()) {
      const bool single = shapes_.of(&phi).has_first();
      auto* copy = llvm::dyn_cast_or_null<llvm::PHINode>(single ? first_.lookup(&phi) : wide_.lookup(&phi));
      if (copy == nullptr || copy->getNumIncomingValues() != 0) continue;  // the caller's
      for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
        const auto edge = edges_.find({phi.getIncomingBlock(i), block});
        if (edge == edges_.end()) continue;
        const Value& value = *phi.getIncomingValue(i);
        copy->addIncoming(single ? scalar(value) : wide(value), edge->second);
      }
      for (const Arrival& arrival : arrivals_[block])
        copy->addIncoming(arrival.values.lookup(&phi), arrival.from);
    }
}

void LaneWriter::write(const llvm::Instruction& instruction) {
  if (says_nothing(instruction) || lazy_.contains(&instruction)) return;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      load != nullptr && load->isSimple() && !shapes_.of(load).has_first())
    return write_load(*load);
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      store != nullptr && store->isSimple())
    return write_store(*store);
  if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return write_update(*update);
  if (is_counting(instruction)) {
    const auto& call = llvm::cast<llvm::CallInst>(instruction);
    if (call.getType()->isPointerTy()) return write_counted(call);
    if (call.getCalledFunction()->getName() == kMeetFunction) return write_meeting(call);
  }
  if (instruction.mayHaveSideEffects()) return write_lanes(instruction);
  if (lane_question(instruction) != LaneQuestion::none) {
    first_[&instruction] = answer(instruction);
    return;
  }
  if (!shapes_.of(&instruction).has_first()) return write_vector(instruction);
  // Lanes may be one more than the one before, though what adds up to that is not: `x / y * y + x % y`.
  llvm::Instruction* copy = instruction.clone();
  for (llvm::Use& use : copy->operands()) use.set(in_lane(b_, *use.get(), 0));
  first_[&instruction] = b_.Insert(copy);
}

void LaneWriter::write_vector(const llvm::Instruction& instruction) {
  const auto operand = [&](unsigned i) { return wide(*instruction.getOperand(i)); };
  Value* out = nullptr;
  if (!llvm::all_of(instruction.operands(), [](const Value* value) {
        return llvm::isa<llvm::Function>(value) || is_plain(value->getType()) ||
               value->getType()->isIntegerTy(1);
      }))
    return write_lanes(instruction);
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
      binary != nullptr && is_quick_division(*binary)) {
    out = quotient(*binary);
    if (binary->getOpcode() == llvm::Instruction::URem)
      out = b_.CreateSub(operand(0), b_.CreateMul(out, operand(1)));
    return set_wide(instruction, out);
  }
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    out = b_.CreateBinOp(binary->getOpcode(), operand(0), operand(1));
  } else if (const auto* unary = llvm::dyn_cast<llvm::UnaryOperator>(&instruction)) {
    out = b_.CreateUnOp(unary->getOpcode(), operand(0));
  } else if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
    out = b_.CreateCmp(compare->getPredicate(), operand(0), operand(1));
  } else if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    out = b_.CreateCast(cast->getOpcode(), operand(0), wide_type(cast->getType()));
  } else if (llvm::isa<llvm::SelectInst>(instruction)) {
    const Value& condition = *instruction.getOperand(0);
    out = b_.CreateSelect(shapes_.of(&condition).is_uniform() ? scalar(condition) : wide(condition),
                          operand(1), operand(2));
  } else if (llvm::isa<llvm::FreezeInst>(instruction)) {
    out = b_.CreateFreeze(operand(0));
  } else if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    llvm::SmallVector<Value*, 4> indices;
    for (const Value* index : address->indices())
      indices.push_back(shapes_.of(index).is_uniform() ? scalar(*index) : wide(*index));
    out = b_.CreateGEP(address->getSourceElementType(), operand(0), indices, "", address->isInBounds());
  } else if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
             call != nullptr && vector_operands(call->getIntrinsicID()) != 0) {
    const unsigned vectors = vector_operands(call->getIntrinsicID());
    llvm::SmallVector<Value*, 4> operands;
    for (unsigned i = 0; i < call->arg_size(); ++i)
      operands.push_back(i < vectors ? operand(i) : scalar(*call->getArgOperand(i)));
    out = b_.CreateIntrinsic(call->getIntrinsicID(), {wide_type(call->getType())}, operands);
  } else {
    return write_lanes(instruction);
  }
  if (auto* made = llvm::dyn_cast<llvm::Instruction>(out)) made->copyIRFlags(&instruction);
  set_wide(instruction, out);
}

// Vectors are divided one element after the other, except in floating point.
bool LaneWriter::is_quick_division(const llvm::BinaryOperator& division) const {
  return (division.getOpcode() == llvm::Instruction::UDiv ||
          division.getOpcode() == llvm::Instruction::URem) &&
         division.getType()->isIntegerTy(32) && shapes_.of(division.getOperand(1)).is_uniform() &&
         !llvm::isa<llvm::Constant>(division.getOperand(1));
}

// floor((x + 1/2) * (1 / y)) in double is x / y for all x and y of 32 bits: (x + 1/2) / y is at least 1/2y
// away from any whole number, and what two roundings add to it is less than 2^-19 / y. Numbers below 2^52 are
// the low bits of their sum with 2^52.
LaneWriter::Value* LaneWriter::quotient(const llvm::BinaryOperator& division) {
  constexpr double kWhole = 0x1p52;
  constexpr std::uint64_t kWholeBits = 0x4330000000000000;
  Value*& known = quotients_[{division.getOperand(0), division.getOperand(1)}];
  if (known != nullptr && llvm::cast<llvm::Instruction>(known)->getParent() == b_.GetInsertBlock())
    return known;
  llvm::Type *numbers = wide_type(b_.getInt64Ty()), *reals = wide_type(b_.getDoubleTy());
  const auto constant = [&](double value) { return llvm::ConstantFP::get(reals, value); };
  Value* inverse = b_.CreateFDiv(llvm::ConstantFP::get(b_.getDoubleTy(), 1.0),
                                 b_.CreateUIToFP(scalar(*division.getOperand(1)), b_.getDoubleTy()));
  Value* bits = b_.CreateOr(b_.CreateZExt(wide(*division.getOperand(0)), numbers),
                            llvm::ConstantInt::get(numbers, kWholeBits));
  Value* shifted = b_.CreateFAdd(b_.CreateBitCast(bits, reals), constant(0.5 - kWhole));
  Value* product = b_.CreateFMul(shifted, b_.CreateVectorSplat(lanes_, inverse));
  Value* whole = b_.CreateFAdd(b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, product), constant(kWhole));
  return known = b_.CreateTrunc(b_.CreateBitCast(whole, numbers), wide_type(b_.getInt32Ty()));
}

// By the first lane's numbers. Division by 0, whose result is nobody's business, must not trap.
LaneWriter::Value* LaneWriter::answer(const llvm::Instruction& question) {
  Value *x = scalar(*question.getOperand(0)), *y = scalar(*question.getOperand(1));
  Value* divisor = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, y, b_.getInt32(1));
  if (lane_question(question) == LaneQuestion::quotient) return b_.CreateUDiv(x, divisor);
  Value* remainder = b_.CreateURem(x, divisor);
  if (lane_question(question) == LaneQuestion::remainder) return b_.CreateZExt(remainder, b_.getInt64Ty());
  // The last lane's is below the divisor too, and its number has not wrapped.
  Value* room = b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, y, b_.getInt32(lanes_ - 1));
  return b_.CreateAnd(b_.CreateICmpULT(remainder, room), b_.CreateICmpULE(x, b_.getInt32(-lanes_)));
}

// One lane after the other, for what has no form for vectors.
void LaneWriter::write_lanes(const llvm::Instruction& instruction) {
  const bool asked = !instruction.getType()->isVoidTy();
  Value* out = asked ? llvm::PoisonValue::get(wide_type(instruction.getType())) : nullptr;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    llvm::Instruction* copy = instruction.clone();
    for (llvm::Use& use : copy->operands())
      if (!llvm::isa<llvm::Function>(use.get())) use.set(in_lane(b_, *use.get(), lane));
    b_.Insert(copy);
    if (asked) out = b_.CreateInsertElement(out, copy, std::uint64_t{lane});
  }
  if (asked) set_wide(instruction, out);
}

llvm::AllocaInst* LaneWriter::variable(llvm::Type* type) {
  llvm::BasicBlock& entry = function_.getEntryBlock();
  llvm::AllocaInst* made = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
  made->setMetadata(kOfLanes, llvm::MDNode::get(entry.getContext(), {}));
  return made;
}

void LaneWriter::write_end(llvm::BasicBlock& block) {
  const llvm::Instruction& end = *block.getTerminator();
  if (const LaneShapes::Parting* parting = shapes_.parting(&block)) return write_parting(block, *parting);
  llvm::Instruction* copy = end.clone();
  copy->setMetadata(llvm::LLVMContext::MD_loop, nullptr);
  for (llvm::Use& use : copy->operands()) {
    auto* to = llvm::dyn_cast<llvm::BasicBlock>(use.get());
    use.set(to != nullptr ? begins_.lookup(to) : scalar(*use.get()));
  }
  for (const llvm::BasicBlock* next : llvm::successors(&block)) {
    edges_[{&block, next}] = b_.GetInsertBlock();
    if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(copy);
        branch != nullptr && tree_.dominates(next, &block))
      describe_loop(*branch);
  }
  b_.Insert(copy);
}

namespace {

/// Of both sides of a conjunction or a disjunction.
struct Sides {
  llvm::Value *a, *b;
  bool both;  ///< a conjunction
};
std::optional<Sides> sides_of(const llvm::Value& condition) {
  using namespace llvm::PatternMatch;
  auto* value = const_cast<llvm::Value*>(&condition);
  llvm::Value *a = nullptr, *b = nullptr;
  if (match(value, m_LogicalAnd(m_Value(a), m_Value(b)))) return Sides{a, b, true};
  if (match(value, m_LogicalOr(m_Value(a), m_Value(b)))) return Sides{a, b, false};
  return std::nullopt;
}

}  // namespace

bool LaneWriter::can_vote_by_ends(const LaneShapes& shapes, const Value& condition, unsigned depth) {
  constexpr unsigned kDeepest = 3;
  if (shapes.of(&condition).is_uniform()) return true;
  if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&condition)) {
    const bool swapped = shapes.of(compare->getOperand(0)).is_uniform();
    const Value &rising = *compare->getOperand(swapped ? 1 : 0),
                &other = *compare->getOperand(swapped ? 0 : 1);
    const LaneShape shape = shapes.of(&rising);
    return compare->isRelational() && rising.getType()->isIntegerTy() &&
           rising.getType()->getScalarSizeInBits() >= 32 && shape.kind == Kind::linear &&
           shape.stride <= std::uint64_t{1} << 16 && shapes.of(&other).is_uniform();
  }
  const auto sides = sides_of(condition);
  return sides && depth < kDeepest && can_vote_by_ends(shapes, *sides->a, depth + 1) &&
         can_vote_by_ends(shapes, *sides->b, depth + 1);
}

bool LaneWriter::agrees_by_ends(const LaneShapes& shapes) {
  return llvm::all_of(shapes.blocks(), [&](const llvm::BasicBlock* block) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    return shapes.parting(block) == nullptr ||
           (branch != nullptr && can_vote_by_ends(shapes, *branch->getCondition()));
  });
}

// Numbers that rise from lane to lane and do not wrap are on one side of another where both ends are.
LaneWriter::Votes LaneWriter::votes_of_compare(const llvm::ICmpInst& compare) {
  const bool swapped = shapes_.of(compare.getOperand(0)).is_uniform();
  const Value &rising = *compare.getOperand(swapped ? 1 : 0), &other = *compare.getOperand(swapped ? 0 : 1);
  const auto predicate = swapped ? compare.getSwappedPredicate() : compare.getPredicate();
  Value* first = scalar(rising);
  Value* way = llvm::ConstantInt::get(first->getType(), shapes_.of(&rising).stride * (lanes_ - 1));
  Value* last = b_.CreateAdd(first, way);
  Value* stays =
      b_.CreateICmp(compare.isSigned() ? llvm::ICmpInst::ICMP_SLE : llvm::ICmpInst::ICMP_ULE, first, last);
  const auto yes = [&](Value* value) { return b_.CreateICmp(predicate, value, scalar(other)); };
  const bool rises_to_no = predicate == llvm::ICmpInst::ICMP_ULT || predicate == llvm::ICmpInst::ICMP_ULE ||
                           predicate == llvm::ICmpInst::ICMP_SLT || predicate == llvm::ICmpInst::ICMP_SLE;
  return {b_.CreateAnd(stays, yes(rises_to_no ? last : first)),
          b_.CreateAnd(stays, b_.CreateNot(yes(rises_to_no ? first : last)))};
}

std::optional<LaneWriter::Votes> LaneWriter::votes_by_ends(const Value& condition) {
  if (!can_vote_by_ends(shapes_, condition)) return std::nullopt;
  if (shapes_.of(&condition).is_uniform()) return Votes{scalar(condition), b_.CreateNot(scalar(condition))};
  if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&condition)) return votes_of_compare(*compare);
  const auto sides = sides_of(condition);
  const auto of_a = votes_by_ends(*sides->a);
  auto of_b = votes_by_ends(*sides->b);
  // Where `a` alone tells, `b` may be undefined.
  of_b = {b_.CreateFreeze(of_b->all), b_.CreateFreeze(of_b->none)};
  if (sides->both) return Votes{b_.CreateAnd(of_a->all, of_b->all), b_.CreateOr(of_a->none, of_b->none)};
  return Votes{b_.CreateOr(of_a->all, of_b->all), b_.CreateAnd(of_a->none, of_b->none)};
}

void LaneWriter::move_condition(const Value& condition, llvm::BasicBlock& to) {
  const auto* source = llvm::dyn_cast<llvm::Instruction>(&condition);
  auto* made = llvm::dyn_cast_or_null<llvm::Instruction>(wide_.lookup(source));
  if (made == nullptr || !source->hasOneUse() || source->getParent() != now_ ||
      llvm::any_of(made->users(), [&](const llvm::User* user) {
        return llvm::cast<llvm::Instruction>(user)->getParent() != &to;
      }))
    return;
  made->moveBefore(to, to.begin());
  for (const Value* operand : source->operands())
    if (operand->getType()->isIntegerTy(1)) move_condition(*operand, to);
}

void LaneWriter::write_parting(llvm::BasicBlock& block, const LaneShapes::Parting& parting) {
  const auto& branch = llvm::cast<llvm::BranchInst>(*block.getTerminator());
  llvm::BasicBlock *yes = branch.getSuccessor(0), *no = branch.getSuccessor(1);
  Value* condition = wide(*branch.getCondition());
  auto votes = votes_by_ends(*branch.getCondition());
  const bool by_ends = votes.has_value();
  if (!by_ends) {
    llvm::Type* type = b_.getIntNTy(lanes_);
    Value* bits = b_.CreateBitCast(condition, type);
    votes = {b_.CreateICmpEQ(bits, llvm::Constant::getAllOnesValue(type)),
             b_.CreateICmpEQ(bits, llvm::ConstantInt::get(type, 0))};
  }
  Block not_all = new_block(), mixed = new_block();
  edges_[{&block, yes}] = b_.GetInsertBlock();
  edges_[{&block, no}] = not_all;
  b_.CreateCondBr(votes->all, begins_[yes], not_all);
  b_.SetInsertPoint(not_all);
  b_.CreateCondBr(votes->none, begins_[no], mixed);
  if (by_ends) move_condition(*branch.getCondition(), *mixed);
  b_.SetInsertPoint(mixed);
  Alone(*this, block, parting).write(condition, by_ends);
}

}  // namespace kiln::cpu
