// SPDX-License-Identifier: MIT
// Call graph facts and inlining for kernels.
#include "drivers/cpu/compiler/lowering/kernel_inline.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>

#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

// Instructions of one kernel with everything inlined; real kernels stay far below, and it bounds time and
// memory for modules made to explode (each function calling the next one twice).
constexpr std::uint64_t kLargestKernel = 500'000;

using Callees = llvm::DenseMap<const llvm::Function*, llvm::SmallVector<const llvm::Function*, 8>>;

Callees direct_callees(llvm::Module& module) {
  Callees callees;
  for (llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (const llvm::Function* callee = call->getCalledFunction()) callees[&function].push_back(callee);
  return callees;
}

// Functions in an order in which callees come first; empty when there is a circle, whose function is
// `culprit`.
std::vector<const llvm::Function*> bottom_up(llvm::Module& module, const Callees& callees,
                                             const llvm::Function*& culprit) {
  enum class Mark : std::uint8_t { none, open, done };
  llvm::DenseMap<const llvm::Function*, Mark> marks;
  std::vector<const llvm::Function*> order;
  std::vector<std::pair<const llvm::Function*, std::size_t>> path;  // function, next callee
  for (const llvm::Function& root : module) {
    if (marks[&root] != Mark::none) continue;
    marks[&root] = Mark::open;
    path.emplace_back(&root, 0);
    while (!path.empty()) {
      auto& [function, next] = path.back();
      const auto found = callees.find(function);
      if (found == callees.end() || next == found->second.size()) {
        marks[function] = Mark::done;
        order.push_back(function);
        path.pop_back();
        continue;
      }
      const llvm::Function* callee = found->second[next++];
      if (marks[callee] == Mark::open) {
        culprit = callee;
        return {};
      }
      if (marks[callee] == Mark::none) {
        marks[callee] = Mark::open;
        path.emplace_back(callee, 0);
      }
    }
  }
  return order;
}

void collect_users(const llvm::Value& value, llvm::DenseSet<const llvm::Function*>& functions,
                   llvm::DenseSet<const llvm::Value*>& seen) {
  for (const llvm::User* user : value.users()) {
    if (!seen.insert(user).second) continue;
    if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user))
      functions.insert(instruction->getFunction());
    else
      collect_users(*user, functions, seen);
  }
}

}  // namespace

bool analyse_calls(llvm::Module& module, CallFacts& facts, std::string& log) {
  const Callees callees = direct_callees(module);
  const llvm::Function* culprit = nullptr;
  const auto order = bottom_up(module, callees, culprit);
  if (culprit != nullptr) {
    log.append("error: function '").append(culprit->getName().str()).append("' calls itself\n");
    return false;
  }
  llvm::DenseSet<const llvm::Value*> seen;
  for (const llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == kLocalSpace) collect_users(variable, facts.item_dependent, seen);
  for (const llvm::Function* function : order) {
    const auto item = work_item_of(*function);
    if (item) facts.item_dependent.insert(function);
    if (item == WorkItem::collective) facts.with_collective.insert(function);
    std::uint64_t size = function->getInstructionCount();
    if (const auto found = callees.find(function); found != callees.end())
      for (const llvm::Function* callee : found->second) {
        if (facts.item_dependent.contains(callee)) facts.item_dependent.insert(function);
        if (facts.with_collective.contains(callee)) facts.with_collective.insert(function);
        if (!callee->isDeclaration() && facts.item_dependent.contains(callee))
          size = std::min(kLargestKernel + 1, size + facts.inlined_sizes.lookup(callee));
      }
    facts.inlined_sizes[function] = size;
  }
  return true;
}

bool inline_body(llvm::Function& entry, llvm::Function& body, const CallFacts& facts, std::string& log) {
  if (facts.inlined_sizes.lookup(&body) > kLargestKernel) {
    log.append("error: kernel '")
        .append(body.getName().str())
        .append("' grows too large when its functions are inlined\n");
    return false;
  }
  const auto wanted = [&](const llvm::CallInst& call) {
    const llvm::Function* callee = call.getCalledFunction();
    return callee != nullptr && !callee->isDeclaration() &&
           (callee == &body || facts.item_dependent.contains(callee));
  };
  for (bool changed = true; changed;) {
    changed = false;
    llvm::SmallVector<llvm::CallInst*, 16> calls;
    for (llvm::Instruction& instruction : llvm::instructions(entry))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (wanted(*call)) calls.push_back(call);
    for (llvm::CallInst* call : calls) {
      llvm::InlineFunctionInfo info;
      if (!llvm::InlineFunction(*call, info).isSuccess()) {
        log.append("error: a function of kernel '")
            .append(body.getName().str())
            .append("' cannot be inlined\n");
        return false;
      }
      changed = true;
    }
  }
  return true;
}

}  // namespace kiln::cpu
