// SPDX-License-Identifier: MIT
// Lays out `__local` variables and rewrites their uses, constant expressions included.
#include "drivers/cpu/compiler/lowering/slm.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include <map>

#include "drivers/cpu/compiler/llvm_version.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

constexpr std::uint64_t kSlmAlignment = 128;  // what the executor gives: double16

class Placer {
 public:
  Placer(llvm::Function& entry, llvm::Value* slm) : entry_(entry), slm_(slm) {}

  std::uint64_t place() {
    std::vector<llvm::Instruction*> all;
    for (llvm::Instruction& instruction : llvm::instructions(entry_)) all.push_back(&instruction);
    for (llvm::Instruction* instruction : all) {
      for (unsigned i = 0; i < instruction->getNumOperands(); ++i) {
        auto* constant = llvm::dyn_cast<llvm::Constant>(instruction->getOperand(i));
        if (constant == nullptr || !mentions_slm(constant)) continue;
        if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
          // One value for each incoming block, also when the block is listed twice.
          llvm::Value*& value = incoming_[{constant, phi->getIncomingBlock(i)}];
          if (value == nullptr) value = materialize(constant, phi->getIncomingBlock(i)->getTerminator());
          phi->setOperand(i, value);
        } else {
          instruction->setOperand(i, materialize(constant, instruction));
        }
      }
    }
    return end_;
  }

 private:
  bool mentions_slm(llvm::Constant* constant) {
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant))
      return variable->getAddressSpace() == kLocalSpace;
    if (llvm::isa<llvm::GlobalValue>(constant) || constant->getNumOperands() == 0) return false;
    const auto found = mentions_.find(constant);
    if (found != mentions_.end()) return found->second;
    bool mentions = false;
    for (llvm::Value* operand : constant->operands())
      if (auto* part = llvm::dyn_cast<llvm::Constant>(operand)) mentions = mentions || mentions_slm(part);
    mentions_[constant] = mentions;
    return mentions;
  }

  llvm::Value* materialize(llvm::Constant* constant, llvm::Instruction* where) {
    llvm::IRBuilder<> b(where);
    if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant))
      return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), slm_, offset_of(*variable));
    if (auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant)) {
      llvm::Instruction* instruction = expression->getAsInstruction();
      insert_before(instruction, where);
      for (unsigned i = 0; i < instruction->getNumOperands(); ++i) {
        auto* operand = llvm::dyn_cast<llvm::Constant>(instruction->getOperand(i));
        if (operand != nullptr && mentions_slm(operand))
          instruction->setOperand(i, materialize(operand, instruction));
      }
      return instruction;
    }
    // A vector, array or structure of pointers: built lane by lane.
    llvm::Value* out = llvm::UndefValue::get(constant->getType());
    for (unsigned i = 0; i < constant->getNumOperands(); ++i) {
      auto* part = llvm::cast<llvm::Constant>(constant->getOperand(i));
      llvm::Value* value = mentions_slm(part) ? materialize(part, where) : part;
      b.SetInsertPoint(where);
      out = constant->getType()->isVectorTy() ? b.CreateInsertElement(out, value, i)
                                              : b.CreateInsertValue(out, value, i);
    }
    return out;
  }

  std::uint64_t offset_of(const llvm::GlobalVariable& variable) {
    const auto found = offsets_.find(&variable);
    if (found != offsets_.end()) return found->second;
    const llvm::DataLayout& layout = entry_.getParent()->getDataLayout();
    llvm::Type* type = variable.getValueType();
    std::uint64_t alignment = layout.getABITypeAlign(type).value();
    if (const llvm::MaybeAlign own = variable.getAlign()) alignment = std::max(alignment, own->value());
    alignment = std::min(alignment, kSlmAlignment);
    const std::uint64_t offset = (end_ + alignment - 1) / alignment * alignment;
    end_ = offset + std::min(layout.getTypeAllocSize(type).getFixedValue(), kLargestSlm);
    end_ = std::min(end_, kLargestSlm);
    offsets_[&variable] = offset;
    return offset;
  }

  llvm::Function& entry_;
  llvm::Value* slm_;
  std::uint64_t end_ = 0;
  llvm::DenseMap<const llvm::GlobalVariable*, std::uint64_t> offsets_;
  llvm::DenseMap<llvm::Constant*, bool> mentions_;
  std::map<std::pair<llvm::Constant*, llvm::BasicBlock*>, llvm::Value*> incoming_;
};

}  // namespace

bool place_slm(llvm::Function& entry, llvm::Value* slm, KernelFacts& facts, std::string& log) {
  facts.static_slm = Placer(entry, slm).place();
  if (facts.static_slm >= kLargestSlm) {
    log.append("error: the __local variables of kernel '" + facts.name + "' take more than 1 TiB\n");
    return false;
  }
  return true;
}

void unlock_slm_atomics(llvm::Module& module) {
  std::vector<llvm::AtomicRMWInst*> updates;
  std::vector<llvm::AtomicCmpXchgInst*> exchanges;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
          update != nullptr && update->getPointerAddressSpace() == kLocalSpace)
        updates.push_back(update);
      if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction);
          exchange != nullptr && exchange->getPointerAddressSpace() == kLocalSpace)
        exchanges.push_back(exchange);
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
          store != nullptr && store->isAtomic() && store->getPointerAddressSpace() == kLocalSpace)
        store->setAtomic(llvm::AtomicOrdering::Monotonic);
    }
  for (llvm::AtomicRMWInst* update : updates) llvm::lowerAtomicRMWInst(update);
  for (llvm::AtomicCmpXchgInst* exchange : exchanges) llvm::lowerAtomicCmpXchgInst(exchange);
}

}  // namespace kiln::cpu
