// SPDX-License-Identifier: MIT
// Follows what depends on the work-item through values and control flow.
#include "drivers/cpu/compiler/regions/uniformity.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {

int item_field(const llvm::Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (load == nullptr) return -1;
  const llvm::DataLayout& layout = load->getModule()->getDataLayout();
  llvm::APInt offset(64, 0);
  const llvm::Value* base =
      load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  constexpr std::uint64_t kFieldBytes = 8;
  static_assert(offsetof(ItemState, group) == 0 && offsetof(ItemState, local_id) == kFieldBytes &&
                offsetof(ItemState, lane) == kLaneField * kFieldBytes &&
                offsetof(ItemState, sub_group) == kSubGroupField * kFieldBytes &&
                offsetof(ItemState, first_id) == kFirstIdField * kFieldBytes);
  if (base != load->getFunction()->getArg(0) || offset.uge(sizeof(ItemState)) ||
      offset.getZExtValue() % kFieldBytes != 0 || layout.getTypeStoreSize(load->getType()) != kFieldBytes)
    return -1;
  return static_cast<int>(offset.getZExtValue() / kFieldBytes);
}

Uniformity::Uniformity(llvm::Function& item_entry, Togetherness of, const UniformResults& results)
    : after_(item_entry), of_(of), results_(results) {
  mark(item_entry.getArg(0));
  for (llvm::Instruction& instruction : llvm::instructions(item_entry))
    if (is_source(instruction)) mark(&instruction);
  while (!open_.empty()) {
    const llvm::Value* value = open_.back();
    open_.pop_back();
    for (const llvm::User* user : value->users()) {
      const auto* instruction = llvm::cast<llvm::Instruction>(user);
      if (instruction->isTerminator())
        mark_branch(*const_cast<llvm::BasicBlock*>(instruction->getParent()));
      else if (!is_shared(item_field(*instruction), of_) && !is_known_result(*instruction))
        mark(instruction);
      if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction);
          store != nullptr && store->getValueOperand() == value)
        for (const auto& [load, by] : results_)
          if (by == store->getPointerOperand()) mark(load);
    }
  }
}

bool Uniformity::is_source(const llvm::Instruction& instruction) const {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    if (is_shared(item_field(*load), of_) || is_known_result(*load)) return false;
    const bool constant =
        load->hasMetadata(llvm::LLVMContext::MD_invariant_load) ||
        load->getPointerAddressSpace() == kConstantSpace ||
        llvm::getUnderlyingObject(load->getPointerOperand()) == load->getFunction()->getArg(1);
    return !constant || !load->isSimple();
  }
  // A freeze may choose anew for each item.
  return llvm::isa<llvm::AllocaInst, llvm::FreezeInst>(instruction) || instruction.mayReadOrWriteMemory();
}

bool Uniformity::is_known_result(const llvm::Instruction& instruction) const {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  return load != nullptr && results_.count(load) != 0;
}

void Uniformity::mark(const llvm::Value* value) {
  if (divergent_.insert(value).second) open_.push_back(value);
}

Uniformity::Blocks Uniformity::between(llvm::BasicBlock& block) const {
  const auto* node = after_.getNode(&block);
  const auto* next = node != nullptr ? node->getIDom() : nullptr;
  const llvm::BasicBlock* end = next != nullptr ? next->getBlock() : nullptr;  // null: the end of the kernel
  Blocks blocks;
  const auto add = [&](llvm::BasicBlock& of) {
    for (llvm::BasicBlock* successor : llvm::successors(&of))
      if (successor != end) blocks.insert(successor);
  };
  add(block);
  for (std::size_t i = 0; i < blocks.size(); ++i) add(*blocks[i]);
  return blocks;
}

// Items part here. Where they meet, and in loops that they leave at different turns, phis tell them apart.
void Uniformity::mark_branch(llvm::BasicBlock& block) {
  const auto mark_phis = [&](llvm::BasicBlock& of) {
    for (const llvm::PHINode& phi : of.phis()) mark(&phi);
  };
  for (llvm::BasicBlock* between_them : between(block)) {
    apart_.insert(between_them);
    mark_phis(*between_them);
  }
  const auto* node = after_.getNode(&block);
  const auto* next = node != nullptr ? node->getIDom() : nullptr;
  if (next != nullptr && next->getBlock() != nullptr) mark_phis(*next->getBlock());
}

}  // namespace kiln::cpu
