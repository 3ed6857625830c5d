// SPDX-License-Identifier: MIT
// Sorts the values of a kernel by where they live.
#include "drivers/cpu/compiler/regions/region_values.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "drivers/cpu/compiler/regions/item_arrays.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr std::uint64_t kLargestItem = 64 << 10;  // bytes that an item keeps across barriers

}  // namespace

RegionValues::RegionValues(llvm::Function& item_entry, const RegionPlan& plan, const Uniformity& uniformity,
                           bool linear, Togetherness of)
    : entry_(item_entry), layout_(item_entry.getParent()->getDataLayout()), of_(of), linear_(linear) {
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&item_entry))
    for (Instruction& instruction : *block) sort(instruction);
  for (const auto& [block, values] : plan.live) {
    for (Instruction* value : values) {
      llvm::Type* type = value->getType();
      fit_ = fit_ && !type->isTokenTy() && type->isSized();
      if (!fit_ || is_made_anew(*value)) continue;
      if (uniformity.is_uniform(value))
        uniform_.insert(value);
      else if (!has_array(*value))
        reserve(*value, stored_type(type), 1);
    }
  }
  const std::uint64_t before = bytes_;
  for (Instruction& instruction : llvm::instructions(item_entry))
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
      reserve(*variable, variable->getAllocatedType(), variable->getAlign().value());
      // What stands beside an element is that of the next item.
      if (ItemArrays::is_by_element(*variable))
        arrays_[variable].stride =
            layout_.getTypeAllocSize(variable->getAllocatedType()->getArrayElementType()).getFixedValue();
    }
  private_bytes_ = bytes_ - before;
  if (llvm::any_of(plan.regions, [](const Region& region) { return region.exits.size() > 1; }))
    places_ = reserve_bytes(sizeof(std::uint32_t));
  fit_ = fit_ && bytes_ <= kLargestItem;
}

void RegionValues::sort(const llvm::Instruction& value) {
  if (item_field(value) >= 0) {
    knows_rows_ = knows_rows_ || (!linear_ && (item_field(value) == 2 || item_field(value) == 3));
    (is_shared(item_field(value), of_) ? once_ : again_).insert(&value);
    return;
  }
  bool once = true;
  for (const Value* operand : value.operands()) {
    const auto* instruction = llvm::dyn_cast<Instruction>(operand);
    if (operand == entry_.getArg(0) || llvm::isa<llvm::BasicBlock>(operand)) return;
    if (instruction == nullptr || once_.contains(instruction)) continue;
    if (!again_.contains(instruction)) return;
    once = false;
  }
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&value)) {
    if (once && load->isSimple() && is_of_launch(*load)) once_.insert(&value);
  } else if (llvm::isa<llvm::AllocaInst>(value)) {
    again_.insert(&value);
  } else if (!llvm::isa<llvm::PHINode, llvm::FreezeInst>(value) && !value.isTerminator() &&
             !value.mayReadOrWriteMemory() && llvm::isSafeToSpeculativelyExecute(&value)) {
    (once ? once_ : again_).insert(&value);
  }
}

// Arguments, the group, and the launch that it names: there whether the kernel asks for them or not.
bool RegionValues::is_of_launch(const llvm::LoadInst& load) const {
  llvm::APInt offset(64, 0);
  const Value* base = load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, offset, true);
  if (base == entry_.getArg(1)) return llvm::isSafeToSpeculativelyExecute(&load);
  const auto* owner = llvm::dyn_cast<llvm::LoadInst>(base);
  if (owner == nullptr) return false;
  if (item_field(*owner) == 0) return offset.ult(sizeof(GroupState));
  const auto* group =
      llvm::dyn_cast<llvm::LoadInst>(owner->getPointerOperand());  // launch is its first member
  static_assert(offsetof(GroupState, launch) == 0);
  return group != nullptr && item_field(*group) == 0 && offset.ult(sizeof(LaunchState));
}

void RegionValues::reserve(const Instruction& value, llvm::Type* type, std::uint64_t alignment) {
  alignment = std::max(alignment, layout_.getABITypeAlign(type).value());
  arrays_[&value] = reserve_bytes(llvm::alignTo(layout_.getTypeAllocSize(type).getFixedValue(), alignment));
}

RegionValues::Array RegionValues::reserve_bytes(std::uint64_t stride) {
  const Array array{bytes_, stride};
  bytes_ = std::min(bytes_ + stride, kLargestItem + 1);
  return array;
}

}  // namespace kiln::cpu
