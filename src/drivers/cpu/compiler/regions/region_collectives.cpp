// SPDX-License-Identifier: MIT
// Finds collectives, and takes from them what each item brings in registers.
#include "drivers/cpu/compiler/regions/region_collectives.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "drivers/cpu/compiler/regions/uniformity.hpp"
#include "drivers/cpu/runtime/collective.hpp"

namespace kiln::cpu {
namespace {

using Operand = CollectiveOperand;

bool is_call_of(const llvm::CallInst& call, llvm::StringRef name) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee != nullptr && callee->getName() == name;
}

bool is_known(const llvm::CallInst& collective) {
  if (!llvm::isa<llvm::ConstantInt>(collective.getArgOperand(Operand::place))) return false;
  return !is_exchange(collective) || (value_of(collective) != nullptr &&
                                      llvm::isa<llvm::ConstantInt>(collective.getArgOperand(Operand::what)) &&
                                      llvm::isa<llvm::Constant>(collective.getArgOperand(Operand::combine)));
}

}  // namespace

bool is_exchange(const llvm::CallInst& collective) { return is_call_of(collective, "kiln_collective"); }

bool is_of_group(const llvm::CallInst& collective) {
  const auto* place = llvm::cast<llvm::ConstantInt>(collective.getArgOperand(Operand::place));
  return (place->getZExtValue() & kGroupPlace) != 0;
}

llvm::AllocaInst* value_of(const llvm::CallInst& exchange) {
  return llvm::dyn_cast<llvm::AllocaInst>(exchange.getArgOperand(Operand::value)->stripPointerCasts());
}

std::optional<std::vector<llvm::CallInst*>> find_collectives(llvm::Function& item_entry) {
  std::vector<llvm::CallInst*> collectives;
  for (llvm::Instruction& instruction : llvm::instructions(item_entry)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call != nullptr && (is_call_of(*call, "kiln_barrier") || is_exchange(*call))) {
      if (!is_known(*call)) return std::nullopt;
      collectives.push_back(call);
    } else if (llvm::is_contained(instruction.operands(), item_entry.getArg(0)) &&
               item_field(instruction) < 0) {
      const auto is_field = [](const llvm::User* user) {
        return item_field(*llvm::cast<llvm::Instruction>(user)) >= 0;
      };
      if (!llvm::isa<llvm::GetElementPtrInst>(instruction) || !llvm::all_of(instruction.users(), is_field))
        return std::nullopt;
    }
  }
  return collectives;
}

LeftParameters leave_parameters(const std::vector<llvm::CallInst*>& collectives) {
  LeftParameters left;
  for (llvm::CallInst* call : collectives) {
    if (!is_exchange(*call) || llvm::isa<llvm::Constant>(call->getArgOperand(Operand::parameter))) continue;
    llvm::BasicBlock& entry = call->getFunction()->getEntryBlock();
    llvm::Value* parameter = call->getArgOperand(Operand::parameter);
    left[call] = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(parameter->getType());
    llvm::IRBuilder<>(call).CreateStore(parameter, left[call]);
    call->setArgOperand(Operand::parameter, llvm::Constant::getNullValue(parameter->getType()));
  }
  return left;
}

void take_back(const LeftParameters& left, const std::vector<llvm::CallInst*>& collectives) {
  for (llvm::CallInst* call : collectives)
    if (const auto found = left.find(call); found != left.end())
      call->setArgOperand(Operand::parameter, llvm::IRBuilder<>(call).CreateLoad(
                                                  found->second->getAllocatedType(), found->second));
}

}  // namespace kiln::cpu
