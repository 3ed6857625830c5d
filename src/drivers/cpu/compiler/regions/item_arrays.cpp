// SPDX-License-Identifier: MIT
// Finds the arrays that are only read and written element by element, and rewrites their addresses.
#include "drivers/cpu/compiler/regions/item_arrays.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/KnownBits.h>

#include <array>
#include <cstddef>

#include "drivers/cpu/compiler/lowering/item_loop.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {
namespace {

using llvm::Value;

constexpr std::uint64_t kMostElements =
    32;  // of more the lines of one item would push each other out of the cache
constexpr const char* kByElement = "kiln.by_element";

/// Of arrays of numbers: how many. Else 0.
std::uint64_t elements_of(const llvm::AllocaInst& variable) {
  const auto* type = llvm::dyn_cast<llvm::ArrayType>(variable.getAllocatedType());
  if (type == nullptr || variable.isArrayAllocation()) return 0;
  const llvm::Type* element = type->getElementType();
  const bool plain = element->isFloatTy() || element->isDoubleTy() || element->isIntegerTy(8) ||
                     element->isIntegerTy(16) || element->isIntegerTy(32) || element->isIntegerTy(64);
  return plain ? type->getNumElements() : 0;
}

llvm::Type* element_type(const llvm::AllocaInst& variable) {
  return variable.getAllocatedType()->getArrayElementType();
}

/// The index of an element, in what the address is; null: it is another's.
Value* index_of(llvm::IRBuilder<>& b, const llvm::GetElementPtrInst& address,
                const llvm::AllocaInst& variable) {
  llvm::Type *from = address.getSourceElementType(), *element = element_type(variable);
  const llvm::DataLayout& layout = address.getModule()->getDataLayout();
  if (address.getNumIndices() == 1 && from == element) return address.getOperand(1);
  if (address.getNumIndices() == 2 && from == variable.getAllocatedType()) {
    const auto* first = llvm::dyn_cast<llvm::ConstantInt>(address.getOperand(1));
    return first != nullptr && first->isZero() ? address.getOperand(2) : nullptr;
  }
  llvm::APInt offset(64, 0);
  const std::uint64_t size = layout.getTypeAllocSize(element).getFixedValue();
  if (!address.accumulateConstantOffset(layout, offset) || offset.isNegative() ||
      offset.getZExtValue() % size != 0)
    return nullptr;
  return b.getInt64(offset.getZExtValue() / size);
}

bool is_element_access(const llvm::User& user, const Value& address, const llvm::Type& element) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&user);
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user);
  if (load != nullptr) return load->isSimple() && load->getType() == &element;
  return store != nullptr && store->isSimple() && store->getPointerOperand() == &address &&
         store->getValueOperand()->getType() == &element;
}

/// Sets all elements to 0.
bool is_clearing(const llvm::User& user, const llvm::AllocaInst& variable) {
  const auto* call = llvm::dyn_cast<llvm::MemSetInst>(&user);
  if (call == nullptr || call->isVolatile() || call->getRawDest() != &variable) return false;
  const auto *value = llvm::dyn_cast<llvm::ConstantInt>(call->getValue()),
             *length = llvm::dyn_cast<llvm::ConstantInt>(call->getLength());
  const llvm::DataLayout& layout = variable.getModule()->getDataLayout();
  return value != nullptr && value->isZero() && length != nullptr &&
         length->getValue() == layout.getTypeAllocSize(variable.getAllocatedType()).getFixedValue();
}

bool may_be_laid_out(const llvm::AllocaInst& variable) {
  const std::uint64_t elements = elements_of(variable);
  if (elements < 2 || elements > kMostElements) return false;
  llvm::IRBuilder<> b(variable.getContext());
  const llvm::Type& element = *element_type(variable);
  return llvm::all_of(variable.users(), [&](const llvm::User* user) {
    if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user))
      return index_of(b, *address, variable) != nullptr &&
             llvm::all_of(address->users(), [&](const llvm::User* access) {
               return is_element_access(*access, *address, element);
             });
    return is_clearing(*user, variable) || is_element_access(*user, variable, element) ||
           llvm::cast<llvm::Instruction>(user)->isLifetimeStartOrEnd();
  });
}

/// An item's element stands behind the other items', wherever the first one's is: no address is known to be
/// more than an element's. LLVM knows more of arrays, and takes sixteen at once by it.
void lower_alignment(llvm::AllocaInst& variable) {
  const llvm::Align own = variable.getModule()->getDataLayout().getABITypeAlign(element_type(variable));
  const auto lower = [&](llvm::User& user) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&user))
      load->setAlignment(std::min(load->getAlign(), own));
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&user))
      store->setAlignment(std::min(store->getAlign(), own));
  };
  for (llvm::User* user : variable.users()) {
    lower(*user);
    if (llvm::isa<llvm::GetElementPtrInst>(user))
      for (llvm::User* access : user->users()) lower(*access);
  }
  variable.setAlignment(own);
}

/// One store an element, in place of what sets them all.
void write_clearings(llvm::AllocaInst& variable) {
  for (llvm::User* user : llvm::make_early_inc_range(variable.users())) {
    if (!is_clearing(*user, variable)) continue;
    auto* call = llvm::cast<llvm::Instruction>(user);
    llvm::IRBuilder<> b(call);
    llvm::Type* element = element_type(variable);
    for (std::uint64_t i = 0; i < elements_of(variable); ++i)
      b.CreateStore(llvm::Constant::getNullValue(element),
                    b.Insert(llvm::GetElementPtrInst::CreateInBounds(element, &variable, {b.getInt64(i)})));
    call->eraseFromParent();
  }
}

llvm::LoadInst* load_known(llvm::IRBuilder<>& b, llvm::Type* type, Value* base, std::size_t offset) {
  Value* address = offset == 0 ? base : b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
  llvm::LoadInst* load = b.CreateAlignedLoad(type, address, llvm::Align(8));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
  load->setMetadata(llvm::LLVMContext::MD_noundef, llvm::MDNode::get(b.getContext(), {}));
  return load;
}

Value* items_of_group(llvm::IRBuilder<>& b, const llvm::Function& item_entry) {
  Value* group = load_known(b, b.getPtrTy(), item_entry.getArg(0), offsetof(ItemState, group));
  Value* launch = load_known(b, b.getPtrTy(), group, offsetof(GroupState, launch));
  std::array<Value*, 3> size{};
  for (std::size_t i = 0; i < 3; ++i) {
    llvm::LoadInst* load = load_known(b, b.getInt64Ty(), launch, offsetof(LaunchState, local_size) + 8 * i);
    promise_group_size(*load);
    size[i] = load;
  }
  return even_item_count(b, b.CreateMul(size[0], b.CreateMul(size[1], size[2])));
}

/// The one store of a block that does no more than to update an element, which is there whether the block
/// runs or not.
llvm::StoreInst* only_update(llvm::BasicBlock& block) {
  constexpr std::size_t kLargest = 8;  // instructions
  llvm::LoadInst* load = nullptr;
  llvm::StoreInst* store = nullptr;
  if (block.size() > kLargest) return nullptr;
  for (llvm::Instruction& instruction : llvm::make_range(block.begin(), std::prev(block.end()))) {
    if (store != nullptr) return nullptr;
    if (auto* read = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      if (load != nullptr) return nullptr;
      load = read;
    } else if (auto* written = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      store = written;
    } else if (!llvm::isSafeToSpeculativelyExecute(&instruction)) {
      return nullptr;
    }
  }
  if (load == nullptr || store == nullptr || load->getPointerOperand() != store->getPointerOperand())
    return nullptr;
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(load->getPointerOperand());
  const auto* variable =
      address != nullptr ? llvm::dyn_cast<llvm::AllocaInst>(address->getPointerOperand()) : nullptr;
  if (variable == nullptr || !may_be_laid_out(*variable)) return nullptr;
  llvm::IRBuilder<> b(block.getContext());
  const Value* index = index_of(b, *address, *variable);
  const llvm::DataLayout& layout = block.getModule()->getDataLayout();
  const bool inside = llvm::computeKnownBits(index, layout).getMaxValue().ult(elements_of(*variable));
  return inside && is_element_access(*load, *address, *element_type(*variable)) &&
                 is_element_access(*store, *address, *element_type(*variable))
             ? store
             : nullptr;
}

}  // namespace

void store_always(llvm::Function& item_entry) {
  for (llvm::BasicBlock& block : item_entry) {
    llvm::BasicBlock *before = block.getSinglePredecessor(), *after = block.getSingleSuccessor();
    auto* branch = before != nullptr ? llvm::dyn_cast<llvm::BranchInst>(before->getTerminator()) : nullptr;
    if (branch == nullptr || !branch->isConditional() || after == nullptr) continue;
    const bool if_true = branch->getSuccessor(0) == &block;
    if (branch->getSuccessor(if_true ? 1 : 0) != after) continue;
    llvm::StoreInst* store = only_update(block);
    if (store == nullptr) continue;
    llvm::LoadInst* load = nullptr;
    while (&block.front() != block.getTerminator()) {
      llvm::Instruction& next = block.front();
      if (auto* read = llvm::dyn_cast<llvm::LoadInst>(&next)) load = read;
      next.moveBefore(*before, branch->getIterator());
    }
    llvm::IRBuilder<> b(store);
    Value *condition = branch->getCondition(), *value = store->getValueOperand();
    store->setOperand(
        0, if_true ? b.CreateSelect(condition, value, load) : b.CreateSelect(condition, load, value));
  }
}

Value* even_item_count(llvm::IRBuilderBase& b, Value* items) {
  return b.CreateAnd(b.CreateAdd(items, b.getInt64(kEvenItems - 1)), b.getInt64(~(kEvenItems - 1)));
}

bool ItemArrays::is_by_element(const llvm::AllocaInst& variable) { return variable.hasMetadata(kByElement); }

ItemArrays::ItemArrays(llvm::Function& item_entry, std::uint64_t room) {
  for (llvm::Instruction& instruction : llvm::instructions(item_entry))
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
        variable != nullptr && may_be_laid_out(*variable))
      arrays_.push_back(variable);
  if (arrays_.empty()) return;
  llvm::BasicBlock& entry = item_entry.getEntryBlock();
  llvm::IRBuilder<> b(&entry, entry.getFirstInsertionPt());
  Value* items = room != 0 ? b.getInt64(room) : items_of_group(b, item_entry);
  for (llvm::AllocaInst* variable : arrays_) {
    write_clearings(*variable);
    lower_alignment(*variable);
    variable->setMetadata(kByElement, llvm::MDNode::get(item_entry.getContext(), {}));
    llvm::SmallVector<llvm::GetElementPtrInst*, 16> before;
    for (llvm::User* user : variable->users())
      if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) before.push_back(address);
    for (llvm::GetElementPtrInst* address : before) {
      b.SetInsertPoint(address);
      Value* index = b.CreateSExtOrTrunc(index_of(b, *address, *variable), b.getInt64Ty());
      Value* behind = b.CreateMul(index, items, "", true, true);
      auto* now =
          b.Insert(llvm::GetElementPtrInst::CreateInBounds(element_type(*variable), variable, {behind}));
      address->replaceAllUsesWith(now);
      addresses_.emplace_back(now, address);
    }
  }
}

void ItemArrays::undo() {
  for (const auto& [now, before] : addresses_) {
    now->replaceAllUsesWith(before);
    now->eraseFromParent();
  }
  for (llvm::AllocaInst* variable : arrays_) variable->setMetadata(kByElement, nullptr);
}

}  // namespace kiln::cpu
