// SPDX-License-Identifier: MIT
// The instrumentation pass: one kernel after the other, before its body becomes part of an entry function.
#include "drivers/cpu/compiler/instrument/instrument.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <limits>
#include <spirv/unified1/spirv.hpp>

#include "drivers/cpu/compiler/instrument/neighbours.hpp"
#include "drivers/cpu/compiler/lowering/kernel_inline.hpp"
#include "drivers/cpu/compiler/lowering/site_tags.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

using llvm::Value;

constexpr const char* kOwnVariable = "kiln.own";         // no variable of the program
constexpr std::uint64_t kLargestInstrumented = 500'000;  // instructions, as without instrumentation

/// What inlining a built-in brings belongs to the instruction that called it.
void tag_new(llvm::BasicBlock& block, SiteTag tag) {
  for (llvm::Instruction& instruction : block) {
    if (tag_of(instruction)) continue;
    if (llvm::isa<llvm::AllocaInst>(instruction))
      instruction.setMetadata(kOwnVariable, llvm::MDNode::get(block.getContext(), {}));
    if (is_access(instruction) || llvm::isa<llvm::CallInst, llvm::AllocaInst>(instruction))
      set_tag(instruction, tag);
  }
}

using Sizes = llvm::DenseMap<const llvm::Function*, std::uint64_t>;

/// Instructions with everything inlined, as far as it may grow. No function calls itself.
std::uint64_t inlined_size(const llvm::Function& function, Sizes& known) {
  const auto found = known.find(&function);
  if (found != known.end()) return found->second;
  std::uint64_t size = function.getInstructionCount();
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      if (const llvm::Function* callee = call->getCalledFunction())
        size = std::min(kLargestInstrumented + 1, size + inlined_size(*callee, known));
  known[&function] = size;
  return size;
}

llvm::CallInst* first_call(llvm::BasicBlock& block) {
  for (llvm::Instruction& instruction : block)
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (const llvm::Function* callee = call->getCalledFunction();
          callee != nullptr && !callee->isDeclaration())
        return call;
  return nullptr;
}

bool inline_everything(llvm::Function& body, std::string& log) {
  Sizes known;
  if (inlined_size(body, known) > kLargestInstrumented) {
    log.append("error: kernel '" + body.getName().str() +
               "' grows too large when its functions are inlined\n");
    return false;
  }
  for (llvm::Instruction& instruction : llvm::instructions(body))
    if (!tag_of(instruction)) set_tag(instruction, {});
  // One call at a time: what is new must be told from what was there. It lies behind the block of the call,
  // and variables in the first block.
  for (llvm::BasicBlock* block = &body.getEntryBlock(); block != nullptr;) {
    llvm::CallInst* call = first_call(*block);
    if (call == nullptr) {
      block = block->getNextNode();
      continue;
    }
    const SiteTag tag = tag_of(*call).value_or(SiteTag{});
    const llvm::BasicBlock* end = block->getNextNode();
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*call, info).isSuccess()) {
      log.append("error: a function of kernel '" + body.getName().str() + "' cannot be inlined\n");
      return false;
    }
    tag_new(body.getEntryBlock(), tag);
    for (llvm::BasicBlock* at = block; at != end; at = at->getNextNode()) tag_new(*at, tag);
  }
  return true;
}

/// Tells how often the loops around a block have been gone through: work-items with the same numbers at the
/// same place are there together.
class LoopKeys {
 public:
  explicit LoopKeys(llvm::Function& body)
      : tree_(body), loops_(tree_), number_(llvm::Type::getInt64Ty(body.getContext())) {
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) keys_[loop] = write(*loop);
  }

  [[nodiscard]] Value* at(const llvm::BasicBlock* block) const {
    const llvm::Loop* loop = loops_.getLoopFor(block);
    return loop == nullptr ? llvm::ConstantInt::get(number_, 0) : keys_.lookup(loop);
  }

 private:
  Value* write(llvm::Loop& loop) {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;  // odd, so that no bits are lost
    llvm::BasicBlock* header = loop.getHeader();
    llvm::IRBuilder<> top(header, header->begin());
    llvm::PHINode* count = top.CreatePHI(number_, 2);
    llvm::IRBuilder<> b(header, header->getFirstInsertionPt());
    Value* next = b.CreateAdd(count, b.getInt64(1));
    for (llvm::BasicBlock* before : llvm::predecessors(header))
      count->addIncoming(loop.contains(before) ? next : b.getInt64(0), before);
    const llvm::Loop* outer = loop.getParentLoop();
    return outer == nullptr ? next : b.CreateAdd(b.CreateMul(keys_.lookup(outer), b.getInt64(kMix)), next);
  }

  llvm::DominatorTree tree_;
  llvm::LoopInfo loops_;
  llvm::Type* number_;
  llvm::DenseMap<const llvm::Loop*, Value*> keys_;
};

PlaceMemory memory_of(const Value* pointer) {
  if (llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer, 0))) return PlaceMemory::private_memory;
  switch (pointer->getType()->getPointerAddressSpace()) {
    case kGlobalSpace:
      return PlaceMemory::global;
    case kConstantSpace:
      return PlaceMemory::constant;
    case kLocalSpace:
      return PlaceMemory::slm;
    case kPrivateSpace:
      return PlaceMemory::private_memory;
    default:
      return PlaceMemory::generic;
  }
}

/// Whether all that is read goes back to where it was, as when one component of a vector is set.
bool puts_back(const llvm::LoadInst& load) {
  const auto goes_back = [&](const llvm::User* user) {
    while (llvm::isa<llvm::InsertElementInst, llvm::InsertValueInst, llvm::ShuffleVectorInst>(user)) {
      if (!user->hasOneUse()) return false;
      user = *user->user_begin();
    }
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    return store != nullptr && store->getPointerOperand() == load.getPointerOperand() &&
           store->getValueOperand() != &load;
  };
  return !load.use_empty() && std::ranges::all_of(load.users(), goes_back);
}

PlaceNeed need_of(const llvm::LoadInst& load) {
  if (puts_back(load)) return PlaceNeed::none;
  const llvm::Type* type = load.getType();
  return type->isVectorTy() || type->isAggregateType() ? PlaceNeed::some : PlaceNeed::all;
}

/// `value` as a number, if it fits one.
Value* as_number(llvm::IRBuilder<>& b, Value* value, const llvm::DataLayout& layout) {
  llvm::Type* type = value->getType();
  const std::uint64_t bits = layout.getTypeSizeInBits(type).getFixedValue();
  if (bits > 64 || bits != 8 * layout.getTypeStoreSize(type).getFixedValue()) return nullptr;
  if (type->isPointerTy()) return b.CreatePtrToInt(value, b.getInt64Ty());
  if (!llvm::CastInst::isBitCastable(type, b.getIntNTy(static_cast<unsigned>(bits)))) return nullptr;
  return b.CreateZExt(b.CreateBitCast(value, b.getIntNTy(static_cast<unsigned>(bits))), b.getInt64Ty());
}

class Instrumenter {
 public:
  Instrumenter(llvm::Function& body, KernelPlaces& places)
      : body_(body), module_(*body.getParent()), places_(places), keys_(body) {
    llvm::BasicBlock& entry = body.getEntryBlock();
    llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
    item_ = work_item_call(b, module_, WorkItem::local_linear_id);
  }

  void run() {
    std::vector<llvm::Instruction*> all;
    for (llvm::Instruction& instruction : llvm::instructions(body_)) all.push_back(&instruction);
    for (llvm::Instruction* instruction : all) visit(*instruction);
  }

  /// After optimization: accesses to the variables that are left.
  static void add_private(llvm::Function& body, KernelPlaces& places) {
    std::vector<llvm::Instruction*> all;
    for (llvm::Instruction& instruction : llvm::instructions(body)) {
      const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (pointer == nullptr) continue;
      const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer, 0));
      if (variable != nullptr && !variable->hasMetadata(kOwnVariable)) all.push_back(&instruction);
    }
    const llvm::DataLayout& layout = body.getParent()->getDataLayout();
    for (llvm::Instruction* instruction : all) {
      const SiteTag tag = tag_of(*instruction).value_or(SiteTag{});
      Place place{tag.id, tag.line};
      place.kind = llvm::isa<llvm::LoadInst>(instruction) ? PlaceKind::read : PlaceKind::write;
      place.memory = PlaceMemory::private_memory;
      place.bytes = static_cast<std::uint32_t>(
          layout.getTypeStoreSize(llvm::getLoadStoreType(instruction)).getFixedValue());
      auto same = std::ranges::find(places, place);
      if (same == places.end()) same = places.insert(same, place);
      llvm::IRBuilder<> b(instruction);
      auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getInt32Ty()}, false);
      b.CreateCall(body.getParent()->getOrInsertFunction("kiln_private_access", type),
                   {b.getInt32(static_cast<std::uint32_t>(same - places.begin()))});
    }
  }

 private:
  void visit(llvm::Instruction& instruction) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      redirect(*load, load->getPointerOperandIndex(), load->isAtomic() ? PlaceKind::atomic : PlaceKind::read,
               size_of(load->getType()), nullptr, need_of(*load));
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      redirect(*store, store->getPointerOperandIndex(),
               store->isAtomic() ? PlaceKind::atomic : PlaceKind::write,
               size_of(store->getValueOperand()->getType()), store->getValueOperand());
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      const bool only_writes = update->getOperation() == llvm::AtomicRMWInst::Xchg && update->use_empty();
      redirect(*update, update->getPointerOperandIndex(), PlaceKind::atomic, size_of(update->getType()),
               nullptr, only_writes ? PlaceNeed::none : PlaceNeed::all);
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      redirect(*exchange, exchange->getPointerOperandIndex(), PlaceKind::atomic,
               size_of(exchange->getNewValOperand()->getType()), nullptr, PlaceNeed::all);
    } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      redirect_copy(*memory);
    } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      const llvm::Function* callee = call->getCalledFunction();
      if (callee != nullptr && work_item_of(*callee) == WorkItem::collective) note_barrier(*call);
    }
  }

  Value* size_of(llvm::Type* type) {
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(body_.getContext()),
                                  module_.getDataLayout().getTypeStoreSize(type).getFixedValue());
  }

  std::uint32_t add_place(const llvm::Instruction& instruction, PlaceKind kind) {
    const SiteTag tag = tag_of(instruction).value_or(SiteTag{});
    Place place{tag.id, tag.line};
    place.kind = kind;
    places_.push_back(place);
    return static_cast<std::uint32_t>(places_.size() - 1);
  }

  /// The call that gives the place to access instead of `pointer`; null for private memory.
  llvm::CallInst* write_access(llvm::Instruction& instruction, Value* pointer, PlaceKind kind, Value* size,
                               Value* stored, PlaceNeed need) {
    const PlaceMemory memory = memory_of(pointer);
    if (memory == PlaceMemory::private_memory) return nullptr;
    const std::uint32_t number = add_place(instruction, kind);
    Place& place = places_[number];
    place.memory = memory;
    place.need = need;
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(size))
      place.bytes = place.neighbour_bytes = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(known->getZExtValue(), std::numeric_limits<std::uint32_t>::max()));

    llvm::IRBuilder<> b(&instruction);
    llvm::PointerType* flat = b.getPtrTy();
    Value* base = llvm::Constant::getNullValue(flat);
    Value* object = const_cast<Value*>(llvm::getUnderlyingObject(pointer, 0));
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
        argument != nullptr && argument->getArgNo() <= std::numeric_limits<std::int16_t>::max()) {
      place.argument = static_cast<std::int16_t>(argument->getArgNo());
      base = b.CreateAddrSpaceCast(object, flat);
    } else if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object)) {
      place.object_bytes = module_.getDataLayout().getTypeAllocSize(variable->getValueType()).getFixedValue();
      base = b.CreateAddrSpaceCast(object, flat);
    }
    Value* copy = llvm::Constant::getNullValue(flat);
    Value* number_stored = nullptr;
    const bool told = stored != nullptr && kind == PlaceKind::write &&
                      (memory == PlaceMemory::slm || memory == PlaceMemory::generic);
    if (told) number_stored = as_number(b, stored, module_.getDataLayout());
    if (told && number_stored == nullptr) {
      llvm::IRBuilder<> first(&body_.getEntryBlock(), body_.getEntryBlock().begin());
      llvm::AllocaInst* variable = first.CreateAlloca(stored->getType());
      variable->setMetadata(kOwnVariable, llvm::MDNode::get(body_.getContext(), {}));
      b.CreateStore(stored, variable);
      copy = variable;
    }
    Value* what = number_stored != nullptr ? number_stored : copy;
    auto* type = llvm::FunctionType::get(
        flat, {b.getInt32Ty(), b.getInt64Ty(), b.getInt64Ty(), flat, b.getInt64Ty(), flat, what->getType()},
        false);
    llvm::CallInst* call = b.CreateCall(
        module_.getOrInsertFunction(number_stored != nullptr ? kWriteFunction : kAccessFunction, type),
        {b.getInt32(number), keys_.at(instruction.getParent()), item_, b.CreateAddrSpaceCast(pointer, flat),
         b.CreateZExtOrTrunc(size, b.getInt64Ty()), base, what});
    call->addFnAttr(llvm::Attribute::NoMerge);  // with one of another place
    return call;
  }

  void redirect(llvm::Instruction& instruction, unsigned operand, PlaceKind kind, Value* size, Value* stored,
                PlaceNeed need = PlaceNeed::none) {
    Value* pointer = instruction.getOperand(operand);
    llvm::CallInst* call = write_access(instruction, pointer, kind, size, stored, need);
    if (call == nullptr) return;
    llvm::IRBuilder<> b(&instruction);
    instruction.setOperand(operand, b.CreateAddrSpaceCast(call, pointer->getType()));
  }

  // Either all of it or nothing: how long it is may be known at run time only.
  void redirect_copy(llvm::MemIntrinsic& memory) {
    Value* all = llvm::ConstantInt::getTrue(body_.getContext());
    Value *length = memory.getLength(), *destination = memory.getRawDest();
    llvm::CallInst* to =
        write_access(memory, destination, PlaceKind::write, length, nullptr, PlaceNeed::none);
    llvm::IRBuilder<> b(&memory);
    const auto also = [&](llvm::CallInst* call, Value* pointer) {
      all = b.CreateAnd(all, b.CreateICmpEQ(call, b.CreateAddrSpaceCast(pointer, b.getPtrTy())));
    };
    if (to != nullptr) also(to, destination);
    if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&memory)) {
      Value* source = transfer->getRawSource();
      if (llvm::CallInst* from =
              write_access(memory, source, PlaceKind::read, length, nullptr, PlaceNeed::some))
        also(from, source);
    }
    memory.setLength(b.CreateSelect(all, length, llvm::ConstantInt::get(length->getType(), 0)));
  }

  // Each copy of a collective would be one of its own, where work-items wait in vain for those at another
  // copy.
  void note_barrier(llvm::CallInst& call) {
    call.addFnAttr(llvm::Attribute::NoDuplicate);
    call.addFnAttr(llvm::Attribute::Convergent);
    const auto* scope = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(1));
    const bool of_sub_group = scope != nullptr && scope->getZExtValue() == spv::ScopeSubgroup;
    if (of_sub_group && !tag_of(call).value_or(SiteTag{}).waits) return;  // orders no memory
    llvm::IRBuilder<> b(&call);
    auto* type =
        llvm::FunctionType::get(b.getVoidTy(), {b.getInt32Ty(), b.getInt64Ty(), b.getInt1Ty()}, false);
    b.CreateCall(module_.getOrInsertFunction(kMeetFunction, type),
                 {b.getInt32(add_place(call, PlaceKind::barrier)), item_, b.getInt1(of_sub_group)});
  }

  llvm::Function& body_;
  llvm::Module& module_;
  KernelPlaces& places_;
  LoopKeys keys_;
  Value* item_;
};

}  // namespace

bool instrument(llvm::Module& module, llvm::TargetMachine& machine, std::span<llvm::Function* const> bodies,
                std::vector<KernelPlaces>& places, std::string& log) {
  CallFacts calls;
  if (!analyse_calls(module, calls, log)) return false;  // functions that call themselves end here
  for (llvm::Function* body : bodies)
    if (!inline_everything(*body, log)) return false;
  places.assign(bodies.size(), {});
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    Instrumenter(*bodies[i], places[i]).run();
    simplify_and_find_neighbours(*bodies[i], machine, places[i]);
    Instrumenter::add_private(*bodies[i], places[i]);
  }
  return true;
}

}  // namespace kiln::cpu
