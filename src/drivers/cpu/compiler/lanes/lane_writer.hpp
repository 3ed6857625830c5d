// SPDX-License-Identifier: MIT
// Writes blocks of a kernel for several work-items at once, with a lane of a vector for each.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <map>
#include <optional>

#include "drivers/cpu/compiler/lanes/lane_shapes.hpp"

namespace kiln::cpu {

/// Nothing is done that the kernel would not do: all lanes go the same way as long as they agree, and each
/// alone where they do not. Where an address cannot be told from that of the first lane, running tells
/// whether lanes read neighbouring places, or all the same.
class LaneWriter {
 public:
  /// Vectors of what stands outside of the blocks go to the end of `before`, which dominates what is written.
  /// `exchanges_16`: whether the processor compares and exchanges 16 bytes.
  LaneWriter(llvm::Function& function, const LaneShapes& shapes, const llvm::DominatorTree& tree,
             unsigned lanes, llvm::BasicBlock& before, bool exchanges_16);

  /// Whether the recorder is told of an access or a barrier by this call.
  [[nodiscard]] static bool is_counting(const llvm::Instruction& instruction);
  /// Whether all of it can be written. `independent`: whether work-items may make an access in any order.
  /// `most_copied`: instructions that lanes may do alone.
  [[nodiscard]] static bool can_write(const LaneShapes& shapes, std::size_t most_copied,
                                      llvm::function_ref<bool(const llvm::Instruction&)> independent);

  /// Whether the first and the last lane tell of each branch whether all lanes take it.
  [[nodiscard]] static bool agrees_by_ends(const LaneShapes& shapes);

  /// `first` is what `value` is in the first lane.
  void seed(const llvm::Value& value, llvm::Value* first) { first_[&value] = first; }
  /// All but the end of the last block, which is the caller's.
  void write();
  /// When what was written has its place between other blocks.
  void end();

  [[nodiscard]] llvm::BasicBlock* begin_of(const llvm::BasicBlock& block) { return begins_.lookup(&block); }
  [[nodiscard]] llvm::BasicBlock* end_of(const llvm::BasicBlock& block) { return ends_.lookup(&block); }
  /// What `value` is in one lane, for a block that follows.
  llvm::Value* in_lane(llvm::IRBuilder<>& b, const llvm::Value& value, unsigned lane);

 private:
  using Value = llvm::Value;
  using Block = llvm::BasicBlock*;
  using Values = llvm::ValueToValueMapTy;

  void find_lazy();
  void no_longer_lazy(const Value* value);
  [[nodiscard]] bool may_be_lazy(const llvm::Instruction& value) const;
  void write(const llvm::Instruction& instruction);
  void write_phi(const llvm::PHINode& phi);
  void write_vector(const llvm::Instruction& instruction);
  [[nodiscard]] bool is_quick_division(const llvm::BinaryOperator& division) const;
  Value* quotient(const llvm::BinaryOperator& division);
  Value* answer(const llvm::Instruction& question);
  void write_lanes(const llvm::Instruction& instruction);
  void write_counted(const llvm::CallInst& access);
  void write_meeting(const llvm::CallInst& call);
  void write_counted(const llvm::CallInst& access, llvm::SmallVector<Value*, 8> arguments, Value* addresses,
                     Value* step);
  Value* call_run_time(llvm::StringRef name, llvm::ArrayRef<Value*> arguments);
  llvm::AllocaInst* variable(llvm::Type* type);
  /// Whether `value` is found before a loop that is written now, and stays the same in it.
  [[nodiscard]] bool is_before_loop(const Value& value) const;
  Value* kept_in_lane(llvm::IRBuilder<>& b, const Value& value, unsigned lane);
  void write_load(const llvm::LoadInst& load);
  void write_store(const llvm::StoreInst& store);
  void write_update(const llvm::AtomicRMWInst& update);
  Value* add_deferred(Value* first, Value* operands);
  void write_end(llvm::BasicBlock& block);
  void write_parting(llvm::BasicBlock& block, const LaneShapes::Parting& parting);
  void finish_phis();
  /// Whether all lanes say yes, and whether all say no.
  struct Votes {
    Value *all, *none;
  };
  /// By what the first and the last lane have; nothing where only vectors tell. Lanes of which neither is
  /// said may agree all the same.
  std::optional<Votes> votes_by_ends(const Value& condition);
  [[nodiscard]] static bool can_vote_by_ends(const LaneShapes& shapes, const Value& condition,
                                             unsigned depth = 0);
  Votes votes_of_compare(const llvm::ICmpInst& compare);
  /// Puts the vectors that a branch alone asks for where lanes part.
  void move_condition(const Value& condition, llvm::BasicBlock& to);

  /// Of a branch at which lanes part: all that each does alone.
  class Alone;

  [[nodiscard]] Value* scalar(const Value& value);
  Value* wide(const Value& value);
  void set_wide(const llvm::Instruction& value, Value* vector) { wide_[&value] = vector; }
  [[nodiscard]] llvm::Type* wide_type(llvm::Type* type) const {
    return llvm::FixedVectorType::get(type, lanes_);
  }
  Block new_block() { return llvm::BasicBlock::Create(function_.getContext(), "lanes", &function_); }

  /// What tells all lanes' addresses apart: bytes of `scale` for each unit of `root`.
  struct Root {
    const Value* value;
    std::uint64_t scale;
  };
  [[nodiscard]] Root root_of(const Value& address) const;
  /// The address that the recorder was asked about, and its word that all lanes are to access it; else
  /// `address` itself, and null.
  [[nodiscard]] std::pair<const Value*, Value*> asked_about(const Value& address) const;
  /// Whether lanes access places that are `step` bytes apart: known, to be seen by running, or null: not.
  Value* are_apart(const Value& address, std::uint64_t step);
  /// Whether each lane's is `step` more than the one before.
  Value* steps_by(const Value& root, std::uint64_t step);
  /// The same where one lane's value tells; else null.
  Value* steps_unless_wrapped(const Value& root, std::uint64_t step);
  /// Right behind the instruction that `value` is, if it is one.
  static void go_behind(llvm::IRBuilder<>& b, Value& value);
  [[nodiscard]] static bool is_plain(const llvm::Type* type);

  llvm::Function& function_;
  const LaneShapes& shapes_;
  const llvm::DominatorTree& tree_;
  const unsigned lanes_;
  llvm::BasicBlock& before_;
  const bool exchanges_16_;
  const llvm::DataLayout& layout_;
  const llvm::LoopInfo loops_;
  llvm::IRBuilder<> b_;
  const llvm::BasicBlock* now_ = nullptr;  // which is written
  llvm::DenseMap<const Value*, Value*> first_, wide_;
  llvm::DenseSet<const Value*> lazy_;  // addresses that each lane finds where it needs them
  std::map<std::pair<const Value*, std::uint64_t>, Value*> steps_;
  std::map<std::pair<const Value*, const Value*>, Value*> quotients_;
  llvm::DenseMap<const llvm::BasicBlock*, Block> begins_, ends_;
  std::map<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, Block> edges_;
  struct Arrival {
    Block from;
    llvm::DenseMap<const llvm::PHINode*, Value*> values;
  };
  std::map<const llvm::BasicBlock*, std::vector<Arrival>> arrivals_;  // of lanes that went alone, by join
  std::vector<llvm::AllocaInst*> slots_;
  llvm::DenseMap<const Value*, llvm::AllocaInst*> kept_;
  llvm::DenseMap<const Value*, Value*> as_asked_;               // by call of the recorder
  llvm::AllocaInst *addresses_ = nullptr, *numbers_ = nullptr;  // of accesses that are counted
};

}  // namespace kiln::cpu
