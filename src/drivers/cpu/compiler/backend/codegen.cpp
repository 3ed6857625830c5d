// SPDX-License-Identifier: MIT
// Runs LLVM's standard pipeline and its code generator for the host's CPU.
#include "drivers/cpu/compiler/backend/codegen.hpp"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include <algorithm>
#include <map>

#include "drivers/cpu/compiler/lanes/lane_loops.hpp"
#include "drivers/cpu/compiler/llvm_version.hpp"
#include "drivers/cpu/compiler/lowering/item_loop.hpp"

namespace kiln::cpu {
namespace {

// Looks at each loop's accesses anew, behind the vectorizer, for values that one turn stores and the next
// loads.
constexpr llvm::StringLiteral kLeftOut = "LoopLoadEliminationPass";

// LLVM's own pipelines, and the analyses that they share.
struct Pipelines {
  explicit Pipelines(llvm::TargetMachine& machine) : builder(&machine, tuning(), {}, &callbacks) {
    callbacks.registerShouldRunOptionalPassCallback(
        [](llvm::StringRef pass, const llvm::Any&) { return pass != kLeftOut; });
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  static llvm::PipelineTuningOptions tuning() {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = tuning.SLPVectorization = true;
    tuning.LoopInterleaving = false;  // makes code larger and slower to compile than it makes it fast
    return tuning;
  }

  llvm::PassInstrumentationCallbacks callbacks;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

// Loops whose number of turns only running tells go round turn by turn, unless the kernel asks: several at
// once, and the rest one by one, made a sparse product slower, and nothing here faster.
struct KeepRolled : llvm::PassInfoMixin<KeepRolled> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
      if (llvm::hasUnrollTransformation(loop) == llvm::TM_Unspecified)
        llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable");
    return llvm::PreservedAnalyses::all();
  }
};

}  // namespace

std::string host_features() {
#if LLVM_VERSION_MAJOR >= 19
  const llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
#else
  llvm::StringMap<bool> found;
  llvm::sys::getHostCPUFeatures(found);
#endif
  std::map<std::string, bool> sorted;
  for (const auto& feature : found) sorted[feature.getKey().str()] = feature.getValue();
  std::string text;
  for (const auto& [name, enabled] : sorted)
    text.append(text.empty() ? "" : ",").append(enabled ? "+" : "-").append(name);
  return text;
}

const HostCpu& host_cpu() {
  static const HostCpu cpu = {llvm::sys::getHostCPUName().str(), host_features()};
  return cpu;
}

void tune_own_process() {
  const auto set = [](const char* name, const char* value) {
    auto& options = llvm::cl::getRegisteredOptions();
    if (const auto found = options.find(name); found != options.end())
      found->second->addOccurrence(0, name, value);
  };
  // Loop strength reduction took a fifth of a compilation; addresses of x86 have room for what it saves.
  if (llvm::Triple(llvm::sys::getProcessTriple()).isX86()) set("disable-lsr", "true");
  // A second vector loop for what the first leaves over took a tenth: groups are most often of whole vectors.
  set("enable-epilogue-vectorization", "false");
}

namespace {

// Where gathers are slow LLVM's vectorizer finds addresses one by one, and with them each id that is compared
// as well. So gathers count as fast there; what it makes of them is taken apart by a code generator whose
// host has slow ones.
std::string features_for(MachineUse use, const llvm::Triple& triple) {
  std::string features = host_cpu().features;
  if (use == MachineUse::optimizer && triple.isX86()) features.append(",+fast-gather");
  return features;
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_target_machine(MachineUse use, bool optimize, std::string& log) {
  static const bool ready = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string message;
#if LLVM_VERSION_MAJOR >= 22
  const llvm::Target* target = ready ? llvm::TargetRegistry::lookupTarget(triple, message) : nullptr;
#else
  const llvm::Target* target = ready ? llvm::TargetRegistry::lookupTarget(triple.str(), message) : nullptr;
#endif
  if (target == nullptr) {
    log.append("error: LLVM has no code generator for this host: ").append(message).append("\n");
    return nullptr;
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
#if LLVM_VERSION_MAJOR >= 21
  const llvm::Triple& machine_triple = triple;
#else
  const std::string machine_triple = triple.str();
#endif
  // Position independent, so that calls to the host's functions go through the loader's stubs at any
  // distance.
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      machine_triple, host_cpu().name, features_for(use, triple), options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, codegen_level(optimize), /*JIT=*/true));
}

void apply_fast_math(llvm::Module& module, const ParsedOptions& options) {
  if (!options.contract && !options.fast_math && !options.finite_math && !options.no_signed_zeros) return;
  llvm::FastMathFlags flags;
  flags.setAllowContract(options.contract);
  flags.setNoSignedZeros(options.no_signed_zeros);
  if (options.finite_math) {
    flags.setNoNaNs();
    flags.setNoInfs();
  }
  if (options.fast_math) {
    flags.setAllowReassoc();
    flags.setAllowReciprocal();
    flags.setApproxFunc();
  }
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (llvm::isa<llvm::FPMathOperator>(instruction)) {
        llvm::FastMathFlags all = instruction.getFastMathFlags();
        all |= flags;
        instruction.setFastMathFlags(all);
      }
}

void simplify(llvm::Function& function, llvm::TargetMachine& machine) {
  Pipelines pipelines(machine);
  // Oz leaves loops with their test in front: with a second one before the loop, write_regions() would write
  // each turn twice, as the first and as one of the others.
  llvm::FunctionPassManager passes = pipelines.builder.buildFunctionSimplificationPipeline(
      llvm::OptimizationLevel::Oz, llvm::ThinOrFullLTOPhase::None);
  passes.run(function, pipelines.functions);
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, const ParsedOptions& options) {
  Pipelines pipelines(machine);
  llvm::ModulePassManager passes;
  if (options.optimize) {
    pipelines.builder.registerVectorizerStartEPCallback(
        [&machine](llvm::FunctionPassManager& functions, llvm::OptimizationLevel) {
          functions.addPass(LaneLoops{{}, machine.getTargetFeatureString().contains("+cx16")});
          functions.addPass(KeepRolled());
        });
    passes = pipelines.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  } else {
    passes = pipelines.builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0);
    // Variables of types that only exist in SPIR-V (events) must not reach the code generator.
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::PromotePass()));
    passes.addPass(llvm::GlobalDCEPass());
  }
  passes.run(module, pipelines.modules);
}

namespace {

constexpr std::uint64_t kMostPrivate = std::uint64_t{1} << 62;  // where a sum that grows without bounds ends

std::uint64_t private_bytes(const llvm::Function& function, Calls calls,
                            llvm::DenseMap<const llvm::Function*, std::uint64_t>& known) {
  if (const auto found = known.find(&function); found != known.end()) return found->second;
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::uint64_t own = 0, called = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
      if (variable->hasMetadata(kOfLanes)) continue;
      const auto size = variable->getAllocationSizeInBits(layout);
      own += size ? size->getKnownMinValue() / 8 + variable->getAlign().value() : 0;
    } else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      const llvm::Function* callee = call->getCalledFunction();
      // No circles: analyse_calls has refused them.
      if (callee == nullptr || callee->isDeclaration()) continue;
      const std::uint64_t bytes = private_bytes(*callee, calls, known);
      called = calls == Calls::inlined ? std::min(called + bytes, kMostPrivate) : std::max(called, bytes);
    }
  }
  return known[&function] = std::min(own + called, kMostPrivate);
}

}  // namespace

std::uint64_t private_bytes(const llvm::Function& function, Calls calls) {
  llvm::DenseMap<const llvm::Function*, std::uint64_t> known;
  return private_bytes(function, calls, known);
}

bool emit_object(llvm::Module& module, llvm::TargetMachine& machine, llvm::SmallVectorImpl<char>& object,
                 std::string& log) {
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kObjectFile, /*DisableVerify=*/true)) {
    log.append("error: LLVM cannot write object code for this host\n");
    return false;
  }
  passes.run(module);
  return true;
}

}  // namespace kiln::cpu
