// SPDX-License-Identifier: MIT
// Writes exchanges of values as loops, for the vectorizer to see what was calls through a pointer.
#include "drivers/cpu/compiler/regions/region_exchange.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "drivers/cpu/compiler/lowering/item_loop.hpp"
#include "drivers/cpu/compiler/regions/region_collectives.hpp"
#include "drivers/cpu/runtime/collective.hpp"

namespace kiln::cpu {
namespace {

using llvm::Value;
using Operand = CollectiveOperand;

std::uint64_t what_of(const llvm::CallInst& collective) {
  return llvm::cast<llvm::ConstantInt>(collective.getArgOperand(Operand::what))->getZExtValue();
}
Collective kind_of(const llvm::CallInst& collective) {
  return static_cast<Collective>(what_of(collective) & kCollectiveKind);
}

std::optional<std::uint64_t> offset_of(const llvm::GetElementPtrInst& address, const Value& variable) {
  llvm::APInt offset(64, 0);
  if (address.getPointerOperand() != &variable ||
      !address.accumulateConstantOffset(address.getModule()->getDataLayout(), offset) || offset.isNegative())
    return std::nullopt;
  return offset.getZExtValue();
}

/// A load or store within the half of the variable, value or result, that begins `offset` bytes before.
bool stays_within(const llvm::User& user, const Value& address, std::uint64_t offset, std::uint64_t half) {
  auto* access = llvm::dyn_cast<llvm::Instruction>(&user);
  if (access == nullptr || simple_access(*access) != &address) return false;
  const llvm::DataLayout& layout = access->getModule()->getDataLayout();
  const llvm::Type* type = llvm::isa<llvm::LoadInst>(access)
                               ? access->getType()
                               : llvm::cast<llvm::StoreInst>(access)->getValueOperand()->getType();
  return offset + layout.getTypeStoreSize(const_cast<llvm::Type*>(type)).getFixedValue() <= half;
}

bool may_be_parted(const llvm::CallInst& collective) {
  if (kind_of(collective) > Collective::exclusive_scan && !is_gather(collective)) return false;
  const llvm::AllocaInst& variable = *value_of(collective);
  const llvm::DataLayout& layout = collective.getModule()->getDataLayout();
  const auto* type = llvm::dyn_cast<llvm::ArrayType>(variable.getAllocatedType());
  const std::uint64_t size = what_of(collective) >> kCollectiveSizeShift;
  if (type == nullptr || type->getNumElements() != 2 || variable.isArrayAllocation() ||
      collective.getArgOperand(Operand::value) != &variable ||
      layout.getTypeAllocSize(type->getElementType()).getFixedValue() != size)
    return false;
  return llvm::all_of(variable.users(), [&](const llvm::User* user) {
    if (user == &collective || stays_within(*user, variable, 0, size)) return true;
    const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
    if (address == nullptr) return llvm::cast<llvm::Instruction>(user)->isLifetimeStartOrEnd();
    const auto offset = offset_of(*address, variable);
    return offset && *offset < 2 * size && llvm::all_of(address->users(), [&](const llvm::User* access) {
             return stays_within(*access, *address, *offset % size, size);
           });
  });
}

/// Writes one exchange function.
class ExchangeWriter {
 public:
  ExchangeWriter(llvm::Function& function, const llvm::CallInst& collective, std::uint32_t members,
                 bool parameters)
      : function_(function),
        kind_(kind_of(collective)),
        type_(value_of(collective)->getAllocatedType()),
        combine_(collective.getArgOperand(Operand::combine)),
        members_(members),
        parameters_(parameters),
        b_(llvm::BasicBlock::Create(function.getContext(), "entry", &function)) {}

  void write() {
    Value* items = function_.getArg(4);
    if (members_ == 0) {
      exchange(b_.getInt64(0), items);
      b_.CreateRetVoid();
      return;
    }
    // Whole sub-groups have a number of items that is known.
    Value* size = b_.getInt64(members_);
    Value* whole = b_.CreateUDiv(items, size);
    auto *some = block("whole"), *rest = block("rest"), *part = block("part"), *end = block("end");
    b_.CreateCondBr(b_.CreateIsNull(whole), rest, some);
    b_.SetInsertPoint(some);
    const Loop groups = Loop::open(b_, whole);
    exchange(b_.CreateMul(groups.index, size, "", true, true), size);
    groups.close(b_);
    b_.CreateBr(rest);
    b_.SetInsertPoint(rest);
    Value *first = b_.CreateMul(whole, size), *left = b_.CreateSub(items, first);
    b_.CreateCondBr(b_.CreateIsNull(left), end, part);
    b_.SetInsertPoint(part);
    exchange(first, left);
    b_.CreateBr(end);
    b_.SetInsertPoint(end);
    b_.CreateRetVoid();
  }

 private:
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(function_.getContext(), name, &function_);
  }
  Value* value_at(Value* item) { return b_.CreateInBoundsGEP(type_, function_.getArg(0), {item}); }
  Value* result_at(Value* item) { return b_.CreateInBoundsGEP(type_, function_.getArg(1), {item}); }

  /// Gives `count` items from `first` on their results.
  void exchange(Value* first, Value* count) {
    if (kind_ == Collective::gather)
      gather(first, count);
    else if (kind_ == Collective::reduce)
      reduce(first, count);
    else
      scan(first, count);
  }

  /// sum = sum (operation) item's value.
  void add(Value* sum, Value* item) {
    b_.CreateCall(llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()}, false), combine_,
                  {sum, value_at(item)});
  }

  llvm::AllocaInst* variable(Value* from) {
    llvm::BasicBlock& entry = function_.getEntryBlock();
    llvm::AllocaInst* sum = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type_);
    b_.CreateStore(b_.CreateLoad(type_, from), sum);
    return sum;
  }

  void reduce(Value* first, Value* count) {
    // Sums of integers may begin with what changes none of them, which stands where the result will be: so
    // the loop has as many turns as there are items. Others are made in the order of the items.
    const bool exact = type_->isIntOrIntVectorTy();
    llvm::AllocaInst* sum = variable(exact ? result_at(first) : value_at(first));
    each(first, count, exact ? 0 : 1, [&](Value* item) { add(sum, item); });
    Value* whole = b_.CreateLoad(type_, sum);
    each(first, count, 0, [&](Value* item) { b_.CreateStore(whole, result_at(item)); });
  }

  void scan(Value* first, Value* count) {
    const bool inclusive = kind_ == Collective::inclusive_scan;
    llvm::AllocaInst* sum = variable(value_at(first));
    const auto keep = [&](Value* item) { b_.CreateStore(b_.CreateLoad(type_, sum), result_at(item)); };
    if (inclusive) keep(first);  // else the identity stands there
    each(first, count, 1, [&](Value* item) {
      if (!inclusive) keep(item);
      add(sum, item);
      if (inclusive) keep(item);
    });
  }

  // Who asks for the value of one that is not there gets its own.
  void gather(Value* first, Value* count) {
    each(first, count, 0, [&](Value* item) {
      Value* wanted = function_.getArg(3);
      if (parameters_)
        wanted = b_.CreateLoad(b_.getInt64Ty(),
                               b_.CreateInBoundsGEP(b_.getInt64Ty(), function_.getArg(2), {item}));
      wanted = b_.CreateSelect(b_.CreateICmpEQ(wanted, b_.getInt64(kFirstMember)), b_.getInt64(0), wanted);
      Value* source = b_.CreateSelect(b_.CreateICmpULT(wanted, count), b_.CreateAdd(first, wanted), item);
      b_.CreateStore(b_.CreateLoad(type_, value_at(source)), result_at(item));
    });
  }

  /// body(item) for those from `begin` behind `first` on.
  template <class Body>
  void each(Value* first, Value* count, std::uint64_t begin, Body body) {
    Value* turns = b_.CreateSub(count, b_.getInt64(begin));
    auto *some = block("some"), *after = block("after");
    b_.CreateCondBr(b_.CreateIsNull(turns), after, some);
    b_.SetInsertPoint(some);
    const Loop loop = Loop::open(b_, turns);
    body(b_.CreateAdd(first, b_.CreateAdd(loop.index, b_.getInt64(begin), "", true, true), "", true, true));
    loop.close(b_);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }

  llvm::Function& function_;
  Collective kind_;
  llvm::Type* type_;
  Value* combine_;
  std::uint32_t members_;
  bool parameters_;
  llvm::IRBuilder<> b_;
};

}  // namespace

bool is_gather(const llvm::CallInst& collective) { return kind_of(collective) == Collective::gather; }

UniformResults uniform_results(const OwnResults& results, const LeftParameters& parameters) {
  UniformResults uniform;
  for (const auto& [call, result] : results) {
    if (kind_of(*call) != Collective::reduce && !is_gather(*call)) continue;
    const llvm::BasicBlock* behind = call->getParent()->getSingleSuccessor();
    if (behind == nullptr || behind->getSinglePredecessor() == nullptr) continue;
    for (const llvm::Instruction& instruction : *behind) {
      if (instruction.mayWriteToMemory()) break;
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load == nullptr || !load->isSimple()) continue;
      llvm::APInt offset(64, 0);
      const Value* base = load->getPointerOperand()->stripAndAccumulateConstantOffsets(
          load->getModule()->getDataLayout(), offset, /*AllowNonInbounds=*/true);
      if (base == result && offset.isZero() && load->getType() == result->getAllocatedType())
        uniform[load] = parameters.lookup(call);
    }
  }
  return uniform;
}

OwnResults part_results(const std::vector<llvm::CallInst*>& collectives) {
  OwnResults parted;
  for (const llvm::CallInst* call : collectives) {
    if (!is_exchange(*call) || !may_be_parted(*call)) continue;
    llvm::AllocaInst* variable = value_of(*call);
    llvm::Type* type = variable->getAllocatedType()->getArrayElementType();
    const std::uint64_t size = what_of(*call) >> kCollectiveSizeShift;
    variable->setAllocatedType(type);
    llvm::AllocaInst* result = llvm::IRBuilder<>(variable).CreateAlloca(type);
    result->setAlignment(variable->getAlign());
    for (llvm::User* user : llvm::make_early_inc_range(variable->users())) {
      auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
      const auto offset = address != nullptr ? offset_of(*address, *variable) : std::nullopt;
      if (!offset || *offset < size) continue;
      llvm::IRBuilder<> b(address);
      address->replaceAllUsesWith(b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), result, *offset - size));
      address->eraseFromParent();
    }
    parted[call] = result;
  }
  return parted;
}

void join_results(const OwnResults& parted) {
  for (const auto& [call, result] : parted) {
    llvm::AllocaInst* variable = value_of(*call);
    llvm::IRBuilder<> b(variable->getNextNode());
    llvm::Type* type = variable->getAllocatedType();
    variable->setAllocatedType(llvm::ArrayType::get(type, 2));
    result->replaceAllUsesWith(b.CreateConstInBoundsGEP1_64(type, variable, 1));
    result->eraseFromParent();
  }
}

llvm::Function& exchange_function(const llvm::CallInst& collective, std::uint32_t members, bool parameters) {
  llvm::Module& module = *const_cast<llvm::Module*>(collective.getModule());
  std::string name = "kiln.exchange." + std::to_string(static_cast<unsigned>(kind_of(collective))) + "." +
                     std::to_string(members) + (parameters ? ".each." : ".all.");
  llvm::raw_string_ostream(name) << *value_of(collective)->getAllocatedType() << "."
                                 << collective.getArgOperand(Operand::combine)->getName();
  if (llvm::Function* known = module.getFunction(name)) return *known;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::get(context, 0), *number = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, pointer, pointer, number, number}, false);
  llvm::Function* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  // Each is compiled once, and what a call costs is little beside it.
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  for (unsigned i = 0; i < 2; ++i) function->addParamAttr(i, llvm::Attribute::NoAlias);
  ExchangeWriter(*function, collective, members, parameters).write();
  return *function;
}

}  // namespace kiln::cpu
