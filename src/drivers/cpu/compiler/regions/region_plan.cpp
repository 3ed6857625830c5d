// SPDX-License-Identifier: MIT
// Chooses the cuts, follows the ways between them, and finds what lives across them.
#include "drivers/cpu/compiler/regions/region_plan.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include <algorithm>

namespace kiln::cpu {
namespace {

using Block = llvm::BasicBlock*;

llvm::BranchInst* choice_of(Block block) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  return branch != nullptr && branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1)
             ? branch
             : nullptr;
}

// Branches that all items take together, of loops and around barriers. So a loop that has the same number of
// turns for all items goes round the loop over the items, which is then the inner one and can be vectorized.
std::vector<llvm::BranchInst*> choose_branches(llvm::Function& function, llvm::SetVector<Block> cuts,
                                               const Uniformity& uniformity) {
  const llvm::DominatorTree tree(function);
  const llvm::LoopInfo loops(tree);
  std::vector<llvm::BranchInst*> chosen;
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock& block : function) {
      llvm::BranchInst* branch = choice_of(&block);
      if (branch == nullptr || cuts.contains(&block) || !tree.isReachableFromEntry(&block) ||
          !uniformity.is_together(&block) || !uniformity.is_uniform(branch->getCondition()))
        continue;
      const llvm::Loop* loop = loops.getLoopFor(&block);
      if ((loop == nullptr || !loop->isLoopExiting(&block)) &&
          std::ranges::none_of(uniformity.between(block),
                               [&](Block between) { return cuts.contains(between); }))
        continue;
      cuts.insert(&block);
      chosen.push_back(branch);
      changed = true;
    }
  }
  return chosen;
}

// A region starts on each edge, in a block without phis.
void start_on_edges(llvm::BranchInst& branch) {
  Block block = branch.getParent();
  for (unsigned i = 0; i < 2; ++i) {
    Block to = branch.getSuccessor(i);
    Block edge = llvm::BasicBlock::Create(branch.getContext(), "edge", block->getParent(), to);
    llvm::IRBuilder<>(edge).CreateBr(to);
    to->replacePhiUsesWith(block, edge);
    branch.setSuccessor(i, edge);
  }
}

Region region_from(Block start, const RegionPlan& plan) {
  Region region{start, {}, {}};
  const auto reach = [&](Block block) {
    if (plan.cuts.count(block) != 0)
      region.exits.insert(block);
    else
      region.blocks.insert(block);
  };
  reach(start);
  for (std::size_t i = 0; i < region.blocks.size(); ++i) {
    Block block = region.blocks[i];
    if (llvm::isa<llvm::ReturnInst>(block->getTerminator())) region.exits.insert(nullptr);
    for (Block next : llvm::successors(block)) reach(next);
  }
  return region;
}

void find_live(llvm::Instruction& value, RegionPlan& plan) {
  llvm::SetVector<Block> open;
  const auto use_in = [&](Block block) {
    if (block != value.getParent()) open.insert(block);
  };
  for (const llvm::Use& use : value.uses()) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
    use_in(phi != nullptr ? phi->getIncomingBlock(use) : user->getParent());
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto found = plan.live.find(open[i]);
    if (found != plan.live.end()) found->second.insert(&value);
    for (Block before : llvm::predecessors(open[i])) use_in(before);
  }
}

}  // namespace

void set_apart(const std::vector<llvm::CallInst*>& barriers) {
  for (llvm::CallInst* barrier : barriers) {
    barrier->getParent()->splitBasicBlock(barrier);
    barrier->getParent()->splitBasicBlock(barrier->getNextNode());
  }
}

RegionPlan plan_regions(llvm::Function& item_entry, const std::vector<llvm::CallInst*>& barriers,
                        const Uniformity& uniformity) {
  RegionPlan plan;
  llvm::SetVector<Block> blocks;
  for (llvm::CallInst* barrier : barriers) {
    plan.cuts[barrier->getParent()] = barrier;
    blocks.insert(barrier->getParent());
  }
  // Where items may come apart before a barrier, they must find out at that barrier, not at a cut before it.
  if (std::ranges::all_of(blocks, [&](Block block) { return uniformity.is_together(block); })) {
    for (llvm::BranchInst* branch : choose_branches(item_entry, blocks, uniformity)) {
      plan.cuts[branch->getParent()->splitBasicBlock(branch)] = nullptr;
      start_on_edges(*branch);
    }
  }
  std::vector<Block> starts = {&item_entry.getEntryBlock()};
  for (llvm::BasicBlock& block : item_entry)
    if (plan.cuts.count(&block) != 0)
      starts.insert(starts.end(), llvm::succ_begin(&block), llvm::succ_end(&block));
  for (const Block start : starts) plan.live[start];
  for (const auto& [cut, barrier] : plan.cuts) plan.live[cut];
  for (const Block start : starts) plan.regions.push_back(region_from(start, plan));
  for (llvm::Instruction& instruction : llvm::instructions(item_entry)) find_live(instruction, plan);
  // What a branch decides by is used in the cut itself.
  for (const auto& [cut, barrier] : plan.cuts)
    if (auto* branch = llvm::cast<llvm::BranchInst>(cut->getTerminator()); branch->isConditional())
      if (auto* condition = llvm::dyn_cast<llvm::Instruction>(branch->getCondition()))
        plan.live[cut].insert(condition);
  return plan;
}

}  // namespace kiln::cpu
