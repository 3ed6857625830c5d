// SPDX-License-Identifier: MIT
// Follows both ids through sums until each has the other in it.
#include "drivers/cpu/compiler/lowering/linear_ids.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "drivers/cpu/compiler/regions/uniformity.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

enum ItemField : int { kGroup, kFirstId, kSecondId, kThirdId };

const llvm::LoadInst* loaded_at(const Value* value, std::uint64_t offset) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  if (load == nullptr) return nullptr;
  llvm::APInt found(64, 0);
  const Value* base = load->getPointerOperand()->stripAndAccumulateConstantOffsets(
      load->getModule()->getDataLayout(), found, /*AllowNonInbounds=*/true);
  return found == offset ? llvm::dyn_cast<llvm::LoadInst>(base) : nullptr;
}

/// Whether it is the group's size in the first dimension, or the low half of it.
bool is_first_size(const Value* value) {
  if (const auto* half = llvm::dyn_cast<llvm::TruncInst>(value)) value = half->getOperand(0);
  const llvm::LoadInst* launch = loaded_at(value, offsetof(LaunchState, local_size));
  const llvm::LoadInst* group = launch != nullptr ? loaded_at(launch, offsetof(GroupState, launch)) : nullptr;
  return group != nullptr && item_field(*group) == kGroup;
}

/// How often a sum has the first id in it, and the second times the size.
struct Terms {
  std::uint64_t first = 0, second = 0;
};

class LinearIdFinder {
 public:
  LinearIds find(llvm::Function& function) {
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function))
      for (const Instruction& value : *block)
        if (!follow(value)) return {};
    // Those of loops were met before what the turn before gives them.
    for (const llvm::BasicBlock& block : function)
      for (const llvm::PHINode& phi : block.phis())
        if (llvm::any_of(phi.incoming_values(), [&](const Value* value) {
              return terms_.count(value) != 0 || seconds_.contains(value);
            }))
          return {};
    out_.well = any_;
    return std::move(out_);
  }

 private:
  bool follow(const Instruction& value) {
    const int field = item_field(value);
    if (field == kThirdId) return false;
    if (field == kFirstId) terms_[&value] = {1, 0};
    if (field == kSecondId) any_ = seconds_.insert(&value).second || any_;
    if (field >= 0) return true;
    const auto is_second = [&](const Value* operand) { return seconds_.contains(operand); };
    if (llvm::any_of(value.operands(), is_second)) {
      if (llvm::isa<llvm::TruncInst>(value)) return seconds_.insert(&value).second;
      if (value.getOpcode() != Instruction::Mul) return false;
      const Value* other = value.getOperand(is_second(value.getOperand(0)) ? 1 : 0);
      if (!is_first_size(other)) return false;
      terms_[&value] = {0, 1};
      return true;
    }
    const auto is_part = [&](const Value* operand) { return terms_.count(operand) != 0; };
    if (llvm::none_of(value.operands(), is_part)) return true;
    const unsigned code = value.getOpcode();
    if (code != Instruction::Add && code != Instruction::Sub && code != Instruction::Trunc) return false;
    Terms terms = terms_.lookup(value.getOperand(0));
    if (code != Instruction::Trunc) {
      const Terms other = terms_.lookup(value.getOperand(1));
      const std::uint64_t sign = code == Instruction::Sub ? ~std::uint64_t{0} : 1;
      terms = {terms.first + sign * other.first, terms.second + sign * other.second};
    }
    out_.parts.insert(&value);
    if (terms.first != terms.second) terms_[&value] = terms;
    return true;
  }

  LinearIds out_;
  bool any_ = false;
  llvm::DenseMap<const Value*, Terms> terms_;  // of those that have one more often than the other
  llvm::DenseSet<const Value*> seconds_;       // the second id itself, and its low half
};

}  // namespace

LinearIds find_linear_ids(llvm::Function& item_entry) { return LinearIdFinder().find(item_entry); }

}  // namespace kiln::cpu
