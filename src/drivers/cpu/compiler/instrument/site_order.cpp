// SPDX-License-Identifier: MIT
// Sorts blocks topologically, with loops in one piece.
#include "drivers/cpu/compiler/instrument/site_order.hpp"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>

#include <algorithm>

namespace kiln::cpu {
namespace {

using Blocks = llvm::SmallVector<llvm::BasicBlock*, 4>;

// What a depth-first search finishes first stands last. So a loop's exits are visited before its body.
Blocks visits(llvm::BasicBlock* block, const llvm::LoopInfo& loops) {
  Blocks out;
  if (loops.isLoopHeader(block)) loops.getLoopFor(block)->getExitBlocks(out);
  Blocks next(llvm::succ_begin(block), llvm::succ_end(block));
  out.append(next.rbegin(), next.rend());
  return out;
}

}  // namespace

std::vector<llvm::BasicBlock*> in_program_order(llvm::Function& function) {
  const llvm::DominatorTree tree(function);
  const llvm::LoopInfo loops(tree);
  struct Step {
    llvm::BasicBlock* block;
    Blocks visits;
    std::size_t next;
  };
  std::vector<llvm::BasicBlock*> order;
  llvm::DenseSet<const llvm::BasicBlock*> seen;
  std::vector<Step> path;
  const auto enter = [&](llvm::BasicBlock* block) {
    if (seen.insert(block).second) path.push_back({block, visits(block, loops), 0});
  };
  enter(&function.getEntryBlock());
  while (!path.empty()) {
    Step& step = path.back();
    if (step.next < step.visits.size()) {
      enter(step.visits[step.next++]);
    } else {
      order.push_back(step.block);
      path.pop_back();
    }
  }
  std::ranges::reverse(order);
  for (llvm::BasicBlock& block : function)
    if (!seen.contains(&block)) order.push_back(&block);  // never reached
  return order;
}

}  // namespace kiln::cpu
