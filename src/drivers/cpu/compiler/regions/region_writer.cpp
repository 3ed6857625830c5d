// SPDX-License-Identifier: MIT
// Writes each region as a loop over the work-items, and what leads from one to the next.
#include "drivers/cpu/compiler/regions/region_writer.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "drivers/cpu/compiler/lowering/item_loop.hpp"
#include "drivers/cpu/compiler/lowering/kernel_entry.hpp"
#include "drivers/cpu/compiler/lowering/linear_ids.hpp"
#include "drivers/cpu/compiler/regions/item_arrays.hpp"
#include "drivers/cpu/compiler/regions/region_collectives.hpp"
#include "drivers/cpu/compiler/regions/region_exchange.hpp"
#include "drivers/cpu/compiler/regions/region_plan.hpp"
#include "drivers/cpu/compiler/regions/region_values.hpp"
#include "drivers/cpu/runtime/collective.hpp"
#include "drivers/cpu/runtime/deadlock.hpp"
#include "drivers/cpu/runtime/group_run.hpp"

namespace kiln::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;
using Block = llvm::BasicBlock*;
using Values = llvm::ValueToValueMapTy;

constexpr std::size_t kLargestGrowth = 20'000;  // instructions of all regions
constexpr std::size_t kMostCollectives = 256;   // each pair of them costs time to plan
constexpr std::ptrdiff_t kMostExchanges = 64;   // each costs 3 ms to compile, with fibers a tenth of it

bool are_barriers_of_group(const std::vector<llvm::CallInst*>& collectives) {
  return std::ranges::all_of(
      collectives, [](const llvm::CallInst* call) { return !is_exchange(*call) && is_of_group(*call); });
}

class Writer {
 public:
  Writer(llvm::Function& from, llvm::Function& to, const RegionPlan& plan, const RegionValues& values,
         const LinearIds& linear, const LeftParameters& parameters, const OwnResults& results,
         std::uint32_t sub_group_size, const Uniformity* of_sub_groups, const UniformResults& known)
      : from_(from),
        to_(to),
        plan_(plan),
        values_(values),
        linear_(linear),
        parameters_(parameters),
        results_(results),
        sub_group_size_(sub_group_size),
        of_sub_groups_(of_sub_groups),
        known_results_(known),
        b_(llvm::BasicBlock::Create(to.getContext(), "entry", &to)),
        accesses_(llvm::MDNode::getDistinct(to.getContext(), {})) {}

  void write() {
    group_.map[from_.getArg(1)] = to_.getArg(1);
    group_.own = b_.GetInsertBlock();
    Value* launch = b_.CreateLoad(b_.getPtrTy(), to_.getArg(0));
    invariant(launch);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t offset = offsetof(LaunchState, local_size) + 8 * i;
      size_[i] =
          b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), launch, offset));
      invariant(size_[i]);
      promise_group_size(*llvm::cast<llvm::LoadInst>(size_[i]));
    }
    rows_ = b_.CreateMul(size_[1], size_[2]);
    if (linear_.well) {
      // One loop round both; no group has more items.
      size_[0] =
          b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateMul(size_[0], size_[1], "", true, true),
                                   b_.getInt64(std::numeric_limits<std::int32_t>::max()));
      rows_ = size_[2];
    }
    items_ = b_.CreateMul(size_[0], rows_);
    even_items_ = of_sub_groups_ != nullptr ? b_.getInt64(kEvenItems) : even_item_count(b_, items_);
    if (of_sub_groups_ == nullptr)
      for (const Instruction* value : values_.once()) make(*value, group_);
    for (const Instruction* value : values_.uniform()) uniform_[value] = b_.CreateAlloca(value->getType());
    for (const Region& region : plan_.regions)
      heads_[region.start] = llvm::BasicBlock::Create(to_.getContext(), "region", &to_);
    if (values_.bytes() != 0) take_memory();
    const Loop sub_groups = of_sub_groups_ != nullptr ? open_sub_groups() : Loop{};
    b_.CreateBr(heads_[plan_.regions[0].start]);
    for (const Region& region : plan_.regions) write(region);
    if (of_sub_groups_ == nullptr) return;
    b_.SetInsertPoint(end_);
    sub_groups.close(b_);
    b_.CreateRetVoid();
  }

 private:
  // What instructions of the kernel have become: in the whole group, or in a region's turn for one item.
  struct Scope {
    Values map;
    Block own = nullptr;  // where values that are made anew are put, before its terminator
    std::array<Value*, kFirstIdField + 1> fields{};  // of ItemState
    Value* index = nullptr;                          // linear local id; of sub-groups the lane
  };

  void invariant(Value* load) const {
    llvm::cast<Instruction>(load)->setMetadata(llvm::LLVMContext::MD_invariant_load,
                                               llvm::MDNode::get(to_.getContext(), {}));
  }

  llvm::FunctionCallee host(const char* name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> types) {
    llvm::FunctionCallee callee =
        to_.getParent()->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
    llvm::cast<llvm::Function>(callee.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
    return callee;
  }

  // Each goes through all regions before the next one.
  Loop open_sub_groups() {
    end_ = llvm::BasicBlock::Create(to_.getContext(), "end", &to_);
    Value* size = b_.getInt64(sub_group_size_);
    Value* count = b_.CreateUDiv(b_.CreateAdd(items_, b_.getInt64(sub_group_size_ - 1)), size);
    const Loop loop = Loop::open(b_, count);
    Value *first = b_.CreateMul(loop.index, size, "", true, true), *row = b_.CreateUDiv(first, size_[0]);
    lanes_ =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, size, b_.CreateSub(items_, first, "", true, true));
    group_.fields[2] = b_.CreateURem(row, size_[1]);
    group_.fields[3] = b_.CreateUDiv(row, size_[1]);
    group_.fields[kSubGroupField] = loop.index;
    group_.fields[kFirstIdField] = b_.CreateURem(first, size_[0]);
    group_.own = b_.GetInsertBlock();
    for (const Instruction* value : values_.once()) make(*value, group_);
    b_.SetInsertPoint(group_.own);
    return loop;
  }

  void take_memory() {
    Value* bytes = b_.CreateMul(even_items_, b_.getInt64(values_.bytes()));
    llvm::CallInst* memory = b_.CreateCall(
        host("kiln_item_memory", b_.getPtrTy(), {b_.getPtrTy(), b_.getInt64Ty()}), {to_.getArg(0), bytes});
    memory->addRetAttr(llvm::Attribute::NoAlias);
    memory->addRetAttr(llvm::Attribute::getWithAlignment(to_.getContext(), llvm::Align(kEvenItems)));
    memory_ = memory;
    Block none = llvm::BasicBlock::Create(to_.getContext(), "no_memory", &to_),
          some = llvm::BasicBlock::Create(to_.getContext(), "memory", &to_);
    b_.CreateCondBr(b_.CreateIsNull(memory_), none, some);
    llvm::IRBuilder<>(none).CreateRetVoid();
    b_.SetInsertPoint(some);
  }

  Value* begin_of(llvm::IRBuilder<>& b, RegionValues::Array place) {
    return b.CreateInBoundsGEP(b.getInt8Ty(), memory_,
                               b.CreateMul(even_items_, b.getInt64(place.offset), "", true, true));
  }

  Value* array_at(llvm::IRBuilder<>& b, RegionValues::Array place, const Scope& scope) {
    return b.CreateInBoundsGEP(b.getInt8Ty(), begin_of(b, place),
                               b.CreateMul(scope.index, b.getInt64(place.stride), "", true, true));
  }

  Value* load_item(llvm::IRBuilder<>& b, const Instruction& value, const Scope& scope) {
    llvm::Type* type = RegionValues::stored_type(value.getType());
    auto* load = b.CreateLoad(type, array_at(b, values_.array(value), scope));
    load->setMetadata(llvm::LLVMContext::MD_access_group, accesses_);
    return type == value.getType() ? static_cast<Value*>(load) : b.CreateTrunc(load, value.getType());
  }

  void store_item(llvm::IRBuilder<>& b, const Instruction& value, Value* what, const Scope& scope) {
    if (RegionValues::stored_type(value.getType()) != value.getType())
      what = b.CreateZExt(what, RegionValues::stored_type(value.getType()));
    auto* store = b.CreateStore(what, array_at(b, values_.array(value), scope));
    store->setMetadata(llvm::LLVMContext::MD_access_group, accesses_);
  }

  // Makes the operand in `scope`, when it is one of those made anew.
  void know(const Value* operand, Scope& scope) {
    const auto* value = llvm::dyn_cast<Instruction>(operand);
    if (value != nullptr && scope.map.count(value) == 0 && values_.is_made_anew(*value)) make(*value, scope);
  }

  void make(const Instruction& value, Scope& scope) {
    if (const auto found = group_.map.find(&value); found != group_.map.end()) {
      scope.map[&value] = found->second;
      return;
    }
    llvm::IRBuilder<> b(scope.own);
    if (Instruction* end = scope.own->getTerminator()) b.SetInsertPoint(end);
    if (const int field = item_field(value); field >= 0) {
      const bool is_none = linear_.well && field == 2;
      scope.map[&value] = field == 0 ? to_.getArg(0)
                          : is_none  ? b.getInt64(0)
                                     : scope.fields[static_cast<std::size_t>(field)];
    } else if (llvm::isa<llvm::AllocaInst>(value)) {
      scope.map[&value] = array_at(b, values_.array(value), scope);
    } else {
      for (const Value* operand : value.operands()) know(operand, scope);
      Instruction* copy = value.clone();
      llvm::RemapInstruction(copy, scope.map, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
      b.SetInsertPoint(scope.own);
      if (Instruction* end = scope.own->getTerminator()) b.SetInsertPoint(end);
      scope.map[&value] = b.Insert(copy);
      if (linear_.parts.contains(&value)) copy->dropPoisonGeneratingFlags();
    }
  }

  void write(const Region& region) {
    b_.SetInsertPoint(heads_[region.start]);
    Scope scope;
    scope.map[from_.getArg(1)] = to_.getArg(1);
    const auto& known = plan_.live.find(region.start)->second;
    // Before the first item's turn changes them.
    for (Instruction* value : known)
      if (uniform_.count(value) != 0) scope.map[value] = b_.CreateLoad(value->getType(), uniform_[value]);
    for (const auto& [load, parameter] : known_results_)
      if (of_sub_groups_->is_uniform(load) && load->getParent() == region.start)
        scope.map[load] = b_.CreateLoad(load->getType(), begin_of(b_, values_.array(result_of(*load))));
    const std::vector<Loop> loops = open_loops(scope);
    if (of_sub_groups_ != nullptr) {
      scope.index = scope.fields[kLaneField] = loops[0].index;
    } else {
      Value* row = loops[1].index;
      if (loops.size() > 2)
        row = b_.CreateAdd(b_.CreateMul(loops[2].index, size_[1], "", true, true), row, "", true, true);
      scope.index = b_.CreateAdd(b_.CreateMul(row, size_[0], "", true, true), loops[0].index, "", true, true);
      if (sub_group_size_ != 0) {
        scope.fields[kLaneField] = b_.CreateURem(scope.index, b_.getInt64(sub_group_size_));
        scope.fields[kSubGroupField] = b_.CreateUDiv(scope.index, b_.getInt64(sub_group_size_));
      }
    }
    scope.own = b_.GetInsertBlock();
    for (const Instruction* value : known)
      if (values_.has_array(*value) && !values_.is_made_anew(*value))
        scope.map[value] = load_item(b_, *value, scope);

    Block latch = llvm::BasicBlock::Create(to_.getContext(), "latch", &to_);
    write_body(region, scope, latch);
    b_.SetInsertPoint(latch);
    llvm::BranchInst* turn = loops[0].close(b_);
    if (region.blocks.size() == 1 && of_sub_groups_ == nullptr && meets_exchange(region))
      describe_loop(*turn, {keep_scalar()});
    else
      promise_independence(*turn, accesses_);
    for (std::size_t i = 1; i < loops.size(); ++i) loops[i].close(b_);
    leave(region);
  }

  // What stands beside an exchange mostly takes less than it does, and vectors of it most of a compilation.
  bool meets_exchange(const Region& region) const {
    const auto exchanges = [&](Block cut) {
      const auto found = plan_.cuts.find(cut);
      return found != plan_.cuts.end() && found->second != nullptr && is_exchange(*found->second);
    };
    return exchanges(region.start->getSinglePredecessor()) || llvm::any_of(region.exits, exchanges);
  }

  llvm::Metadata* keep_scalar() const {
    llvm::LLVMContext& context = to_.getContext();
    return llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.vectorize.enable"),
                                       llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(context))});
  }

  // Around the first dimension one loop for each other, or one for both where the kernel tells them not
  // apart: each loop costs time to compile.
  std::vector<Loop> open_loops(Scope& scope) {
    if (of_sub_groups_ != nullptr) return {Loop::open(b_, lanes_)};
    std::vector<Loop> loops(values_.knows_rows() ? 3 : 2);
    for (std::size_t i = loops.size(); i-- > 0;) {
      loops[i] = Loop::open(b_, loops.size() == 2 && i == 1 ? rows_ : size_[i]);
      scope.fields[i + 1] = loops[i].index;
    }
    return loops;
  }

  // Values that are known before the region and that it finds anew, as in loops, go through a variable.
  struct Carried {
    Instruction* value;
    llvm::AllocaInst* variable;
  };

  void write_body(const Region& region, Scope& scope, Block latch) {
    std::vector<Carried> carried;
    llvm::DenseMap<const Value*, llvm::AllocaInst*> variables;
    for (Instruction* value : plan_.live.find(region.start)->second) {
      if (values_.is_made_anew(*value) || !region.blocks.contains(value->getParent())) continue;
      llvm::IRBuilder<> entry(&to_.getEntryBlock(), to_.getEntryBlock().begin());
      llvm::AllocaInst* variable = entry.CreateAlloca(value->getType());
      b_.CreateStore(scope.map[value], variable);
      variables[value] = variable;
      carried.push_back({value, variable});
    }
    for (Block block : region.blocks)
      scope.map[block] = llvm::BasicBlock::Create(to_.getContext(), block->getName(), &to_);
    for (Block cut : region.exits)
      if (cut != nullptr) scope.map[cut] = llvm::BasicBlock::Create(to_.getContext(), "cut", &to_);
    Block end =
        region.exits.contains(nullptr) ? llvm::BasicBlock::Create(to_.getContext(), "end", &to_) : nullptr;
    b_.CreateBr(block_in(region.start, scope));

    std::vector<Instruction*> copies;
    for (Block block : region.blocks)
      for (Instruction& instruction : *block)
        if (Instruction* copy = copy_of(instruction, block_in(block, scope), end, scope)) {
          if (auto* phi = llvm::dyn_cast<llvm::PHINode>(copy))
            for (unsigned i = phi->getNumIncomingValues(); i-- > 0;)
              if (!region.blocks.contains(phi->getIncomingBlock(i))) phi->removeIncomingValue(i, false);
          for (llvm::Use& use : copy->operands()) {
            know(use.get(), scope);
            const auto found = variables.find(use.get());
            if (found == variables.end()) continue;
            // A phi takes its value where it comes from, whose end is not written yet.
            auto* phi = llvm::dyn_cast<llvm::PHINode>(copy);
            if (phi != nullptr)
              late_.push_back({&use, block_in(phi->getIncomingBlock(use), scope), found->second});
            if (phi == nullptr) use.set(load_before(*copy, *found->second));
          }
          copies.push_back(copy);
        }
    for (const auto& [use, block, variable] : late_)
      use->set(load_before(*block->getTerminator(), *variable));
    late_.clear();
    for (const auto& [value, variable] : carried) {
      auto* copy = llvm::cast<Instruction>(scope.map[value]);
      llvm::IRBuilder<> b(copy->getParent());
      if (llvm::isa<llvm::PHINode>(copy))
        b.SetInsertPoint(copy->getParent(), copy->getParent()->getFirstInsertionPt());
      else
        b.SetInsertPoint(copy->getNextNode());
      b.CreateStore(copy, variable);
    }
    for (Instruction* copy : copies)
      llvm::RemapInstruction(copy, scope.map, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    for (Block cut : region.exits) {
      b_.SetInsertPoint(cut != nullptr ? block_in(cut, scope) : end);
      if (cut != nullptr)
        for (Instruction* value : plan_.live.find(cut)->second) keep(*value, region, scope, variables);
      if (region.exits.size() > 1)
        b_.CreateStore(b_.getInt32(place_of(cut)), array_at(b_, values_.places(), scope))
            ->setMetadata(llvm::LLVMContext::MD_access_group, accesses_);
      b_.CreateBr(latch);
    }
  }

  /// What all items of a sub-group get from an exchange, and find at their region's begin.
  bool is_known(const Instruction& instruction) const {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    return load != nullptr && known_results_.count(load) != 0 && of_sub_groups_->is_uniform(load);
  }
  static const llvm::AllocaInst& result_of(const llvm::LoadInst& load) {
    return *llvm::cast<llvm::AllocaInst>(llvm::getUnderlyingObject(load.getPointerOperand()));
  }

  Block block_in(Block block, Scope& scope) { return llvm::cast<llvm::BasicBlock>(scope.map[block]); }

  static Value* load_before(Instruction& user, llvm::AllocaInst& variable) {
    return llvm::IRBuilder<>(&user).CreateLoad(variable.getAllocatedType(), &variable);
  }

  Instruction* copy_of(Instruction& instruction, Block where, Block end, Scope& scope) {
    if (values_.is_made_anew(instruction) || instruction.isLifetimeStartOrEnd() || is_known(instruction) ||
        llvm::is_contained(instruction.operands(), from_.getArg(0)))
      return nullptr;
    llvm::IRBuilder<> b(where);
    if (llvm::isa<llvm::ReturnInst>(instruction)) return b.CreateBr(end);
    Instruction* copy = b.Insert(instruction.clone());
    scope.map[&instruction] = copy;
    if (linear_.parts.contains(&instruction)) copy->dropPoisonGeneratingFlags();
    if (simple_access(*copy) != nullptr) copy->setMetadata(llvm::LLVMContext::MD_access_group, accesses_);
    return copy;
  }

  void keep(const Instruction& value, const Region& region, Scope& scope,
            llvm::DenseMap<const Value*, llvm::AllocaInst*>& variables) {
    if (values_.is_made_anew(value) || !region.blocks.contains(const_cast<Block>(value.getParent()))) return;
    const auto variable = variables.find(&value);
    Value* now = variable != variables.end() ? b_.CreateLoad(value.getType(), variable->second)
                                             : static_cast<Value*>(scope.map[&value]);
    if (const auto slot = uniform_.find(&value); slot != uniform_.end())
      b_.CreateStore(now, slot->second);
    else
      store_item(b_, value, now, scope);
  }

  std::uint32_t place_of(Block cut) const {
    if (cut == nullptr) return kEnded;
    const llvm::CallInst* collective = plan_.cuts.find(cut)->second;
    if (collective != nullptr)
      return static_cast<std::uint32_t>(
          llvm::cast<llvm::ConstantInt>(collective->getArgOperand(CollectiveOperand::place))->getZExtValue());
    // Of no collective, and never told: all items come to such a branch.
    return kGroupPlace -
           2 * (1 + static_cast<std::uint32_t>(std::distance(from_.begin(), cut->getIterator())));
  }

  void go_to(Block cut) {
    if (cut == nullptr) {
      end_ != nullptr ? static_cast<void>(b_.CreateBr(end_)) : static_cast<void>(b_.CreateRetVoid());
      return;
    }
    if (const llvm::CallInst* collective = plan_.cuts.find(cut)->second;
        collective != nullptr && is_exchange(*collective))
      exchange(*collective);
    auto* branch = llvm::cast<llvm::BranchInst>(cut->getTerminator());
    if (branch->isUnconditional()) {
      keep_rolled(cut, b_.CreateBr(heads_[branch->getSuccessor(0)]));
      return;
    }
    Value* condition = branch->getCondition();
    if (auto* value = llvm::dyn_cast<Instruction>(condition))
      condition = uniform_.count(value) != 0 ? b_.CreateLoad(value->getType(), uniform_[value])
                                             : static_cast<Value*>(group_.map[value]);
    keep_rolled(cut,
                b_.CreateCondBr(condition, heads_[branch->getSuccessor(0)], heads_[branch->getSuccessor(1)]));
  }

  /// Whether nobody looks for the result elsewhere than with the first item.
  bool is_known_to_all(const llvm::AllocaInst& result) const {
    return llvm::all_of(result.users(), [&](const llvm::User* user) {
      if (llvm::isa<llvm::GetElementPtrInst>(user))
        return llvm::all_of(user->users(), [&](const llvm::User* access) {
          return is_known(*llvm::cast<Instruction>(access));
        });
      return is_known(*llvm::cast<Instruction>(user));
    });
  }

  /// The value of the item that all of a sub-group ask for; of the first one, where that is not there.
  void gather_one(const llvm::CallInst& collective, Value* values, Value* result, Value* parameters) {
    Value* wanted = collective.getArgOperand(CollectiveOperand::parameter);
    if (parameters != nullptr) wanted = b_.CreateLoad(b_.getInt64Ty(), parameters);
    wanted = b_.CreateSelect(b_.CreateICmpULT(wanted, lanes_), wanted, b_.getInt64(0));
    llvm::Type* type = value_of(collective)->getAllocatedType();
    b_.CreateStore(b_.CreateLoad(type, b_.CreateInBoundsGEP(type, values, {wanted})), result);
  }

  // All items have come, and left their values.
  void exchange(const llvm::CallInst& collective) {
    const RegionValues::Array values = values_.array(*value_of(collective));
    const auto parameters = parameters_.find(&collective);
    const std::uint32_t members = is_of_group(collective) ? 0 : sub_group_size_;
    if (const auto result = results_.find(&collective); result != results_.end()) {
      Value* first = parameters == parameters_.end() ? llvm::Constant::getNullValue(b_.getPtrTy())
                                                     : begin_of(b_, values_.array(*parameters->second));
      Value* to = begin_of(b_, values_.array(*result->second));
      if (of_sub_groups_ != nullptr && is_gather(collective) && is_known_to_all(*result->second)) {
        gather_one(collective, begin_of(b_, values), to, parameters == parameters_.end() ? nullptr : first);
        return;
      }
      b_.CreateCall(&exchange_function(collective, members, parameters != parameters_.end()),
                    {begin_of(b_, values), to, first, collective.getArgOperand(CollectiveOperand::parameter),
                     of_sub_groups_ != nullptr ? lanes_ : items_});
      return;
    }
    Value* list[] = {to_.getArg(0),
                     collective.getArgOperand(CollectiveOperand::what),
                     begin_of(b_, values),
                     b_.getInt64(values.stride),
                     parameters == parameters_.end() ? llvm::Constant::getNullValue(b_.getPtrTy())
                                                     : begin_of(b_, values_.array(*parameters->second)),
                     collective.getArgOperand(CollectiveOperand::parameter),
                     collective.getArgOperand(CollectiveOperand::combine),
                     b_.getInt64(members)};
    std::array<llvm::Type*, std::size(list)> types{};
    std::ranges::transform(list, types.begin(), [](const Value* value) { return value->getType(); });
    b_.CreateCall(host("kiln_exchange", b_.getVoidTy(), types), list);
  }

  // A loop of the kernel that goes round loops over items: eight turns of it in one took most of a
  // compilation. What is no end of a loop loses nothing, and the ends of one loop, if they are several, must
  // say the same.
  void keep_rolled(Block cut, llvm::BranchInst* branch) {
    llvm::MDNode*& told = rolled_[cut];
    if (told == nullptr) {
      describe_loop(*branch);
      told = branch->getMetadata(llvm::LLVMContext::MD_loop);
    }
    branch->setMetadata(llvm::LLVMContext::MD_loop, told);
  }

  void leave(const Region& region) {
    if (region.exits.empty()) {
      b_.CreateUnreachable();  // a loop without an end
      return;
    }
    if (region.exits.size() == 1) return go_to(region.exits[0]);
    Value* places = begin_of(b_, values_.places());
    Value* place = b_.CreateCall(host("kiln_agree", b_.getInt32Ty(), {b_.getPtrTy(), b_.getPtrTy()}),
                                 {to_.getArg(0), places});
    Block hung = llvm::BasicBlock::Create(to_.getContext(), "hung", &to_);
    llvm::IRBuilder<>(hung).CreateRetVoid();
    llvm::SwitchInst* choice = b_.CreateSwitch(place, hung);
    for (Block cut : region.exits) {
      Block way = llvm::BasicBlock::Create(to_.getContext(), "way", &to_);
      choice->addCase(b_.getInt32(place_of(cut)), way);
      b_.SetInsertPoint(way);
      go_to(cut);
    }
  }

  llvm::Function &from_, &to_;
  const RegionPlan& plan_;
  const RegionValues& values_;
  const LinearIds& linear_;
  const LeftParameters& parameters_;
  const OwnResults& results_;
  std::uint32_t sub_group_size_;
  const Uniformity* of_sub_groups_;  // null: regions are of all items of a group
  const UniformResults& known_results_;
  llvm::IRBuilder<> b_;
  llvm::MDNode* accesses_;
  llvm::DenseMap<const Instruction*, llvm::AllocaInst*> uniform_;  // kept once for all items
  std::array<Value*, 3> size_{};
  Value* lanes_ = nullptr;  // items of the sub-group
  Block end_ = nullptr;     // of a sub-group
  Value *rows_ = nullptr, *items_ = nullptr, *even_items_ = nullptr, *memory_ = nullptr;
  Scope group_;
  llvm::DenseMap<Block, Block> heads_;
  llvm::DenseMap<Block, llvm::MDNode*> rolled_;  // by cut
  struct Late {
    llvm::Use* use;
    Block block;
    llvm::AllocaInst* variable;
  };
  std::vector<Late> late_;
};

}  // namespace

bool may_have_regions(llvm::Function& item_entry, bool counted) {
  if (item_entry.getInstructionCount() > kLargestGrowth || has_grid_barrier(item_entry)) return false;
  const auto collectives = find_collectives(item_entry);
  if (!collectives || collectives->size() > kMostCollectives) return false;
  // The recorder follows a sub-group from its begin to its end.
  if (counted && !are_barriers_of_group(*collectives)) return false;
  return std::ranges::count_if(*collectives, [](const auto* call) { return is_exchange(*call); }) <=
         kMostExchanges;
}

namespace {

/// An item entry's collectives, with what items bring and find there in variables of its own.
struct Exchanged {
  std::vector<llvm::CallInst*> collectives;
  LeftParameters parameters;
  OwnResults results;

  /// Nothing when not all collectives are known.
  static std::optional<Exchanged> of(llvm::Function& item_entry) {
    auto collectives = find_collectives(item_entry);
    if (!collectives) return std::nullopt;
    llvm::stripDebugInfo(item_entry);
    llvm::removeUnreachableBlocks(item_entry);
    LeftParameters parameters = leave_parameters(*collectives);
    OwnResults results = part_results(*collectives);
    return Exchanged{std::move(*collectives), std::move(parameters), std::move(results)};
  }
};

}  // namespace

bool write_regions(llvm::Function& item_entry, const std::string& symbol, KernelFacts& facts) {
  const auto exchanged = Exchanged::of(item_entry);
  if (!exchanged) return false;
  const auto& collectives = exchanged->collectives;
  const auto& parameters = exchanged->parameters;
  const auto& results = exchanged->results;
  ItemArrays arrays(item_entry);
  const auto leave = [&] {
    take_back(parameters, collectives);
    arrays.undo();
    join_results(results);
    return false;
  };
  set_apart(collectives);
  const Uniformity uniformity(item_entry);
  // Who waits in vain for a work-group barrier is found at it. What else items wait for must be sure to come.
  const auto come_together = [&](const llvm::CallInst* call) {
    return uniformity.is_together(call->getParent());
  };
  if (!are_barriers_of_group(collectives) && !std::ranges::all_of(collectives, come_together)) return leave();
  const RegionPlan plan = plan_regions(item_entry, collectives, uniformity);
  std::size_t instructions = 0;
  for (const Region& region : plan.regions)
    for (const Block block : region.blocks) instructions += block->size();
  const LinearIds linear = find_linear_ids(item_entry);
  const RegionValues values(item_entry, plan, uniformity, linear.well);
  if (instructions > kLargestGrowth || !values.fit()) return leave();
  llvm::Module& module = *item_entry.getParent();
  auto* group_entry = llvm::Function::Create(item_entry.getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                             symbol, module);
  group_entry->setAttributes(item_entry.getAttributes());
  Writer(item_entry, *group_entry, plan, values, linear, parameters, results, facts.simd_size, nullptr,
         UniformResults())
      .write();
  facts.private_size = static_cast<std::uint32_t>(values.private_bytes());
  item_entry.eraseFromParent();
  return true;
}

bool write_sub_group_regions(llvm::Function& item_entry, const std::string& symbol, KernelFacts& facts) {
  const auto exchanged = Exchanged::of(item_entry);
  if (!exchanged) return false;
  const auto& collectives = exchanged->collectives;
  const auto& parameters = exchanged->parameters;
  const auto& results = exchanged->results;
  if (llvm::any_of(collectives,
                   [&](const auto* call) { return is_exchange(*call) && results.count(call) == 0; }))
    return false;
  const ItemArrays arrays(item_entry, kEvenItems);
  set_apart(collectives);
  const UniformResults known = uniform_results(results, parameters);
  const Uniformity uniformity(item_entry, Togetherness::sub_group, known);
  if (!std::ranges::all_of(collectives,
                           [&](const auto* call) { return uniformity.is_together(call->getParent()); }))
    return false;
  const RegionPlan plan = plan_regions(item_entry, collectives, uniformity);
  std::size_t instructions = 0;
  for (const Region& region : plan.regions) {
    for (const Block block : region.blocks) instructions += block->size();
    if (region.exits.size() > 1) return false;
  }
  const RegionValues values(item_entry, plan, uniformity, /*linear=*/false, Togetherness::sub_group);
  if (instructions > kLargestGrowth || !values.fit()) return false;
  auto* group_entry = llvm::Function::Create(item_entry.getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                             symbol, *item_entry.getParent());
  group_entry->setAttributes(item_entry.getAttributes());
  const LinearIds none;
  Writer(item_entry, *group_entry, plan, values, none, parameters, results, facts.simd_size, &uniformity,
         known)
      .write();
  facts.private_size = static_cast<std::uint32_t>(values.private_bytes());
  return true;
}

}  // namespace kiln::cpu
