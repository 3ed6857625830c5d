// SPDX-License-Identifier: MIT
// OpenCL's built-ins on memory: vload and vstore, half in memory, shuffle, atomics, fences, async copies.
#include <llvm/IR/Instructions.h>

#include <charconv>
#include <spirv/unified1/spirv.hpp>

#include "drivers/cpu/compiler/builtins/emitter.hpp"
#include "drivers/cpu/runtime/collective.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

using llvm::Type;
using llvm::Value;

// SPIR-V specification 3.16 (FP rounding mode) and 3.25 (memory semantics).
constexpr std::string_view kRoundings[] = {"rte", "rtz", "rtp", "rtn"};
constexpr std::uint64_t kSequentiallyConsistent = 0x10;

// base + offset * stride elements of `element`
Value* element_address(Emitter& e, Value* base, Value* offset, unsigned stride, Type* element) {
  Value* index = e.b.CreateMul(e.b.CreateZExtOrTrunc(offset, e.b.getInt64Ty()), e.b.getInt64(stride));
  return e.b.CreateGEP(element, base, index);
}
llvm::Align element_alignment(Type* element) { return llvm::Align(element->getScalarSizeInBits() / 8); }

Value* vload(Emitter& e) {
  Type* element = e.result->getScalarType();
  Value* address = element_address(e, e.args[1], e.args[0], lanes(e.result), element);
  return e.b.CreateAlignedLoad(e.result, address, element_alignment(element));
}

Value* vstore(Emitter& e) {
  Type* type = e.args[0]->getType();
  Value* address = element_address(e, e.args[2], e.args[1], lanes(type), type->getScalarType());
  return e.b.CreateAlignedStore(e.args[0], address, element_alignment(type->getScalarType()));
}

// "vloada" and "vstorea" lay three elements out like four.
unsigned half_stride(const Emitter& e, Type* type) {
  const bool aligned = e.name.find("loada_") != e.name.npos || e.name.find("storea_") != e.name.npos;
  return aligned && lanes(type) == 3 ? 4 : lanes(type);
}

Value* vload_half(Emitter& e) {
  Type* half = e.b.getHalfTy();
  Value* address = element_address(e, e.args[1], e.args[0], half_stride(e, e.result), half);
  Value* value = e.b.CreateAlignedLoad(with_lanes(half, e.result), address, llvm::Align(2));
  return e.b.CreateFPExt(value, e.result);
}

Value* vstore_half(Emitter& e) {
  std::string_view rounding;
  if (e.args.size() > 3) {
    const auto* mode = llvm::dyn_cast<llvm::ConstantInt>(e.args[3]);
    if (mode != nullptr && mode->getZExtValue() < std::size(kRoundings))
      rounding = kRoundings[mode->getZExtValue()];
  }
  Value* x = e.args[0];
  Type* type = x->getType();
  Type* half = with_lanes(e.b.getHalfTy(), type);
  const auto rounded = [&](std::string_view mode) {
    Value* value = e.b.CreateFPTrunc(x, half);
    if (mode.empty() || mode == "rte") return value;
    Value* back = e.b.CreateFPExt(value, type);
    Value* exact = x;
    if (mode == "rtz") {
      back = e.unary(llvm::Intrinsic::fabs, back);
      exact = e.unary(llvm::Intrinsic::fabs, x);
    }
    Value* above = e.b.CreateUIToFP(e.b.CreateFCmpOGT(back, exact), type);
    Value* below = e.b.CreateUIToFP(e.b.CreateFCmpOLT(back, exact), type);
    return round_towards(e, value, e.b.CreateFSub(above, below), mode);
  };
  Value* value = nullptr;
  if (e.args.size() > 3 && rounding.empty()) {
    // The mode is an argument of this function until it is inlined: choose at run time, fold later.
    value = rounded("rte");
    for (unsigned mode = 1; mode < std::size(kRoundings); ++mode) {
      Value* chosen = e.b.CreateICmpEQ(e.args[3], llvm::ConstantInt::get(e.args[3]->getType(), mode));
      value = e.b.CreateSelect(chosen, rounded(kRoundings[mode]), value);
    }
  } else {
    value = rounded(rounding);
  }
  Value* address = element_address(e, e.args[2], e.args[1], half_stride(e, type), e.b.getHalfTy());
  return e.b.CreateAlignedStore(value, address, llvm::Align(2));
}

Value* shuffle_vectors(Emitter& e) {
  Value* mask = e.args.back();
  const unsigned width = lanes(e.args[0]->getType());
  const bool two = e.args.size() == 3;
  Type* index_type = mask->getType()->getScalarType();
  Value* out = llvm::UndefValue::get(e.result);
  for (unsigned i = 0; i < lanes(e.result); ++i) {
    Value* index = e.b.CreateExtractElement(mask, i);
    Value* within = e.b.CreateAnd(index, llvm::ConstantInt::get(index_type, width - 1));
    Value* value = e.b.CreateExtractElement(e.args[0], within);
    if (two) {
      Value* second = e.b.CreateAnd(index, llvm::ConstantInt::get(index_type, width));
      value = e.b.CreateSelect(e.b.CreateICmpEQ(second, llvm::ConstantInt::get(index_type, 0)), value,
                               e.b.CreateExtractElement(e.args[1], within));
    }
    out = e.b.CreateInsertElement(out, value, i);
  }
  return out;
}

Value* nothing(Emitter& e) { return e.b.getInt32(0); }

// Atomics. Operands: pointer, scope, semantics, values. All are sequentially consistent; x86 gains nothing
// from less for read-modify-write, and a load costs the same.

constexpr auto kOrder = llvm::AtomicOrdering::SequentiallyConsistent;

template <llvm::AtomicRMWInst::BinOp op>
Value* atomic_update(Emitter& e) {
  Value* operand = e.args.size() > 3 ? e.args[3] : llvm::ConstantInt::get(e.result, 1);
  return e.b.CreateAtomicRMW(op, e.args[0], operand, llvm::MaybeAlign(), kOrder);
}

Value* atomic_load(Emitter& e) {
  llvm::LoadInst* load = e.b.CreateAlignedLoad(e.result, e.args[0], element_alignment(e.result));
  load->setAtomic(kOrder);
  return load;
}

Value* atomic_store(Emitter& e) {
  llvm::StoreInst* store =
      e.b.CreateAlignedStore(e.args[3], e.args[0], element_alignment(e.args[3]->getType()));
  store->setAtomic(kOrder);
  return store;
}

// Operands: pointer, scope, two semantics, new value, expected value.
Value* atomic_compare_exchange(Emitter& e) {
  Type* bits = as_integers(e.result);
  Value* expected = e.b.CreateBitCast(e.args[5], bits);
  Value* desired = e.b.CreateBitCast(e.args[4], bits);
  Value* pair = e.b.CreateAtomicCmpXchg(e.args[0], expected, desired, llvm::MaybeAlign(), kOrder, kOrder);
  return e.b.CreateBitCast(e.b.CreateExtractValue(pair, 0), e.result);
}

Value* flag_test_and_set(Emitter& e) {
  Value* old =
      e.b.CreateAtomicRMW(llvm::AtomicRMWInst::Xchg, e.args[0], e.b.getInt32(1), llvm::MaybeAlign(), kOrder);
  return e.b.CreateZExtOrTrunc(e.b.CreateICmpNE(old, e.b.getInt32(0)), e.result);
}
Value* flag_clear(Emitter& e) {
  llvm::StoreInst* store = e.b.CreateAlignedStore(e.b.getInt32(0), e.args[0], llvm::Align(4));
  store->setAtomic(kOrder);
  return store;
}

Value* memory_barrier(Emitter& e) {
  const auto* semantics = llvm::dyn_cast<llvm::ConstantInt>(e.args[1]);
  const bool light = semantics != nullptr && (semantics->getZExtValue() & kSequentiallyConsistent) == 0;
  return e.b.CreateFence(light ? llvm::AtomicOrdering::AcquireRelease : kOrder);
}

// Bytes of the element that the first pointer of a mangled parameter list points to; 0 when it is not a
// number. The list looks like "iPU3AS3Dv4_fPU3AS1KS_mmP13__spirv_Event".
std::uint64_t pointee_size(std::string_view mangled) {
  const std::size_t pointer = mangled.find('P');
  if (pointer == mangled.npos) return 0;
  mangled.remove_prefix(pointer + 1);
  if (mangled.starts_with("U3AS") && mangled.size() > 5) mangled.remove_prefix(5);
  while (mangled.starts_with('K') || mangled.starts_with('V')) mangled.remove_prefix(1);
  std::uint64_t count = 1;
  if (mangled.starts_with("Dv")) {
    const char* begin = mangled.data() + 2;
    const auto [end, error] = std::from_chars(begin, mangled.data() + mangled.size(), count);
    if (error != std::errc() || end == mangled.data() + mangled.size() || *end != '_') return 0;
    mangled.remove_prefix(static_cast<std::size_t>(end + 1 - mangled.data()));
    if (count == 3) count = 4;
  }
  if (mangled.starts_with("Dh")) return 2 * count;
  switch (mangled.empty() ? '\0' : mangled[0]) {
    case 'a':
    case 'b':
    case 'c':
    case 'h':
      return count;
    case 's':
    case 't':
      return 2 * count;
    case 'f':
    case 'i':
    case 'j':
      return 4 * count;
    case 'd':
    case 'l':
    case 'm':
    case 'x':
    case 'y':
      return 8 * count;
    default:
      return 0;
  }
}

// Operands: scope, destination, source, elements, stride, event. Each work-item copies its share, and the
// barrier in wait_group_events makes the whole visible.
Value* async_copy(Emitter& e) {
  const std::uint64_t size = pointee_size(e.parameters);
  if (size == 0 || e.args.size() != 6) return nullptr;
  // The validator does not look at these.
  for (const std::size_t i : {1, 2})
    if (!e.args[i]->getType()->isPointerTy()) return nullptr;
  for (const std::size_t i : {3, 4})
    if (!e.args[i]->getType()->isIntegerTy(64)) return nullptr;
  Type* element = llvm::ArrayType::get(e.b.getInt8Ty(), size);
  Value *destination = e.args[1], *source = e.args[2], *count = e.args[3], *stride = e.args[4];
  const bool gathers = destination->getType()->getPointerAddressSpace() == kLocalSpace;
  Value* first = work_item_call(e.b, e.module(), WorkItem::local_linear_id);
  Value* step = work_item_call(e.b, e.module(), WorkItem::local_linear_size);

  llvm::LLVMContext& context = e.function.getContext();
  llvm::BasicBlock* before = e.b.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(context, "copy", &e.function);
  auto* body = llvm::BasicBlock::Create(context, "element", &e.function);
  auto* after = llvm::BasicBlock::Create(context, "copied", &e.function);
  e.b.CreateBr(head);
  e.b.SetInsertPoint(head);
  llvm::PHINode* i = e.b.CreatePHI(e.b.getInt64Ty(), 2);
  i->addIncoming(first, before);
  e.b.CreateCondBr(e.b.CreateICmpULT(i, count), body, after);
  e.b.SetInsertPoint(body);
  Value* far = e.b.CreateMul(i, stride);
  Value* to = e.b.CreateGEP(element, destination, gathers ? static_cast<Value*>(i) : far);
  Value* from = e.b.CreateGEP(element, source, gathers ? far : static_cast<Value*>(i));
  const llvm::Align alignment(size & (~size + 1));
  e.b.CreateMemCpy(to, alignment, from, alignment, size);
  i->addIncoming(e.b.CreateAdd(i, step), body);
  e.b.CreateBr(head);
  e.b.SetInsertPoint(after);
  return e.args[5];
}

// The copies are those of the work-group.
Value* wait_group_events(Emitter& e) {
  return collective_call(
      e.b, e.module(),
      {e.b.getInt32(static_cast<unsigned>(Collective::barrier)), e.b.getInt32(spv::ScopeWorkgroup)});
}

using Rmw = llvm::AtomicRMWInst;
constexpr NamedEmit kMemory[] = {
    {"ocl_vloadn", vload},
    {"ocl_vstoren", vstore},
    {"ocl_vload_half", vload_half},
    {"ocl_vload_halfn", vload_half},
    {"ocl_vloada_halfn", vload_half},
    {"ocl_vstore_half", vstore_half},
    {"ocl_vstore_half_r", vstore_half},
    {"ocl_vstore_halfn", vstore_half},
    {"ocl_vstore_halfn_r", vstore_half},
    {"ocl_vstorea_halfn", vstore_half},
    {"ocl_vstorea_halfn_r", vstore_half},
    {"ocl_shuffle", shuffle_vectors},
    {"ocl_shuffle2", shuffle_vectors},
    {"ocl_prefetch", nothing},
    {"AtomicLoad", atomic_load},
    {"AtomicStore", atomic_store},
    {"AtomicExchange", atomic_update<Rmw::Xchg>},
    {"AtomicCompareExchange", atomic_compare_exchange},
    {"AtomicCompareExchangeWeak", atomic_compare_exchange},
    {"AtomicIIncrement", atomic_update<Rmw::Add>},
    {"AtomicIDecrement", atomic_update<Rmw::Sub>},
    {"AtomicIAdd", atomic_update<Rmw::Add>},
    {"AtomicISub", atomic_update<Rmw::Sub>},
    {"AtomicSMin", atomic_update<Rmw::Min>},
    {"AtomicUMin", atomic_update<Rmw::UMin>},
    {"AtomicSMax", atomic_update<Rmw::Max>},
    {"AtomicUMax", atomic_update<Rmw::UMax>},
    {"AtomicAnd", atomic_update<Rmw::And>},
    {"AtomicOr", atomic_update<Rmw::Or>},
    {"AtomicXor", atomic_update<Rmw::Xor>},
    {"AtomicFAddEXT", atomic_update<Rmw::FAdd>},
    {"AtomicFMinEXT", atomic_update<Rmw::FMin>},
    {"AtomicFMaxEXT", atomic_update<Rmw::FMax>},
    {"AtomicFlagTestAndSet", flag_test_and_set},
    {"AtomicFlagClear", flag_clear},
    {"MemoryBarrier", memory_barrier},
    {"GroupAsyncCopy", async_copy},
    {"GroupWaitEvents", wait_group_events},
};

}  // namespace

std::span<const NamedEmit> memory_builtins() { return kMemory; }

}  // namespace kiln::cpu
