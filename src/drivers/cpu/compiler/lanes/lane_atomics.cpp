// SPDX-License-Identifier: MIT
// Writes the atomics of lanes on neighbouring places: several at once, with the exchange of 16 bytes that x86
// has.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Module.h>

#include "drivers/cpu/compiler/lanes/deferred_updates.hpp"
#include "drivers/cpu/compiler/lanes/lane_writer.hpp"
#include "drivers/cpu/compiler/llvm_version.hpp"
#include "drivers/cpu/runtime/deferred_additions.hpp"

namespace kiln::cpu {
namespace {

constexpr unsigned kExchanged = 16;  // bytes, and their alignment

/// What is stored, element by element.
llvm::Value* updated(llvm::IRBuilder<>& b, llvm::AtomicRMWInst::BinOp operation, llvm::Value* before,
                     llvm::Value* operand) {
  const auto chosen = [&](llvm::Intrinsic::ID id) { return b.CreateBinaryIntrinsic(id, before, operand); };
  switch (operation) {
    case llvm::AtomicRMWInst::Add:
      return b.CreateAdd(before, operand);
    case llvm::AtomicRMWInst::Sub:
      return b.CreateSub(before, operand);
    case llvm::AtomicRMWInst::And:
      return b.CreateAnd(before, operand);
    case llvm::AtomicRMWInst::Or:
      return b.CreateOr(before, operand);
    case llvm::AtomicRMWInst::Xor:
      return b.CreateXor(before, operand);
    case llvm::AtomicRMWInst::Max:
      return chosen(llvm::Intrinsic::smax);
    case llvm::AtomicRMWInst::Min:
      return chosen(llvm::Intrinsic::smin);
    case llvm::AtomicRMWInst::UMax:
      return chosen(llvm::Intrinsic::umax);
    case llvm::AtomicRMWInst::UMin:
      return chosen(llvm::Intrinsic::umin);
    default:
      llvm_unreachable("see can_exchange()");
  }
}

/// Updates the 16 bytes at `address`; gives what was there, as a vector of the operand's type.
llvm::Value* exchange(llvm::IRBuilder<>& b, llvm::AtomicRMWInst::BinOp operation, llvm::Value* address,
                      llvm::Value* operand) {
  constexpr auto kOrder = llvm::AtomicOrdering::SequentiallyConsistent;
  llvm::Type* bits = b.getIntNTy(kExchanged * 8);
  llvm::Function& function = *b.GetInsertBlock()->getParent();
  const auto half = [&](std::uint64_t at) {
    llvm::LoadInst* load = b.CreateAlignedLoad(
        b.getInt64Ty(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), address, at), llvm::Align(8));
    load->setAtomic(llvm::AtomicOrdering::Monotonic);
    return b.CreateZExt(load, bits);
  };
  // Of two different times, perhaps: then nothing is exchanged.
  llvm::Value* guess = b.CreateOr(half(0), b.CreateShl(half(kExchanged / 2), kExchanged * 4));
  llvm::BasicBlock* before = b.GetInsertBlock();
  auto* again = llvm::BasicBlock::Create(b.getContext(), "lanes", &function);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "lanes", &function);
  b.CreateBr(again);
  b.SetInsertPoint(again);
  llvm::PHINode* expected = b.CreatePHI(bits, 2);
  expected->addIncoming(guess, before);
  llvm::Value* old = b.CreateBitCast(expected, operand->getType());
  llvm::Value* pair =
      b.CreateAtomicCmpXchg(address, expected, b.CreateBitCast(updated(b, operation, old, operand), bits),
                            llvm::Align(kExchanged), kOrder, kOrder);
  expected->addIncoming(b.CreateExtractValue(pair, 0), again);
  b.CreateCondBr(b.CreateExtractValue(pair, 1), after, again);
  b.SetInsertPoint(after);
  return old;
}

bool can_exchange(const llvm::AtomicRMWInst& update) {
  const llvm::Type* type = update.getType();
  return !update.isVolatile() && (type->isIntegerTy(32) || type->isIntegerTy(64)) &&
         update.getOperation() != llvm::AtomicRMWInst::Xchg &&
         update.getOperation() != llvm::AtomicRMWInst::Nand;
}

}  // namespace

/// Whether the run time adds them, see deferred_updates.hpp.
LaneWriter::Value* LaneWriter::add_deferred(Value* first, Value* operands) {
  // Who runs the group writes down what it adds.
  llvm::Argument& group = *function_.getArg(0);
  group.removeAttr(llvm::Attribute::ReadOnly);
  group.removeAttr(kNoCapture);
  llvm::AllocaInst* values = variable(operands->getType());
  b_.CreateStore(operands, values);
  return call_run_time("kiln_add_deferred", {&group, b_.CreateAddrSpaceCast(first, b_.getPtrTy()), values});
}

// Each place changes atomically, as with an exchange of its own.
void LaneWriter::write_update(const llvm::AtomicRMWInst& update) {
  const Value &address = *update.getPointerOperand(), &operand = *update.getValOperand();
  const std::uint64_t size = layout_.getTypeStoreSize(update.getType()).getFixedValue();
  const LaneShape shape = shapes_.of(asked_about(address).first);
  Value* neighbours = exchanges_16_ && can_exchange(update) && !(shape.has_first() && shape.stride != size)
                          ? are_apart(address, size)
                          : nullptr;
  if (neighbours == nullptr) return write_lanes(update);
  Block together = new_block(), each = new_block(), after = new_block();
  Value* first = in_lane(b_, address, 0);
  Value* offset = b_.CreateAnd(b_.CreatePtrToInt(first, b_.getInt64Ty()), kExchanged - 1);
  b_.CreateCondBr(b_.CreateAnd(neighbours, b_.CreateICmpEQ(offset, b_.getInt64(0))), together, each);
  b_.SetInsertPoint(each);
  write_lanes(update);
  Value* from_each = wide(update);
  b_.CreateBr(after);

  b_.SetInsertPoint(together);
  const auto at_once = static_cast<unsigned>(kExchanged / size);
  Value* operands = wide(operand);
  const bool deferred = is_deferred(update) && lanes_ == DeferredAdditions::kWords;
  if (deferred) {
    Block now = new_block();
    b_.CreateCondBr(add_deferred(first, operands), after, now);
    b_.SetInsertPoint(now);
  }
  llvm::SmallVector<Value*, 8> parts;
  for (unsigned lane = 0; lane < lanes_; lane += at_once) {
    llvm::SmallVector<int, 8> elements;
    for (unsigned i = 0; i < at_once; ++i) elements.push_back(static_cast<int>(lane + i));
    parts.push_back(exchange(b_, update.getOperation(),
                             b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), first, lane * size),
                             b_.CreateShuffleVector(operands, elements)));
  }
  Value* from_together = llvm::concatenateVectors(b_, parts);
  Block end = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  if (deferred) return set_wide(update, llvm::PoisonValue::get(from_each->getType()));  // nobody asks
  llvm::PHINode* out = b_.CreatePHI(from_each->getType(), 2);
  out->addIncoming(from_each, each);
  out->addIncoming(from_together, end);
  set_wide(update, out);
}

}  // namespace kiln::cpu
