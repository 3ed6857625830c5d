// SPDX-License-Identifier: MIT
// Writes the accesses of lanes: as one of a vector, as one for all, or one by one.
#include <llvm/IR/Module.h>

#include "drivers/cpu/compiler/instrument/neighbours.hpp"
#include "drivers/cpu/compiler/lanes/lane_writer.hpp"
#include "drivers/cpu/counting/access_rules.hpp"

namespace kiln::cpu {
namespace {

using Kind = LaneShape::Kind;

// Operands of what the recorder is told.
constexpr unsigned kPlace = 0, kItem = 2, kAddress = 3, kBytes = 4, kBase = 5, kNumber = 6;

}  // namespace

// An address that one access in the same block uses, and what it is made of.
bool LaneWriter::may_be_lazy(const llvm::Instruction& value) const {
  switch (value.getOpcode()) {
    case llvm::Instruction::GetElementPtr:
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt:
      break;
    default:
      return false;
  }
  if (shapes_.of(&value).has_first()) return false;
  return llvm::all_of(value.users(), [&](const llvm::User* user) {
    const auto* instruction = llvm::cast<llvm::Instruction>(user);
    return instruction->getParent() == value.getParent() &&
           (lazy_.contains(user) || llvm::getLoadStorePointerOperand(user) == &value) &&
           !(llvm::isa<llvm::StoreInst>(user) && user->getOperand(0) == &value);
  });
}

void LaneWriter::find_lazy() {
  for (const llvm::BasicBlock* block : shapes_.blocks())
    for (auto value = block->rbegin(); value != block->rend(); ++value)
      if (may_be_lazy(*value)) lazy_.insert(&*value);
  for (const llvm::BasicBlock* block : shapes_.blocks())
    for (const llvm::Instruction& value : *block)
      if (const Value* address = llvm::getLoadStorePointerOperand(&value);
          address != nullptr && !shapes_.of(address).has_first())
        no_longer_lazy(root_of(*address).value);
}

// And so what it is made of.
void LaneWriter::no_longer_lazy(const Value* value) {
  if (!lazy_.erase(value)) return;
  for (const Value* operand : llvm::cast<llvm::Instruction>(value)->operands()) no_longer_lazy(operand);
}

LaneWriter::Root LaneWriter::root_of(const Value& address) const {
  const Value* at = &address;
  const auto varies = [&](const Value* value) { return !shapes_.of(value).is_uniform(); };
  for (;;) {
    const auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(at);
    if (element == nullptr) return {at, 1};
    if (varies(element->getPointerOperand())) {
      if (llvm::any_of(element->indices(), varies)) return {at, 1};
      at = element->getPointerOperand();
      continue;
    }
    // One index alone, of the last array.
    const auto last = element->getNumOperands() - 1;
    for (unsigned i = 1; i < last; ++i)
      if (varies(element->getOperand(i))) return {at, 1};
    const Value* index = element->getOperand(last);
    if (!index->getType()->isIntegerTy(64) || element->getResultElementType()->isVectorTy()) return {at, 1};
    const std::uint64_t scale = layout_.getTypeAllocSize(element->getResultElementType()).getFixedValue();
    for (;;) {
      const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(index);
      if (sum == nullptr || !shapes_.contains(sum->getParent())) break;
      const bool adds = sum->getOpcode() == llvm::Instruction::Add;
      if (!adds && sum->getOpcode() != llvm::Instruction::Sub) break;
      if (!varies(sum->getOperand(1)))
        index = sum->getOperand(0);
      else if (adds && !varies(sum->getOperand(0)))
        index = sum->getOperand(1);
      else
        break;
    }
    return {index, scale};
  }
}

// Of what is wider than a number that steps from lane to lane: the last lane's tells, unless that wraps.
LaneWriter::Value* LaneWriter::steps_unless_wrapped(const Value& root, std::uint64_t step) {
  const auto* extended = llvm::dyn_cast<llvm::CastInst>(&root);
  if (extended == nullptr || !llvm::isa<llvm::ZExtInst, llvm::SExtInst>(extended)) return nullptr;
  const Value& narrow = *extended->getOperand(0);
  const LaneShape shape = shapes_.of(&narrow);
  const unsigned bits = narrow.getType()->getScalarSizeInBits();
  if (shape.kind != Kind::linear || first_.lookup(&narrow) == nullptr || bits < 16 || bits > 32)
    return nullptr;
  if (shape.stride != step) return b_.getFalse();
  const std::uint64_t last = step * (lanes_ - 1);
  const bool is_signed = llvm::isa<llvm::SExtInst>(extended);
  const std::uint64_t largest = (std::uint64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  if (last > largest) return b_.getFalse();
  Value* first = scalar(narrow);
  llvm::IRBuilder<> b(before_.getTerminator());
  go_behind(b, *first);
  return b.CreateICmp(is_signed ? llvm::ICmpInst::ICMP_SLE : llvm::ICmpInst::ICMP_ULE, first,
                      llvm::ConstantInt::get(first->getType(), largest - last));
}

LaneWriter::Value* LaneWriter::steps_by(const Value& root, std::uint64_t step) {
  Value*& known = steps_[{&root, step}];
  if (known != nullptr) return known;
  if (Value* narrow = steps_unless_wrapped(root, step)) return known = narrow;
  Value* vector = wide(root);
  llvm::IRBuilder<> b(before_.getTerminator());
  go_behind(b, *vector);
  if (root.getType()->isPointerTy()) vector = b.CreatePtrToInt(vector, wide_type(b.getInt64Ty()));
  llvm::Type* number = vector->getType()->getScalarType();
  llvm::SmallVector<llvm::Constant*, 32> steps;
  for (unsigned lane = 0; lane < lanes_; ++lane) steps.push_back(llvm::ConstantInt::get(number, step * lane));
  Value* first = b.CreateVectorSplat(lanes_, b.CreateExtractElement(vector, std::uint64_t{0}));
  Value* differs = b.CreateICmpNE(vector, b.CreateAdd(first, llvm::ConstantVector::get(steps)));
  llvm::Type* bits = b.getIntNTy(lanes_);
  return known = b.CreateICmpEQ(b.CreateBitCast(differs, bits), llvm::ConstantInt::get(bits, 0));
}

std::pair<const LaneWriter::Value*, LaneWriter::Value*> LaneWriter::asked_about(const Value& address) const {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(address.stripPointerCasts());
  const auto found = as_asked_.find(call);
  if (call == nullptr || found == as_asked_.end()) return {&address, nullptr};
  return {call->getArgOperand(kAddress)->stripPointerCasts(), found->second};
}

LaneWriter::Value* LaneWriter::are_apart(const Value& address, std::uint64_t step) {
  const auto [asked, as_asked] = asked_about(address);
  const LaneShape shape = shapes_.of(asked);
  Value* apart = nullptr;
  if (shape.has_first()) {
    apart = b_.getInt1(shape.stride == step);
  } else {
    const Root root = root_of(*asked);
    if (step % root.scale != 0) return nullptr;
    apart = steps_by(*root.value, step / root.scale);
  }
  return as_asked == nullptr ? apart : b_.CreateAnd(apart, as_asked);
}

void LaneWriter::write_load(const llvm::LoadInst& load) {
  const Value& address = *load.getPointerOperand();
  const LaneShape shape = shapes_.of(&address);
  const std::uint64_t size = layout_.getTypeStoreSize(load.getType()).getFixedValue();
  llvm::Type* type = wide_type(load.getType());
  const auto together = [&](Value* first) {
    llvm::LoadInst* all = b_.CreateAlignedLoad(type, first, load.getAlign());
    all->copyMetadata(load, {llvm::LLVMContext::MD_access_group});
    return all;
  };
  const auto one_by_one = [&] {
    Value* out = llvm::PoisonValue::get(type);
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      llvm::Instruction* copy = load.clone();
      copy->setOperand(0, in_lane(b_, address, lane));
      out = b_.CreateInsertElement(out, b_.Insert(copy), std::uint64_t{lane});
    }
    return out;
  };
  if (shape.kind == Kind::linear && shape.stride == size) return set_wide(load, together(scalar(address)));
  if (shape.has_first()) return set_wide(load, one_by_one());
  Value *neighbours = are_apart(address, size), *same = are_apart(address, 0);
  if (neighbours == nullptr || same == nullptr) return set_wide(load, one_by_one());
  Block dense = new_block(), else_same = new_block(), once = new_block(), each = new_block(),
        after = new_block();
  b_.CreateCondBr(neighbours, dense, else_same);
  b_.SetInsertPoint(dense);
  Value* from_dense = together(in_lane(b_, address, 0));
  b_.CreateBr(after);
  b_.SetInsertPoint(else_same);
  b_.CreateCondBr(same, once, each);
  b_.SetInsertPoint(once);
  llvm::Instruction* copy = load.clone();
  copy->setOperand(0, in_lane(b_, address, 0));
  Value* from_once = b_.CreateVectorSplat(lanes_, b_.Insert(copy));
  b_.CreateBr(after);
  b_.SetInsertPoint(each);
  Value* from_each = one_by_one();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* out = b_.CreatePHI(type, 3);
  out->addIncoming(from_dense, dense);
  out->addIncoming(from_once, once);
  out->addIncoming(from_each, each);
  set_wide(load, out);
}

void LaneWriter::write_store(const llvm::StoreInst& store) {
  const Value &address = *store.getPointerOperand(), &value = *store.getValueOperand();
  const LaneShape shape = shapes_.of(&address);
  const std::uint64_t size = layout_.getTypeStoreSize(value.getType()).getFixedValue();
  const auto together = [&](Value* first) {
    b_.CreateAlignedStore(wide(value), first, store.getAlign())
        ->copyMetadata(store, {llvm::LLVMContext::MD_access_group});
  };
  const auto in = [&](unsigned lane) {
    llvm::Instruction* copy = store.clone();
    copy->setOperand(0, in_lane(b_, value, lane));
    copy->setOperand(1, in_lane(b_, address, lane));
    b_.Insert(copy);
  };
  const auto one_by_one = [&] {
    for (unsigned lane = 0; lane < lanes_; ++lane) in(lane);
  };
  if (shape.is_uniform()) return in(lanes_ - 1);
  if (!is_plain(value.getType())) return one_by_one();
  if (shape.kind == Kind::linear && shape.stride == size) return together(scalar(address));
  if (shape.has_first()) return one_by_one();
  Value* neighbours = are_apart(address, size);
  if (neighbours == nullptr) return one_by_one();
  Block dense = new_block(), each = new_block(), after = new_block();
  b_.CreateCondBr(neighbours, dense, each);
  b_.SetInsertPoint(dense);
  together(in_lane(b_, address, 0));
  b_.CreateBr(after);
  b_.SetInsertPoint(each);
  one_by_one();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// All lanes' accesses in one call, where they are one access of neighbours.
void LaneWriter::write_counted(const llvm::CallInst& access) {
  for (unsigned i = 0; i < access.arg_size(); ++i) {
    const LaneShape shape = shapes_.of(access.getArgOperand(i));
    const bool goes = i == kAddress || (i == kNumber && access.getArgOperand(i)->getType()->isIntegerTy()) ||
                      (i == kItem ? shape.kind == Kind::linear && shape.stride == 1 : shape.is_uniform());
    if (!goes) return write_lanes(access);
  }
  Value* step = nullptr;
  if (const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(access.getArgOperand(kBytes)))
    for (const std::uint64_t by : {std::uint64_t{0}, bytes->getZExtValue()})
      if (Value* apart = are_apart(*access.getArgOperand(kAddress)->stripPointerCasts(), by))
        step = b_.CreateSelect(apart, b_.getInt64(by), step == nullptr ? b_.getInt64(kUneven) : step);
  llvm::SmallVector<Value*, 8> arguments;
  for (const Value* argument : access.args()) arguments.push_back(scalar(*argument));
  Value* addresses = wide(*access.getArgOperand(kAddress));
  if (step == nullptr) return write_counted(access, arguments, addresses, b_.getInt64(kUneven));
  // Where one address tells of all, most often the access is made there, and nothing else is to be known.
  Block even = new_block(), each = new_block(), after = new_block();
  b_.CreateCondBr(b_.CreateICmpNE(step, b_.getInt64(kUneven)), even, each);
  b_.SetInsertPoint(even);
  Value* done = call_run_time(kEvenFunction, {arguments[kPlace], arguments[kItem],
                                              b_.CreateExtractElement(addresses, std::uint64_t{0}),
                                              arguments[kBytes], arguments[kBase], step});
  b_.CreateCondBr(done, after, each);
  b_.SetInsertPoint(each);
  write_counted(access, arguments, addresses, step);
  Value *all = as_asked_[&access], *accessed = wide(access);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  const auto either = [&](Value* if_even, Value* if_each) {
    llvm::PHINode* phi = b_.CreatePHI(if_each->getType(), 2);
    phi->addIncoming(if_even, even);
    phi->addIncoming(if_each, each);
    return phi;
  };
  Value* result = either(addresses, accessed);
  as_asked_[&access] = either(b_.getTrue(), all);
  set_wide(access, result);
}

void LaneWriter::write_counted(const llvm::CallInst& access, llvm::SmallVector<Value*, 8> arguments,
                               Value* addresses, Value* step) {
  if (addresses_ == nullptr) addresses_ = variable(wide_type(b_.getPtrTy()));
  b_.CreateStore(addresses, addresses_);
  arguments[kAddress] = addresses_;
  const Value& number = *access.getArgOperand(kNumber);
  arguments[kNumber] = llvm::Constant::getNullValue(b_.getPtrTy());
  if (number.getType()->isIntegerTy()) {
    if (numbers_ == nullptr) numbers_ = variable(wide_type(b_.getInt64Ty()));
    b_.CreateStore(wide(number), numbers_);
    arguments[kNumber] = numbers_;
  }
  arguments.push_back(step);
  as_asked_[&access] = call_run_time(kLanesFunction, arguments);
  set_wide(access, b_.CreateLoad(addresses_->getAllocatedType(), addresses_));
}

void LaneWriter::write_meeting(const llvm::CallInst& call) {
  const LaneShape item = shapes_.of(call.getArgOperand(1));
  if (lanes_ != kCountedLanes || item.kind != Kind::linear || item.stride != 1) return write_lanes(call);
  llvm::Module& module = *function_.getParent();
  b_.CreateCall(module.getOrInsertFunction(kMeetLanesFunction, call.getFunctionType()),
                {call.getArgOperand(0), scalar(*call.getArgOperand(1)), call.getArgOperand(2)});
}

LaneWriter::Value* LaneWriter::call_run_time(llvm::StringRef name, llvm::ArrayRef<Value*> arguments) {
  llvm::SmallVector<llvm::Type*, 8> types;
  for (const Value* argument : arguments) types.push_back(argument->getType());
  llvm::CallInst* call = b_.CreateCall(
      function_.getParent()->getOrInsertFunction(name, llvm::FunctionType::get(b_.getInt1Ty(), types, false)),
      arguments);
  call->addRetAttr(llvm::Attribute::ZExt);
  return call;
}

}  // namespace kiln::cpu
