// SPDX-License-Identifier: MIT
// Finds the SPIR-V instruction behind each one of LLVM: both stand in the same order.
#include "drivers/cpu/compiler/lowering/site_tags.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Metadata.h>

#include <string_view>

#include "drivers/cpu/compiler/instrument/instrument.hpp"

namespace kiln::cpu {
namespace {

constexpr const char* kTag = "kiln.site";
constexpr std::string_view kCalls[] = {
    "__spirv_Atomic",         "__spirv_ocl_vload",      "__spirv_ocl_vstore",     "__spirv_SubgroupBlock",
    "__spirv_ControlBarrier", "__spirv_GroupAsyncCopy", "__spirv_GroupWaitEvents"};

std::optional<SiteShape> shape_of(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::LoadInst>(instruction)) return SiteShape::load;
  if (llvm::isa<llvm::StoreInst>(instruction)) return SiteShape::store;
  if (llvm::isa<llvm::MemIntrinsic>(instruction)) return SiteShape::copy;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
  if (callee == nullptr) return std::nullopt;
  const std::string_view name(callee->getName().data(), callee->getName().size());
  for (const std::string_view part : kCalls)
    if (name.find(part) != name.npos) return SiteShape::call;
  return std::nullopt;
}

bool waits(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr || call->getCalledFunction() == nullptr) return false;
  const llvm::StringRef name = call->getCalledFunction()->getName();
  return name.contains("__spirv_ControlBarrier") || name.contains("__spirv_GroupWaitEvents");
}

void set_hints(llvm::Function& function, const std::vector<LoopHint>& blocks) {
  if (function.size() != blocks.size()) return;
  const llvm::DominatorTree tree(function);
  const llvm::LoopInfo loops(tree);
  llvm::LLVMContext& context = function.getContext();
  std::size_t i = 0;
  for (llvm::BasicBlock& block : function) {
    const LoopHint hint = blocks[i++];
    const llvm::Loop* loop = loops.getLoopFor(&block);
    if (hint == LoopHint::none || loop == nullptr || loop->getHeader() != &block) continue;
    const char* name = hint == LoopHint::unroll ? "llvm.loop.unroll.enable" : "llvm.loop.unroll.disable";
    llvm::Metadata* parts[] = {nullptr, llvm::MDNode::get(context, {llvm::MDString::get(context, name)})};
    llvm::MDNode* id = llvm::MDNode::getDistinct(context, parts);
    id->replaceOperandWith(0, id);
    loop->setLoopID(id);
  }
}

}  // namespace

void set_tag(llvm::Instruction& instruction, SiteTag tag) {
  llvm::LLVMContext& context = instruction.getContext();
  llvm::Type* number = llvm::Type::getInt32Ty(context);
  const auto constant = [&](std::uint32_t value) {
    return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(number, value));
  };
  llvm::Metadata* parts[] = {constant(tag.id), constant(tag.line), constant(tag.waits ? 1 : 0)};
  instruction.setMetadata(kTag, llvm::MDNode::get(context, parts));
}

std::optional<SiteTag> tag_of(const llvm::Instruction& instruction) {
  const llvm::MDNode* node = instruction.getMetadata(kTag);
  if (node == nullptr || node->getNumOperands() != 3) return std::nullopt;
  const auto number = [&](unsigned i) {
    return static_cast<std::uint32_t>(
        llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(i))->getZExtValue());
  };
  return SiteTag{number(0), number(1), number(2) != 0};
}

bool is_access(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst,
                   llvm::MemIntrinsic>(instruction);
}

void tag_sites(llvm::Module& module, const std::map<std::uint32_t, FunctionSites>& functions) {
  for (const auto& [id, known] : functions) {
    llvm::Function* function =
        module.getFunction(known.name.empty() ? kSiteNamePrefix + std::to_string(id) : known.name);
    if (function == nullptr || function->isDeclaration()) continue;
    std::vector<llvm::Instruction*> found;
    std::vector<SiteShape> shapes, wanted;
    for (llvm::Instruction& instruction : llvm::instructions(*function)) {
      const auto shape = shape_of(instruction);
      if (!shape) continue;
      found.push_back(&instruction);
      shapes.push_back(*shape);
    }
    for (const Site& site : known.sites) wanted.push_back(site.shape);
    const bool match = shapes == wanted;
    for (std::size_t i = 0; i < found.size(); ++i) {
      SiteTag tag{0, 0, waits(*found[i])};
      if (match) tag.id = known.sites[i].id, tag.line = known.sites[i].line;
      set_tag(*found[i], tag);
    }
    set_hints(*function, known.blocks);
  }
}

}  // namespace kiln::cpu
