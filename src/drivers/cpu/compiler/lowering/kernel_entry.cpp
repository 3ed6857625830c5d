// SPDX-License-Identifier: MIT
// Writes kernel entry functions: arguments, work-item loop, work-item functions, SLM.
#include "drivers/cpu/compiler/lowering/kernel_entry.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include <array>
#include <cstddef>
#include <spirv/unified1/spirv.hpp>

#include "drivers/cpu/compiler/instrument/site_order.hpp"
#include "drivers/cpu/compiler/lowering/item_loop.hpp"
#include "drivers/cpu/compiler/lowering/slm.hpp"
#include "drivers/cpu/runtime/collective.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

constexpr const char* kGridBarrier = "kiln_grid_barrier";

using llvm::Type;
using llvm::Value;
using Three = std::array<Value*, 3>;

constexpr std::size_t kArgumentAlignment = 16;
constexpr std::uint64_t kLargestArgument = 1 << 20;  // bytes; OpenCL asks for 1024 in all

// The values that work-item functions stand for, at a place that dominates the kernel's body.
struct ItemValues {
  // Only with collectives: ItemState, and what it says of the sub-group.
  Value *item = nullptr, *lane = nullptr, *sub_group = nullptr;
  std::uint32_t sub_group_size = 0;
  Value* slm = nullptr;
  Value* work_dimension = nullptr;
  Three global_size, local_size, group_count, global_offset, group_id, local_id;
};

/// What the host gives is a value: no freeze, which may choose anew for each item, is needed for it.
llvm::LoadInst* defined(llvm::LoadInst* load) {
  load->setMetadata(llvm::LLVMContext::MD_noundef, llvm::MDNode::get(load->getContext(), {}));
  return load;
}

Value* load_field(llvm::IRBuilder<>& b, Value* base, std::size_t offset, Type* type) {
  Value* address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
  llvm::LoadInst* load = b.CreateAlignedLoad(type, address, llvm::Align(8));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
  return defined(load);
}

Three load_three(llvm::IRBuilder<>& b, Value* base, std::size_t offset) {
  Three out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = load_field(b, base, offset + 8 * i, b.getInt64Ty());
  return out;
}

ItemValues load_group(llvm::IRBuilder<>& b, Value* group) {
  ItemValues values;
  Value* launch = load_field(b, group, offsetof(GroupState, launch), b.getPtrTy());
  values.group_id = load_three(b, group, offsetof(GroupState, group_id));
  values.slm = load_field(b, group, offsetof(GroupState, slm), b.getPtrTy(kLocalSpace));
  values.global_size = load_three(b, launch, offsetof(LaunchState, global_size));
  values.local_size = load_three(b, launch, offsetof(LaunchState, local_size));
  for (Value* size : values.local_size) promise_group_size(*llvm::cast<llvm::LoadInst>(size));
  values.group_count = load_three(b, launch, offsetof(LaunchState, group_count));
  values.global_offset = load_three(b, launch, offsetof(LaunchState, global_offset));
  values.work_dimension = load_field(b, launch, offsetof(LaunchState, work_dimension), b.getInt64Ty());
  return values;
}

std::vector<Value*> load_arguments(llvm::IRBuilder<>& b, const llvm::Function& kernel,
                                   const KernelFacts& facts, Value* bytes, Value* slm) {
  const std::vector<std::size_t> offsets = argument_offsets(facts);
  std::vector<Value*> out;
  for (const llvm::Argument& argument : kernel.args()) {
    Value* address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), bytes, offsets[argument.getArgNo()]);
    const llvm::Align alignment(kArgumentAlignment);
    if (argument.hasByValAttr()) {
      out.push_back(address);  // inlining makes the copy
    } else if (facts.arguments[argument.getArgNo()].kind == ArgumentKind::local_pointer) {
      out.push_back(b.CreateGEP(b.getInt8Ty(), slm, b.CreateAlignedLoad(b.getInt64Ty(), address, alignment)));
    } else {
      out.push_back(defined(b.CreateAlignedLoad(argument.getType(), address, alignment)));
    }
  }
  return out;
}

// Work-items are independent of each other, so accesses to global memory and SLM of different items may be
// reordered: without that promise the vectorizer would have to compare all pointers at run time. Private
// memory is shared by the turns of the loop and gets no promise.
void promise_in_entry(llvm::Function& entry, llvm::BranchInst* latch) {
  llvm::MDNode* group = llvm::MDNode::getDistinct(entry.getContext(), {});
  for (llvm::Instruction& instruction : llvm::instructions(entry)) {
    const Value* pointer = simple_access(instruction);
    if (pointer == nullptr) continue;
    const unsigned space = pointer->getType()->getPointerAddressSpace();
    if (space == kGlobalSpace || space == kConstantSpace || space == kLocalSpace)
      instruction.setMetadata(llvm::LLVMContext::MD_access_group, group);
  }
  promise_independence(*latch, group);
}

Value* linear(llvm::IRBuilder<>& b, const Three& id, const Three& size) {
  return b.CreateAdd(b.CreateMul(b.CreateAdd(b.CreateMul(id[2], size[1]), id[1]), size[0]), id[0]);
}

Three local_part_of_global_id(llvm::IRBuilder<>& b, const ItemValues& v) {
  Three out{};
  for (std::size_t i = 0; i < 3; ++i)
    out[i] = b.CreateAdd(b.CreateMul(v.group_id[i], v.local_size[i]), v.local_id[i]);
  return out;
}

Value* by_dimension(llvm::IRBuilder<>& b, const Three& values, Value* dimension, std::uint64_t otherwise) {
  Value* out = llvm::ConstantInt::get(values[0]->getType(), otherwise);
  for (std::size_t i = 3; i-- > 0;)
    out = b.CreateSelect(b.CreateICmpEQ(dimension, llvm::ConstantInt::get(dimension->getType(), i)),
                         values[i], out);
  return out;
}

Value* local_linear_size(llvm::IRBuilder<>& b, const ItemValues& v) {
  return b.CreateMul(b.CreateMul(v.local_size[0], v.local_size[1]), v.local_size[2]);
}

// Sub-groups are consecutive linear local ids, as on Intel's GPUs; the last one takes what is left.
Value* sub_group_value(llvm::IRBuilder<>& b, const ItemValues& v, WorkItem item) {
  Value* size = b.getInt64(v.sub_group_size);
  Value* id = linear(b, v.local_id, v.local_size);
  const auto bits_below = [&](Value* lane) {
    return b.CreateSub(b.CreateShl(b.getInt64(1), lane), b.getInt64(1));
  };
  Value* lane = v.lane != nullptr ? v.lane : b.CreateURem(id, size);
  Value* next = b.CreateAdd(lane, b.getInt64(1));
  switch (item) {
    case WorkItem::sub_group_id:
      return v.sub_group != nullptr ? v.sub_group : b.CreateUDiv(id, size);
    case WorkItem::sub_group_local_id:
      return lane;
    case WorkItem::sub_group_size: {
      Value* first = v.sub_group != nullptr ? b.CreateMul(v.sub_group, size) : b.CreateSub(id, lane);
      Value* left = b.CreateSub(local_linear_size(b, v), first);
      return b.CreateSelect(b.CreateICmpULT(left, size), left, size);
    }
    case WorkItem::sub_group_count:
      return b.CreateUDiv(b.CreateAdd(local_linear_size(b, v), b.getInt64(v.sub_group_size - 1)), size);
    case WorkItem::equal_mask:
      return b.CreateShl(b.getInt64(1), lane);
    case WorkItem::greater_or_equal_mask:
      return b.CreateSub(bits_below(size), bits_below(lane));
    case WorkItem::greater_mask:
      return b.CreateSub(bits_below(size), bits_below(next));
    case WorkItem::less_or_equal_mask:
      return bits_below(next);
    case WorkItem::less_mask:
      return bits_below(lane);
    default:
      return size;
  }
}

Value* item_value(llvm::IRBuilder<>& b, const ItemValues& v, WorkItem item, Value* dimension) {
  switch (item) {
    case WorkItem::global_id: {
      Three id = local_part_of_global_id(b, v);
      for (std::size_t i = 0; i < 3; ++i) id[i] = b.CreateAdd(id[i], v.global_offset[i]);
      return by_dimension(b, id, dimension, 0);
    }
    case WorkItem::local_id:
      return by_dimension(b, v.local_id, dimension, 0);
    case WorkItem::local_size:
      return by_dimension(b, v.local_size, dimension, 1);
    case WorkItem::group_count:
      return by_dimension(b, v.group_count, dimension, 1);
    case WorkItem::group_id:
      return by_dimension(b, v.group_id, dimension, 0);
    case WorkItem::global_offset:
      return by_dimension(b, v.global_offset, dimension, 0);
    case WorkItem::global_size:
      return by_dimension(b, v.global_size, dimension, 1);
    case WorkItem::work_dimension:
      return v.work_dimension;
    case WorkItem::global_linear_id:
      return linear(b, local_part_of_global_id(b, v), v.global_size);
    case WorkItem::local_linear_id:
      return linear(b, v.local_id, v.local_size);
    case WorkItem::local_linear_size:
      return local_linear_size(b, v);
    default:
      return sub_group_value(b, v, item);
  }
}

/// The same in 32 bits.
Three narrowed(llvm::IRBuilder<>& b, const Three& values) {
  Three out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = b.CreateTrunc(values[i], b.getInt32Ty());
  return out;
}

// An id that the kernel cuts to 32 bits is computed in 32: as the low half of one of 64, the vectorizer would
// put it together from scalars in each turn.
void replace_halves(llvm::CallInst* call, const ItemValues& values, WorkItem item, Value* dimension) {
  if (item > WorkItem::local_linear_size || item == WorkItem::work_dimension) return;
  llvm::SmallVector<llvm::TruncInst*, 2> halves;
  for (llvm::User* user : call->users())
    if (auto* half = llvm::dyn_cast<llvm::TruncInst>(user);
        half != nullptr && half->getType()->isIntegerTy(32))
      halves.push_back(half);
  if (halves.empty()) return;
  llvm::IRBuilder<> b(call);
  ItemValues narrow = values;
  for (Three* each : {&narrow.global_size, &narrow.local_size, &narrow.group_count, &narrow.global_offset,
                      &narrow.group_id, &narrow.local_id})
    *each = narrowed(b, *each);
  Value* value = item_value(b, narrow, item, dimension);
  for (llvm::TruncInst* half : halves) {
    half->replaceAllUsesWith(value);
    half->eraseFromParent();
  }
}

// All items must come to the same call.
void keep_single(llvm::FunctionCallee collective) {
  auto* function = llvm::cast<llvm::Function>(collective.getCallee());
  for (const auto kind : {llvm::Attribute::NoUnwind, llvm::Attribute::Convergent,
                          llvm::Attribute::NoDuplicate, llvm::Attribute::NoMerge})
    function->addFnAttr(kind);
}

void replace_collective(llvm::CallInst* call, std::uint64_t site, const ItemValues& values,
                        KernelFacts& facts) {
  llvm::IRBuilder<> b(call);
  Type *number = b.getInt64Ty(), *pointer = b.getPtrTy();
  Value* kind = b.CreateAnd(b.CreateZExt(call->getArgOperand(0), number), b.getInt64(kCollectiveKind));
  Value* is_sub_group = b.CreateICmpEQ(call->getArgOperand(1), b.getInt32(spv::ScopeSubgroup));
  if (!llvm::isa<llvm::ConstantInt>(is_sub_group) || llvm::cast<llvm::ConstantInt>(is_sub_group)->isZero())
    facts.barrier_count = 1;
  Value* place = b.CreateSelect(is_sub_group, b.getInt64(2 * site), b.getInt64(2 * site | kGroupPlace));
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(kind);
  if (known != nullptr && known->getZExtValue() == static_cast<std::uint64_t>(Collective::barrier)) {
    auto* type = llvm::FunctionType::get(b.getVoidTy(), {pointer, number}, false);
    const auto* scope = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(1));
    const bool is_of_grid = scope != nullptr && scope->getZExtValue() <= spv::ScopeDevice;
    if (is_of_grid) place = b.CreateOr(place, b.getInt64(kGridPlace));
    llvm::FunctionCallee barrier =
        call->getModule()->getOrInsertFunction(is_of_grid ? kGridBarrier : "kiln_barrier", type);
    keep_single(barrier);
    b.CreateCall(barrier, {values.item, b.CreateOr(place, b.getInt64(kBarrierPlace))})
        ->addFnAttr(llvm::Attribute::NoMerge);
    return;
  }
  Value* what = b.CreateOr(kind, call->getArgOperand(2));
  auto* type =
      llvm::FunctionType::get(b.getVoidTy(), {pointer, number, number, pointer, number, pointer}, false);
  llvm::FunctionCallee collective = call->getModule()->getOrInsertFunction("kiln_collective", type);
  keep_single(collective);
  b.CreateCall(collective, {values.item, place, what, call->getArgOperand(3), call->getArgOperand(4),
                            call->getArgOperand(5)})
      ->addFnAttr(llvm::Attribute::NoMerge);
}

// Masks of lanes come as 64 bits and go as four times 32.
Value* fitted(llvm::IRBuilder<>& b, Value* value, Type* type) {
  if (type->isIntegerTy()) return b.CreateZExtOrTrunc(value, type);
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr || !vector->getElementType()->isIntegerTy(32)) return nullptr;
  Value* out = llvm::Constant::getNullValue(type);
  for (unsigned i = 0; i < 2 && i < vector->getNumElements(); ++i)
    out = b.CreateInsertElement(out, b.CreateTrunc(b.CreateLShr(value, 32 * i), b.getInt32Ty()), i);
  return out;
}

void replace_work_items(llvm::Function& entry, const ItemValues& values, KernelFacts& facts) {
  std::vector<std::pair<llvm::CallInst*, WorkItem>> calls;
  for (llvm::BasicBlock* block : in_program_order(entry))
    for (llvm::Instruction& instruction : *block)
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (const llvm::Function* callee = call->getCalledFunction())
          if (const auto item = work_item_of(*callee)) calls.emplace_back(call, *item);
  std::uint64_t sites = 0;
  for (const auto& [call, item] : calls) {
    if (item == WorkItem::collective) {
      replace_collective(call, ++sites, values, facts);
    } else {
      llvm::IRBuilder<> b(call);
      Value* dimension = call->arg_size() > 0 ? call->getArgOperand(0) : b.getInt32(0);
      replace_halves(call, values, item, dimension);
      if (Value* value = fitted(b, item_value(b, values, item, dimension), call->getType()))
        call->replaceAllUsesWith(value);
    }
    call->eraseFromParent();
  }
}

}  // namespace

bool has_grid_barrier(const llvm::Function& item_entry) {
  const llvm::Function* barrier = item_entry.getParent()->getFunction(kGridBarrier);
  return barrier != nullptr && llvm::any_of(barrier->users(), [&](const llvm::User* user) {
           const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
           return call != nullptr && call->getFunction() == &item_entry;
         });
}

std::string group_entry_symbol(std::size_t index) { return "kiln.kernel." + std::to_string(index); }
std::string item_entry_symbol(std::size_t index) { return "kiln.kernel_item." + std::to_string(index); }

std::vector<std::size_t> argument_offsets(const KernelFacts& facts) {
  std::vector<std::size_t> offsets;
  std::size_t end = 0;
  for (const ArgumentFacts& argument : facts.arguments) {
    offsets.push_back(end);
    const std::size_t size = argument.kind == ArgumentKind::value ? argument.size : sizeof(std::uint64_t);
    end += (size + kArgumentAlignment - 1) / kArgumentAlignment * kArgumentAlignment;
  }
  offsets.push_back(end);
  return offsets;
}

bool describe_arguments(const llvm::Function& kernel, KernelFacts& facts, std::string& log) {
  const llvm::DataLayout& layout = kernel.getParent()->getDataLayout();
  facts.arguments.resize(kernel.arg_size());
  facts.arguments_known = true;
  std::uint64_t total = 0;
  for (const llvm::Argument& argument : kernel.args()) {
    ArgumentFacts& fact = facts.arguments[argument.getArgNo()];
    Type* type = argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
    const auto* pointer = llvm::dyn_cast<llvm::PointerType>(type);
    if (pointer == nullptr) {
      if (!type->isSized() || type->isIntegerTy(1)) {
        log.append("error: argument " + std::to_string(argument.getArgNo()) + " of kernel '" + facts.name +
                   "' has a type that cannot be passed\n");
        return false;
      }
      fact.kind = ArgumentKind::value;
      fact.size = static_cast<std::uint32_t>(
          std::min(kLargestArgument + 1, layout.getTypeAllocSize(type).getFixedValue()));
      total += fact.size;
    } else {
      const unsigned space = pointer->getAddressSpace();
      if (space != kGlobalSpace && space != kConstantSpace && space != kLocalSpace) {
        log.append("error: argument " + std::to_string(argument.getArgNo()) + " of kernel '" + facts.name +
                   "' points to an address space that cannot be passed\n");
        return false;
      }
      fact.kind = space == kLocalSpace ? ArgumentKind::local_pointer : ArgumentKind::global_pointer;
      fact.size = sizeof(void*);
    }
  }
  if (total > kLargestArgument) {
    log.append("error: the arguments of kernel '" + facts.name + "' take more than 1 MiB\n");
    return false;
  }
  return true;
}

bool write_entry(llvm::Function& kernel, std::size_t index, const CallFacts& calls, KernelFacts& facts,
                 std::string& log) {
  llvm::Module& module = *kernel.getParent();
  llvm::LLVMContext& context = module.getContext();
  const bool has_collective = calls.with_collective.contains(&kernel);

  Type* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false);
  auto* entry =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                             has_collective ? item_entry_symbol(index) : group_entry_symbol(index), module);
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  entry->addParamAttr(1, llvm::Attribute::NoAlias);
  entry->addParamAttr(1, llvm::Attribute::ReadOnly);
  entry->addParamAttr(1, llvm::Attribute::getWithAlignment(context, llvm::Align(kArgumentAlignment)));
  if (const std::size_t bytes = argument_offsets(facts).back(); bytes != 0)
    entry->addParamAttr(1, llvm::Attribute::getWithDereferenceableBytes(context, bytes));

  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", entry));
  Value* state = entry->getArg(0);
  Value* group = has_collective ? load_field(b, state, offsetof(ItemState, group), pointer) : state;
  ItemValues values = load_group(b, group);
  values.sub_group_size = facts.simd_size;
  const std::vector<Value*> arguments = load_arguments(b, kernel, facts, entry->getArg(1), values.slm);
  llvm::BranchInst* latch = nullptr;
  if (has_collective) {
    values.item = state;
    values.local_id = load_three(b, state, offsetof(ItemState, local_id));
    values.lane = load_field(b, state, offsetof(ItemState, lane), b.getInt64Ty());
    llvm::cast<llvm::LoadInst>(values.lane)
        ->setMetadata(llvm::LLVMContext::MD_range, llvm::MDBuilder(context).createRange(
                                                       llvm::APInt(64, 0), llvm::APInt(64, facts.simd_size)));
    values.sub_group = load_field(b, state, offsetof(ItemState, sub_group), b.getInt64Ty());
    b.CreateCall(&kernel, arguments);
  } else {
    std::array<Loop, 3> loops{};
    for (std::size_t i = 3; i-- > 0;) {
      loops[i] = Loop::open(b, values.local_size[i]);
      values.local_id[i] = loops[i].index;
    }
    b.CreateCall(&kernel, arguments);
    latch = loops[0].close(b);
    loops[1].close(b);
    loops[2].close(b);
  }
  b.CreateRetVoid();

  if (!inline_body(*entry, kernel, calls, log)) return false;
  replace_work_items(*entry, values, facts);
  if (!place_slm(*entry, values.slm, facts, log)) return false;
  if (latch != nullptr) promise_in_entry(*entry, latch);
  return true;
}

}  // namespace kiln::cpu
