// SPDX-License-Identifier: MIT
// Chooses the loops over work-items that go round by lanes, and puts the new loop before the old.
#include "drivers/cpu/compiler/lanes/lane_loops.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "drivers/cpu/compiler/lanes/deferred_updates.hpp"
#include "drivers/cpu/compiler/lanes/lane_quotients.hpp"
#include "drivers/cpu/compiler/lanes/lane_writer.hpp"
#include "drivers/cpu/compiler/lowering/item_loop.hpp"
#include "drivers/cpu/counting/recorder.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

constexpr unsigned kLanes = 16;  // two registers of AVX2 for 32 bits, whose sums wait for each other less
static_assert(kLanes == kCountedLanes);
constexpr std::size_t kLargestBody = 600, kMostCopied = 600;  // instructions, all and that lanes may do alone
constexpr std::size_t kLargestCounted = 6000;                 // the same when accesses are counted

bool is_item_loop(llvm::MDNode* id) {
  return id != nullptr && llvm::findOptionMDForLoopID(id, kItemLoop) != nullptr;
}

/// Whether items may make this access in any order, by what the loop promises.
bool promises(llvm::MDNode* id, const llvm::Instruction& instruction) {
  const llvm::MDNode* groups = llvm::findOptionMDForLoopID(id, kParallelAccesses);
  const llvm::MDNode* own = instruction.getMetadata(llvm::LLVMContext::MD_access_group);
  if (groups == nullptr || own == nullptr) return false;
  const auto promised = [&](const llvm::Metadata* group) {
    return llvm::is_contained(groups->operands(), group);
  };
  if (own->getNumOperands() == 0) return promised(own);
  return llvm::any_of(own->operands(), promised);
}

/// What each item keeps for itself, see region_values.hpp.
bool is_of_item(const llvm::Instruction& instruction) {
  const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
  if (address == nullptr) return false;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(llvm::getUnderlyingObject(address, 0));
  const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  return callee != nullptr && callee->getName() == "kiln_item_memory";
}

/// What is left of the loop after its vectors is like any other.
void forget_items(llvm::Instruction& latch, llvm::MDNode* id) {
  llvm::SmallVector<llvm::Metadata*, 4> parts = {nullptr};
  for (const llvm::MDOperand& part : llvm::drop_begin(id->operands()))
    if (part.get() != llvm::findOptionMDForLoopID(id, kItemLoop)) parts.push_back(part.get());
  llvm::MDNode* loop = llvm::MDNode::getDistinct(latch.getContext(), parts);
  loop->replaceOperandWith(0, loop);
  latch.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

struct ItemLoop {
  llvm::Loop* loop = nullptr;
  llvm::PHINode* item = nullptr;
  llvm::Value* count = nullptr;  // of items, at least 1
};

/// Nothing when it no longer looks as it was made.
std::optional<ItemLoop> item_loop_of(llvm::Loop& loop) {
  if (!is_item_loop(loop.getLoopID())) return std::nullopt;
  llvm::BasicBlock *latch = loop.getLoopLatch(), *header = loop.getHeader();
  if (latch == nullptr || loop.getExitingBlock() != latch || loop.getLoopPreheader() == nullptr ||
      loop.getExitBlock() == nullptr)
    return std::nullopt;
  auto phis = header->phis();
  if (phis.begin() == phis.end() || std::next(phis.begin()) != phis.end()) return std::nullopt;
  llvm::PHINode& item = *phis.begin();
  const auto* next = llvm::dyn_cast<llvm::BinaryOperator>(item.getIncomingValueForBlock(latch));
  const auto* start =
      llvm::dyn_cast<llvm::ConstantInt>(item.getIncomingValueForBlock(loop.getLoopPreheader()));
  if (next == nullptr || next->getOpcode() != llvm::Instruction::Add || next->getOperand(0) != &item ||
      start == nullptr || !start->isZero() || !item.getType()->isIntegerTy(64))
    return std::nullopt;
  const auto* one = llvm::dyn_cast<llvm::ConstantInt>(next->getOperand(1));
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
  const auto* compare = branch != nullptr && branch->isConditional()
                            ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                            : nullptr;
  if (one == nullptr || !one->isOne() || compare == nullptr || compare->getOperand(0) != next ||
      !loop.isLoopInvariant(compare->getOperand(1)))
    return std::nullopt;
  const auto predicate =
      branch->getSuccessor(0) == header ? compare->getPredicate() : compare->getInversePredicate();
  if (predicate != llvm::ICmpInst::ICMP_ULT && predicate != llvm::ICmpInst::ICMP_NE) return std::nullopt;
  return ItemLoop{&loop, &item, compare->getOperand(1)};
}

// All items go round together, or nearly: as often as a number says that all have, or that rises from one to
// the next.
bool goes_round_together(const llvm::Loop& loop, const LaneShapes& shapes) {
  llvm::SmallVector<llvm::BasicBlock*, 4> ends;
  loop.getExitingBlocks(ends);
  return llvm::all_of(ends, [&](const llvm::BasicBlock* block) {
    if (shapes.parting(block) == nullptr) return true;
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    const auto* compare =
        branch != nullptr ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
    return compare != nullptr && shapes.of(compare->getOperand(0)).has_first() &&
           shapes.of(compare->getOperand(1)).has_first();
  });
}

/// Whether vectors have something to gain: an access within an inner loop that neighbours may make as one.
bool pays(const llvm::Loop& items, const LaneShapes& shapes, const llvm::DataLayout& layout) {
  bool any = false, dense = false;
  for (const llvm::Loop* loop : items.getSubLoops())
    for (const llvm::BasicBlock* block : loop->blocks())
      for (const llvm::Instruction& instruction : *block)
        if (const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction)) {
          const LaneShape shape = shapes.of(address);
          any = true;
          dense = dense || shape.is_uniform() || shape.kind == LaneShape::Kind::varying ||
                  shape.stride == layout.getTypeStoreSize(
                                      llvm::getLoadStoreType(const_cast<llvm::Instruction*>(&instruction)));
        }
  return !any || dense;
}

/// Whether an id of 32 bits that might wrap, for all that LLVM knows, is part of an address: its vectorizer
/// would look for each item's place on its own. What is known behind a branch alone is not known of all
/// items.
bool may_wrap(llvm::Loop& loop, llvm::ScalarEvolution& numbers) {
  const auto is_address = [](const llvm::User* user) { return llvm::isa<llvm::GetElementPtrInst>(user); };
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& value : *block) {
      if (!llvm::isa<llvm::ZExtInst, llvm::SExtInst>(value) || !llvm::any_of(value.users(), is_address))
        continue;
      const unsigned made = llvm::Operator::getOpcode(value.getOperand(0));
      if ((made == llvm::Instruction::Add || made == llvm::Instruction::Sub) &&
          !llvm::isa<llvm::SCEVAddRecExpr>(numbers.getSCEV(&value)))
        return true;
    }
  return false;
}

/// Whether it is part of addresses of SLM alone.
bool is_place_in_slm(const llvm::Value& value) {
  return llvm::all_of(value.users(), [](const llvm::User* user) {
    const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
    return address != nullptr && address->getPointerAddressSpace() == kLocalSpace;
  });
}

/// A place in SLM is found in 64 bits where it is a difference of 32 that a branch says is not below 0, as in
/// `i >= step ? tile[i - step] : 0`: LLVM's vectorizer then knows that neighbours stay neighbours, and loads
/// with a mask. Before SLM a page can be read; elsewhere what the mask leaves out may be where no page is,
/// which costs more than going through it by lanes. True when there was one.
bool widen_differences(llvm::Loop& loop) {
  struct Difference {
    llvm::ZExtInst* wide;
    llvm::Value *from, *less;
  };
  llvm::SmallVector<Difference, 4> found;
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& value : *block) {
      auto* wide = llvm::dyn_cast<llvm::ZExtInst>(&value);
      const auto* narrow =
          wide != nullptr ? llvm::dyn_cast<llvm::BinaryOperator>(wide->getOperand(0)) : nullptr;
      if (narrow == nullptr || !wide->getType()->isIntegerTy(64) || !narrow->getType()->isIntegerTy(32) ||
          !is_place_in_slm(*wide))
        continue;
      llvm::Value *from = narrow->getOperand(0), *less = narrow->getOperand(1);
      if (narrow->getOpcode() == llvm::Instruction::Add && llvm::isa<llvm::ConstantInt>(less))
        less = llvm::ConstantInt::get(less->getType(), -llvm::cast<llvm::ConstantInt>(less)->getValue());
      else if (narrow->getOpcode() != llvm::Instruction::Sub)
        continue;
      const auto holds = llvm::isImpliedByDomCondition(llvm::ICmpInst::ICMP_UGE, from, less, wide,
                                                       wide->getModule()->getDataLayout());
      if (holds && *holds) found.push_back({wide, from, less});
    }
  for (const Difference& each : found) {
    llvm::IRBuilder<> b(each.wide);
    llvm::Type* number = each.wide->getType();
    each.wide->replaceAllUsesWith(
        b.CreateSub(b.CreateZExt(each.from, number), b.CreateZExt(each.less, number), "", true, true));
    each.wide->eraseFromParent();
  }
  return !found.empty();
}

/// Whether items divide by what all of them have: LLVM's vectorizer would divide one after the other, where
/// lanes have a form for vectors.
bool divides(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(), [&](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [&](const llvm::Instruction& value) {
      return (value.getOpcode() == llvm::Instruction::UDiv || value.getOpcode() == llvm::Instruction::URem) &&
             value.getType()->isIntegerTy(32) && !llvm::isa<llvm::Constant>(value.getOperand(1)) &&
             loop.isLoopInvariant(value.getOperand(1));
    });
  });
}

/// Whether one item of so many does what the others do not, such as the first of each sub-group: LLVM's
/// vectorizer would have all of them do it with a mask, where lanes pass by.
bool has_rare_branch(const llvm::Loop& loop) {
  constexpr std::uint64_t kRare = 8;  // items
  return llvm::any_of(loop.blocks(), [&](const llvm::BasicBlock* block) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    const auto* compare = branch != nullptr && branch->isConditional() && block != loop.getLoopLatch()
                              ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                              : nullptr;
    if (compare == nullptr || !compare->isEquality() || !llvm::isa<llvm::ConstantInt>(compare->getOperand(1)))
      return false;
    const auto* part = llvm::dyn_cast<llvm::Instruction>(compare->getOperand(0));
    if (part == nullptr || part->getOpcode() != llvm::Instruction::And || loop.isLoopInvariant(part))
      return false;
    const auto* mask = llvm::dyn_cast<llvm::ConstantInt>(part->getOperand(1));
    return mask != nullptr && mask->getValue().isMask() && mask->getValue().uge(kRare - 1);
  });
}

/// Whether items store behind a branch: LLVM's vectorizer would store with a mask, which takes processors
/// without AVX-512 longer than one after the other.
bool guards_stores(const llvm::Loop& loop, const llvm::DominatorTree& tree) {
  return llvm::any_of(loop.blocks(), [&](const llvm::BasicBlock* block) {
    return !tree.dominates(block, loop.getLoopLatch()) &&
           llvm::any_of(*block,
                        [](const llvm::Instruction& value) { return llvm::isa<llvm::StoreInst>(value); });
  });
}

enum class Outcome : std::uint8_t { left, asked, written };

struct How {
  bool may_ask;        ///< lanes may have a question about their quotients first
  bool if_they_agree;  ///< only where the ends tell whether lanes agree
  bool exchanges_16;
};

Outcome write_lanes(const ItemLoop& items, How how, llvm::Function& function, llvm::LoopInfo& loops,
                    llvm::DominatorTree& tree, const llvm::PostDominatorTree& after,
                    llvm::ScalarEvolution& numbers) {
  llvm::Loop& loop = *items.loop;
  llvm::BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch(), *exit = loop.getExitBlock(),
                   *before = loop.getLoopPreheader();
  llvm::LoopBlocksRPO order(&loop);
  order.perform(&loops);
  LaneShapes::Blocks blocks;
  std::size_t size = 0;
  bool counts = false;
  for (llvm::BasicBlock* block : order) {
    blocks.insert(block);
    size += block->size();
    counts = counts || llvm::any_of(*block, LaneWriter::is_counting);
  }
  // What is counted calls the recorder for each access: to have one call for all lanes always pays.
  if (size > (counts ? kLargestCounted : kLargestBody)) return Outcome::left;
  llvm::DenseMap<const llvm::Value*, LaneShape> seeds;
  seeds[items.item] = {LaneShape::Kind::linear, 1};
  const LaneShapes shapes(blocks, seeds, after, latch, &numbers, &loop);
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  const auto independent = [&](const llvm::Instruction& instruction) {
    return instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load) || is_of_item(instruction) ||
           llvm::isa<llvm::AtomicRMWInst>(instruction) || promises(loop.getLoopID(), instruction);
  };
  if (!LaneWriter::can_write(shapes, counts ? kLargestCounted : kMostCopied, independent))
    return Outcome::left;
  if (!counts && !pays(loop, shapes, layout)) return Outcome::left;
  if (how.if_they_agree && !LaneWriter::agrees_by_ends(shapes)) return Outcome::left;
  for (const llvm::Loop* inner : loop.getLoopsInPreorder())
    if (!counts && inner != &loop && !goes_round_together(*inner, shapes)) return Outcome::left;

  if (how.may_ask &&
      ask_for_one_quotient(function, loop, shapes, loops, (counts ? kLargestCounted : kLargestBody) - size))
    return Outcome::asked;

  llvm::IRBuilder<> b(before->getTerminator());
  const auto block = [&] {
    return llvm::BasicBlock::Create(function.getContext(), "lanes", &function, header);
  };
  llvm::BasicBlock *start = block(), *head = block(), *done = block();
  llvm::Value* rest = b.CreateAnd(items.count, b.getInt64(kLanes - 1));
  llvm::Value* whole = b.CreateSub(items.count, rest, "", true, true);
  // The recorder wants sub-groups one after another: lanes must not be of two.
  if (counts) whole = b.CreateSelect(b.CreateICmpEQ(rest, b.getInt64(0)), items.count, b.getInt64(0));
  b.CreateCondBr(b.CreateICmpEQ(whole, b.getInt64(0)), header, start);
  before->getTerminator()->eraseFromParent();
  b.SetInsertPoint(start);
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode* first = b.CreatePHI(b.getInt64Ty(), 2);
  first->addIncoming(b.getInt64(0), start);
  LaneWriter writer(function, shapes, tree, kLanes, *start, how.exchanges_16);
  writer.seed(*items.item, first);
  writer.write();
  b.SetInsertPoint(head);
  b.CreateBr(writer.begin_of(*header));
  b.SetInsertPoint(writer.end_of(*latch));
  llvm::Value* next = b.CreateAdd(first, b.getInt64(kLanes), "", true, true);
  first->addIncoming(next, b.GetInsertBlock());
  describe_loop(*b.CreateCondBr(b.CreateICmpULT(next, whole), head, done));
  b.SetInsertPoint(done);
  for (llvm::PHINode& phi : exit->phis())
    if (const int from = phi.getBasicBlockIndex(latch); from >= 0)
      phi.addIncoming(writer.in_lane(b, *phi.getIncomingValue(static_cast<unsigned>(from)), kLanes - 1),
                      done);
  b.CreateCondBr(b.CreateICmpEQ(whole, items.count), exit, header);
  items.item->addIncoming(whole, done);
  writer.end();
  return Outcome::written;
}

}  // namespace

llvm::PreservedAnalyses LaneLoops::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (function.hasFnAttribute(kNoLanes)) return llvm::PreservedAnalyses::all();
  // Private variables in memory are one for all items of such a loop.
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (llvm::isa<llvm::AllocaInst>(instruction)) return llvm::PreservedAnalyses::all();
  find_deferred_updates(function);
  const bool counted = llvm::any_of(llvm::instructions(function), LaneWriter::is_counting);
  bool any = false;
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost() && is_item_loop(loop->getLoopID()) && widen_differences(*loop)) any = true;
  if (any) analyses.invalidate(function, llvm::PreservedAnalyses::none());
  llvm::DenseSet<const llvm::BasicBlock*> asked, unasked;  // headers of loops
  for (bool again = true; again;) {
    again = false;
    auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
    auto& tree = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (!is_item_loop(loop->getLoopID())) continue;
      auto& numbers = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
      const bool best = !loop->isInnermost() || counted || divides(*loop) || has_rare_branch(*loop) ||
                        may_wrap(*loop, numbers);
      if (!best && !guards_stores(*loop, tree)) continue;
      llvm::formLCSSARecursively(*loop, tree, &loops, &numbers);
      const auto items = item_loop_of(*loop);
      if (!items) continue;
      const auto& after = analyses.getResult<llvm::PostDominatorTreeAnalysis>(function);
      llvm::Instruction& latch = *loop->getLoopLatch()->getTerminator();
      llvm::MDNode* id = loop->getLoopID();
      llvm::BasicBlock* header = loop->getHeader();
      const bool may_ask = !asked.contains(header) && !unasked.contains(header);
      const Outcome outcome =
          write_lanes(*items, {may_ask, !best, exchanges_16}, function, loops, tree, after, numbers);
      if (outcome == Outcome::left && !asked.contains(header)) continue;
      if (outcome == Outcome::asked) {
        asked.insert(header);
      } else if (outcome == Outcome::written) {
        forget_items(latch, id);
        unasked.insert(header);
        asked.erase(header);
      } else {
        forget_quotients(function);
        unasked.insert(header);
        asked.erase(header);
      }
      any = again = true;
      analyses.invalidate(function, llvm::PreservedAnalyses::none());
      break;
    }
  }
  forget_quotients(function);
  // Code that is not valid may well be generated, and give wrong answers.
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (any && llvm::verifyFunction(function, &stream))
    llvm::report_fatal_error(llvm::Twine("code for lanes of work-items is not valid: ").concat(stream.str()));
  return any ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace kiln::cpu
