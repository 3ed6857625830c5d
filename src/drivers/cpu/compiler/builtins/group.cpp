// SPDX-License-Identifier: MIT
// Barriers, work-group and sub-group functions: most of them are a collective, around which values are
// prepared.
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <limits>
#include <spirv/unified1/spirv.hpp>

#include "drivers/cpu/compiler/builtins/emitter.hpp"
#include "drivers/cpu/runtime/collective.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

using llvm::Type;
using llvm::Value;

Value* kind(Emitter& e, Collective collective) { return e.b.getInt32(static_cast<unsigned>(collective)); }
Value* sub_group(Emitter& e) { return e.b.getInt32(spv::ScopeSubgroup); }
Value* number(Emitter& e, Value* value) { return e.b.CreateZExtOrTrunc(value, e.b.getInt64Ty()); }
Value* lane(Emitter& e) { return work_item_call(e.b, e.module(), WorkItem::sub_group_local_id); }
Value* sub_group_size(Emitter& e) { return work_item_call(e.b, e.module(), WorkItem::sub_group_max_size); }

// Work-group functions and those of cl_khr_subgroups need all items; the others take whoever comes.
bool may_diverge(const Emitter& e) {
  return e.name.starts_with("GroupNonUniform") || e.name.starts_with("SubgroupShuffle");
}

// Truth values lie in memory as bytes.
Type* stored(Emitter& e, Type* type) { return type->isIntegerTy(1) ? e.b.getInt8Ty() : type; }
Value* to_stored(Emitter& e, Value* value) {
  return value->getType()->isIntegerTy(1) ? e.b.CreateZExt(value, e.b.getInt8Ty()) : value;
}
Value* from_stored(Emitter& e, Value* value, Type* type) {
  return type->isIntegerTy(1) ? e.b.CreateIsNotNull(value) : value;
}

// A collective over `value`, with `identity` in the place of the result; gives the result.
Value* exchange(Emitter& e, CollectiveOperands operands, Value* value, Value* identity) {
  Type* type = stored(e, value->getType());
  operands.size = e.module().getDataLayout().getTypeAllocSize(type).getFixedValue();
  if (operands.size > kLargestCollectiveValue) return nullptr;
  operands.value = e.b.CreateAlloca(llvm::ArrayType::get(type, 2));
  operands.may_diverge = may_diverge(e);
  Value* result = e.b.CreateConstInBoundsGEP1_64(type, operands.value, 1);
  e.b.CreateStore(to_stored(e, value), operands.value);
  if (identity != nullptr) e.b.CreateStore(to_stored(e, identity), result);
  collective_call(e.b, e.module(), operands);
  return from_stored(e, e.b.CreateLoad(type, result), value->getType());
}

Value* gather(Emitter& e, Value* scope, Value* value, Value* index) {
  return exchange(e, {.kind = kind(e, Collective::gather), .scope = scope, .parameter = index}, value,
                  nullptr);
}

Value* barrier(Emitter& e) {
  return collective_call(e.b, e.module(), {.kind = kind(e, Collective::barrier), .scope = e.args[0]});
}

Value* grid_barrier(Emitter& e) {
  return collective_call(e.b, e.module(),
                         {.kind = kind(e, Collective::barrier), .scope = e.b.getInt32(spv::ScopeDevice)});
}

// Reductions and scans.

struct Operation {
  std::string_view name;
  Value* (*apply)(Emitter&, llvm::IRBuilder<>&, Value*, Value*);
  llvm::Constant* (*identity)(Type*);
};

template <llvm::Instruction::BinaryOps op>
Value* arithmetic(Emitter&, llvm::IRBuilder<>& b, Value* x, Value* y) {
  return b.CreateBinOp(op, x, y);
}
template <llvm::Intrinsic::ID id>
Value* intrinsic(Emitter&, llvm::IRBuilder<>& b, Value* x, Value* y) {
  return b.CreateBinaryIntrinsic(id, x, y);
}

template <int value>
llvm::Constant* integer(Type* type) {
  return llvm::ConstantInt::get(type, static_cast<std::uint64_t>(std::int64_t{value}), true);
}
template <int value>
llvm::Constant* real(Type* type) {
  return llvm::ConstantFP::get(type, value);
}
template <bool negative>
llvm::Constant* infinity(Type* type) {
  return llvm::ConstantFP::getInfinity(type, negative);
}
llvm::Constant* smallest(Type* type) {
  return llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
}
llvm::Constant* largest(Type* type) {
  return llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(type->getScalarSizeInBits()));
}

constexpr Operation kOperations[] = {
    {"IAdd", arithmetic<llvm::Instruction::Add>, integer<0>},
    {"FAdd", arithmetic<llvm::Instruction::FAdd>, real<0>},
    {"IMul", arithmetic<llvm::Instruction::Mul>, integer<1>},
    {"FMul", arithmetic<llvm::Instruction::FMul>, real<1>},
    {"SMin", intrinsic<llvm::Intrinsic::smin>, largest},
    {"UMin", intrinsic<llvm::Intrinsic::umin>, integer<-1>},
    {"FMin", intrinsic<llvm::Intrinsic::minnum>, infinity<false>},
    {"SMax", intrinsic<llvm::Intrinsic::smax>, smallest},
    {"UMax", intrinsic<llvm::Intrinsic::umax>, integer<0>},
    {"FMax", intrinsic<llvm::Intrinsic::maxnum>, infinity<true>},
    {"BitwiseAnd", arithmetic<llvm::Instruction::And>, integer<-1>},
    {"BitwiseOr", arithmetic<llvm::Instruction::Or>, integer<0>},
    {"BitwiseXor", arithmetic<llvm::Instruction::Xor>, integer<0>},
    {"LogicalAnd", arithmetic<llvm::Instruction::And>, integer<-1>},
    {"LogicalOr", arithmetic<llvm::Instruction::Or>, integer<0>},
    {"LogicalXor", arithmetic<llvm::Instruction::Xor>, integer<0>},
};

// The function by which the executor adds one value to another; one for each operation and type.
llvm::Function* combine(Emitter& e, const Operation& operation, Type* type) {
  std::string name;
  llvm::raw_string_ostream(name) << "kiln.combine." << operation.name << "." << *type;
  if (llvm::Function* known = e.module().getFunction(name)) return known;
  llvm::LLVMContext& context = e.function.getContext();
  Type* pointer = e.b.getPtrTy();
  auto* function_type = llvm::FunctionType::get(e.b.getVoidTy(), {pointer, pointer}, false);
  auto* function =
      llvm::Function::Create(function_type, llvm::GlobalValue::InternalLinkage, name, e.module());
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  Type* in_memory = stored(e, type);
  const auto load = [&](unsigned argument) {
    Value* value = b.CreateLoad(in_memory, function->getArg(argument));
    return type->isIntegerTy(1) ? b.CreateIsNotNull(value) : value;
  };
  Value* sum = load(0);
  Value* value = operation.apply(e, b, sum, load(1));
  b.CreateStore(type->isIntegerTy(1) ? b.CreateZExt(value, in_memory) : value, function->getArg(0));
  b.CreateRetVoid();
  return function;
}

const Operation* operation_of(std::string_view name) {
  for (const std::string_view part : {"Group", "NonUniform"})
    if (name.starts_with(part)) name.remove_prefix(part.size());
  if (name.ends_with("KHR")) name.remove_suffix(3);
  for (const Operation& operation : kOperations)
    if (operation.name == name) return &operation;
  return nullptr;
}

Value* reduce(Emitter& e, const Operation& operation, Value* scope, Value* group_operation, Value* value,
              Value* cluster) {
  llvm::Constant* identity = operation.identity(value->getType());
  return exchange(e,
                  {.kind = group_operation,
                   .scope = scope,
                   .parameter = cluster,
                   .combine = combine(e, operation, value->getType())},
                  value, identity);
}

// Operands: scope, group operation, value, and items a cluster where the operation says so.
Value* reduce_or_scan(Emitter& e) {
  const Operation* operation = operation_of(e.name);
  Value* cluster = e.args.size() > 3 ? number(e, e.args[3]) : nullptr;
  return reduce(e, *operation, e.args[0], e.args[1], e.args[2], cluster);
}

Value* every(Emitter& e, Value* scope, std::string_view operation, Value* predicate) {
  return reduce(e, *operation_of(operation), scope, kind(e, Collective::reduce), predicate, nullptr);
}
Value* group_all(Emitter& e) { return every(e, e.args[0], "LogicalAnd", e.args[1]); }
Value* group_any(Emitter& e) { return every(e, e.args[0], "LogicalOr", e.args[1]); }

Value* all_equal(Emitter& e) {
  Value* value = e.args[1];
  Value* first = gather(e, e.args[0], value, e.b.getInt64(kFirstMember));
  if (first == nullptr) return nullptr;
  Value* same =
      value->getType()->isFPOrFPVectorTy() ? e.b.CreateFCmpOEQ(value, first) : e.b.CreateICmpEQ(value, first);
  if (same->getType()->isVectorTy()) same = e.b.CreateAndReduce(same);
  return every(e, e.args[0], "LogicalAnd", same);
}

// Broadcasts and shuffles.

Value* broadcast(Emitter& e) {
  Value* id = e.args[2];
  if (!is_vector(id)) return gather(e, e.args[0], e.args[1], number(e, id));
  Value* linear = e.b.getInt64(0);
  for (unsigned i = lanes(id->getType()); i-- > 0;) {
    Value* size = work_item_call(e.b, e.module(), WorkItem::local_size, e.b.getInt32(i));
    linear = e.b.CreateAdd(e.b.CreateMul(linear, size), number(e, e.b.CreateExtractElement(id, i)));
  }
  return gather(e, e.args[0], e.args[1], linear);
}
Value* broadcast_first(Emitter& e) { return gather(e, e.args[0], e.args[1], e.b.getInt64(kFirstMember)); }

// Operands: scope, value, lane or distance. What lies outside of the sub-group is undefined.
Value* shuffle(Emitter& e) { return gather(e, e.args[0], e.args[1], number(e, e.args[2])); }
Value* shuffle_xor(Emitter& e) {
  return gather(e, e.args[0], e.args[1], e.b.CreateXor(lane(e), number(e, e.args[2])));
}
Value* shuffle_up(Emitter& e) {
  return gather(e, e.args[0], e.args[1], e.b.CreateSub(lane(e), number(e, e.args[2])));
}
Value* shuffle_down(Emitter& e) {
  return gather(e, e.args[0], e.args[1], e.b.CreateAdd(lane(e), number(e, e.args[2])));
}

Value* shuffle_intel(Emitter& e) { return gather(e, sub_group(e), e.args[0], number(e, e.args[1])); }
Value* shuffle_xor_intel(Emitter& e) {
  return gather(e, sub_group(e), e.args[0], e.b.CreateXor(lane(e), number(e, e.args[1])));
}

// A window of one sub-group over `low` and behind it `high`, at `begin`. cl_intel_subgroups.
Value* window(Emitter& e, Value* low, Value* high, Value* begin) {
  Value* size = sub_group_size(e);
  Value* index = e.b.CreateAdd(lane(e), begin);
  Value* from_low = gather(e, sub_group(e), low, index);
  Value* from_high = gather(e, sub_group(e), high, e.b.CreateSub(index, size));
  if (from_low == nullptr) return nullptr;
  return e.b.CreateSelect(e.b.CreateICmpULT(index, size), from_low, from_high);
}
// Operands: current, next, distance.
Value* shuffle_down_intel(Emitter& e) { return window(e, e.args[0], e.args[1], number(e, e.args[2])); }
// Operands: previous, current, distance.
Value* shuffle_up_intel(Emitter& e) {
  return window(e, e.args[0], e.args[1], e.b.CreateSub(sub_group_size(e), number(e, e.args[2])));
}

// Ballots: four words of lanes, of which sub-groups here fill at most the first.

Value* vote(Emitter& e, Value* predicate) {
  return exchange(e, {.kind = kind(e, Collective::ballot), .scope = e.args[0]}, number(e, predicate),
                  nullptr);
}
Value* ballot(Emitter& e) {
  Value* out = llvm::Constant::getNullValue(e.result);
  return e.b.CreateInsertElement(out, e.b.CreateTrunc(vote(e, e.args[1]), e.b.getInt32Ty()),
                                 std::uint64_t{0});
}
Value* elect(Emitter& e) {
  Value* present = vote(e, e.b.getTrue());
  Value* lowest = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, present, e.b.getTrue());
  return e.b.CreateICmpEQ(lowest, lane(e));
}

Value* bit_at(Emitter& e, Value* ballot, Value* index) {
  Value* word = e.b.CreateExtractElement(ballot, e.b.CreateAnd(e.b.CreateLShr(index, 5), 3));
  Value* shift = e.b.CreateTrunc(e.b.CreateAnd(index, 31), word->getType());
  return e.b.CreateTrunc(e.b.CreateLShr(word, shift), e.b.getInt1Ty());
}
Value* inverse_ballot(Emitter& e) { return bit_at(e, e.args[1], lane(e)); }
Value* bit_extract(Emitter& e) { return bit_at(e, e.args[1], number(e, e.args[2])); }

// The first word, cut off behind the lanes of the sub-group; 64 bits wide.
Value* lanes_of(Emitter& e, Value* ballot) {
  Value* size = work_item_call(e.b, e.module(), WorkItem::sub_group_size);
  Value* within = e.b.CreateSub(e.b.CreateShl(e.b.getInt64(1), size), e.b.getInt64(1));
  return e.b.CreateAnd(number(e, e.b.CreateExtractElement(ballot, std::uint64_t{0})), within);
}
// Operands: scope, group operation, ballot.
Value* bit_count(Emitter& e) {
  const auto is = [&](Collective operation) { return e.b.CreateICmpEQ(e.args[1], kind(e, operation)); };
  Value* below = work_item_call(e.b, e.module(), WorkItem::less_mask);
  Value* to_self = work_item_call(e.b, e.module(), WorkItem::less_or_equal_mask);
  Value* mask = e.b.CreateSelect(is(Collective::inclusive_scan), to_self, e.b.getInt64(-1));
  mask = e.b.CreateSelect(is(Collective::exclusive_scan), below, mask);
  Value* bits = e.b.CreateAnd(lanes_of(e, e.args[2]), mask);
  return e.b.CreateTrunc(e.b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits), e.result);
}
Value* find_lowest(Emitter& e) {
  Value* bits = lanes_of(e, e.args[1]);
  return e.b.CreateTrunc(e.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, e.b.getFalse()), e.result);
}
Value* find_highest(Emitter& e) {
  Value* zeros = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, lanes_of(e, e.args[1]), e.b.getFalse());
  return e.b.CreateTrunc(e.b.CreateSub(e.b.getInt64(63), zeros), e.result);
}

// Block reads and writes: component after component, each as wide as the sub-group. The collective before
// gives the order that code for Intel's GPUs takes for granted, where all lanes read before one writes.

template <class Access>
void each_component(Emitter& e, Value* pointer, Type* type, Access access) {
  collective_call(e.b, e.module(), {.kind = kind(e, Collective::barrier), .scope = sub_group(e)});
  Type* element = type->getScalarType();
  Value *size = sub_group_size(e), *index = lane(e);
  for (unsigned i = 0; i < lanes(type); ++i) {
    access(i, e.b.CreateGEP(element, pointer, index), llvm::Align(element->getScalarSizeInBits() / 8));
    index = e.b.CreateAdd(index, size);
  }
}

Value* block_read(Emitter& e) {
  Value* out = llvm::UndefValue::get(e.result);
  each_component(e, e.args[0], e.result, [&](unsigned i, Value* address, llvm::Align alignment) {
    Value* value = e.b.CreateAlignedLoad(e.result->getScalarType(), address, alignment);
    out = e.result->isVectorTy() ? e.b.CreateInsertElement(out, value, i) : value;
  });
  return out;
}

Value* block_write(Emitter& e) {
  Value* data = e.args[1];
  each_component(e, e.args[0], data->getType(), [&](unsigned i, Value* address, llvm::Align alignment) {
    e.b.CreateAlignedStore(is_vector(data) ? e.b.CreateExtractElement(data, i) : data, address, alignment);
  });
  return data;
}

constexpr NamedEmit kGroup[] = {
    {"ControlBarrier", barrier},
    {"global_barrier", grid_barrier},
    {"GroupAll", group_all},
    {"GroupAny", group_any},
    {"GroupBroadcast", broadcast},
    {"GroupIAdd", reduce_or_scan},
    {"GroupFAdd", reduce_or_scan},
    {"GroupFMin", reduce_or_scan},
    {"GroupUMin", reduce_or_scan},
    {"GroupSMin", reduce_or_scan},
    {"GroupFMax", reduce_or_scan},
    {"GroupUMax", reduce_or_scan},
    {"GroupSMax", reduce_or_scan},
    {"GroupIMulKHR", reduce_or_scan},
    {"GroupFMulKHR", reduce_or_scan},
    {"GroupBitwiseAndKHR", reduce_or_scan},
    {"GroupBitwiseOrKHR", reduce_or_scan},
    {"GroupBitwiseXorKHR", reduce_or_scan},
    {"GroupLogicalAndKHR", reduce_or_scan},
    {"GroupLogicalOrKHR", reduce_or_scan},
    {"GroupLogicalXorKHR", reduce_or_scan},
    {"GroupNonUniformElect", elect},
    {"GroupNonUniformAll", group_all},
    {"GroupNonUniformAny", group_any},
    {"GroupNonUniformAllEqual", all_equal},
    {"GroupNonUniformBroadcast", shuffle},
    {"GroupNonUniformBroadcastFirst", broadcast_first},
    {"GroupNonUniformBallot", ballot},
    {"GroupNonUniformInverseBallot", inverse_ballot},
    {"GroupNonUniformBallotBitExtract", bit_extract},
    {"GroupNonUniformBallotBitCount", bit_count},
    {"GroupNonUniformBallotFindLSB", find_lowest},
    {"GroupNonUniformBallotFindMSB", find_highest},
    {"GroupNonUniformShuffle", shuffle},
    {"GroupNonUniformShuffleXor", shuffle_xor},
    {"GroupNonUniformShuffleUp", shuffle_up},
    {"GroupNonUniformShuffleDown", shuffle_down},
    {"GroupNonUniformIAdd", reduce_or_scan},
    {"GroupNonUniformFAdd", reduce_or_scan},
    {"GroupNonUniformIMul", reduce_or_scan},
    {"GroupNonUniformFMul", reduce_or_scan},
    {"GroupNonUniformSMin", reduce_or_scan},
    {"GroupNonUniformUMin", reduce_or_scan},
    {"GroupNonUniformFMin", reduce_or_scan},
    {"GroupNonUniformSMax", reduce_or_scan},
    {"GroupNonUniformUMax", reduce_or_scan},
    {"GroupNonUniformFMax", reduce_or_scan},
    {"GroupNonUniformBitwiseAnd", reduce_or_scan},
    {"GroupNonUniformBitwiseOr", reduce_or_scan},
    {"GroupNonUniformBitwiseXor", reduce_or_scan},
    {"GroupNonUniformLogicalAnd", reduce_or_scan},
    {"GroupNonUniformLogicalOr", reduce_or_scan},
    {"GroupNonUniformLogicalXor", reduce_or_scan},
    {"SubgroupShuffleINTEL", shuffle_intel},
    {"SubgroupShuffleDownINTEL", shuffle_down_intel},
    {"SubgroupShuffleUpINTEL", shuffle_up_intel},
    {"SubgroupShuffleXorINTEL", shuffle_xor_intel},
    {"SubgroupBlockReadINTEL", block_read},
    {"SubgroupBlockWriteINTEL", block_write},
};

}  // namespace

std::span<const NamedEmit> group_builtins() { return kGroup; }

}  // namespace kiln::cpu
