// SPDX-License-Identifier: MIT
// Decides by scalar evolution which addresses are constants apart.
#include "drivers/cpu/compiler/instrument/neighbours.hpp"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Passes/PassBuilder.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace kiln::cpu {
namespace {

struct Member {
  std::int64_t offset;
  Place* place;
};

/// Accesses at constant distances from the first.
struct Run {
  const llvm::SCEV* base;
  std::vector<Member> members;
};

/// Sets the neighbours of members that touch each other.
void close(Run& run) {
  std::ranges::stable_sort(run.members, {}, &Member::offset);
  for (std::size_t begin = 0, end = 0; begin < run.members.size(); begin = end) {
    const std::int64_t first = run.members[begin].offset;
    std::int64_t covered = first;
    for (end = begin; end < run.members.size() && run.members[end].offset == covered; ++end)
      covered += run.members[end].place->bytes;
    for (std::size_t i = begin; i < end && end - begin > 1; ++i) {
      Place& place = *run.members[i].place;
      if (end - begin <= place.neighbours) continue;
      place.neighbours = static_cast<std::uint16_t>(std::min<std::size_t>(end - begin, 0xffff));
      place.neighbour_bytes = static_cast<std::uint32_t>(covered - first);
    }
  }
}

class Finder {
 public:
  Finder(llvm::ScalarEvolution& evolution, KernelPlaces& places) : evolution_(evolution), places_(places) {}

  void visit(llvm::BasicBlock& block) {
    for (llvm::Instruction& instruction : block) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
      if (callee == nullptr || callee->isIntrinsic()) continue;
      if (callee->getName() == kAccessFunction || callee->getName() == kWriteFunction)
        access(*call);
      else if (callee->getName() == kMeetFunction)
        close_all();
    }
    close_all();
  }

 private:
  void access(const llvm::CallInst& call) {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    if (number == nullptr || number->getZExtValue() >= places_.size()) return close_all();
    Place& place = places_[number->getZExtValue()];
    const bool joins = place.bytes != 0 && (place.kind == PlaceKind::read || place.kind == PlaceKind::write);
    if (!joins || place.kind != kind_) close_all();
    if (!joins) return;
    kind_ = place.kind;
    const llvm::SCEV* address = evolution_.getSCEV(call.getArgOperand(3)->stripPointerCasts());
    for (Run& run : runs_) {
      const auto* distance = llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getMinusSCEV(address, run.base));
      if (distance == nullptr) continue;
      const std::int64_t offset = distance->getAPInt().getSExtValue();
      if (std::ranges::find(run.members, offset, &Member::offset) != run.members.end()) {
        close_all();  // the same bytes again: another access, not the same one
        break;
      }
      run.members.push_back({offset, &place});
      return;
    }
    runs_.push_back({address, {{0, &place}}});
  }

  void close_all() {
    for (Run& run : runs_) close(run);
    runs_.clear();
  }

  llvm::ScalarEvolution& evolution_;
  KernelPlaces& places_;
  PlaceKind kind_ = PlaceKind::read;
  std::vector<Run> runs_;
};

}  // namespace

void simplify_and_find_neighbours(llvm::Function& body, llvm::TargetMachine& machine, KernelPlaces& places) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes = builder.buildFunctionSimplificationPipeline(
      llvm::OptimizationLevel::O2, llvm::ThinOrFullLTOPhase::None);
  passes.run(body, functions);
  functions.invalidate(body, llvm::PreservedAnalyses::none());
  Finder finder(functions.getResult<llvm::ScalarEvolutionAnalysis>(body), places);
  for (llvm::BasicBlock& block : body) finder.visit(block);
}

}  // namespace kiln::cpu
