// SPDX-License-Identifier: MIT
// Writes what each lane does alone where lanes part.
#pragma once

#include "drivers/cpu/compiler/lanes/lane_writer.hpp"

namespace kiln::cpu {

/// The blocks between the branch and where all ways meet again, once more and for one lane at a time, in a
/// loop over the lanes. Vectors go there and back through memory, an element a lane.
class LaneWriter::Alone {
 public:
  Alone(LaneWriter& writer, llvm::BasicBlock& block, const LaneShapes::Parting& parting);
  /// From the writer's place on; `condition` holds the branch's in each lane, which is the same in all only
  /// with `may_be_all_alike`.
  void write(Value* condition, bool may_be_all_alike);

 private:
  void find_needed();
  void need(Value* value);
  [[nodiscard]] bool is_carried(const Value* value) const;
  Value* store_vector(Value* vector);
  Value* load_vector(llvm::AllocaInst* variable, llvm::Type* element);
  Value* element(llvm::IRBuilder<>& b, Value* array, llvm::Type* type);
  Value* known_before(llvm::IRBuilder<>& b, Value* value);
  void copy_blocks();
  Value* value_at_end(Value* value, Block end);
  llvm::Type* stored(llvm::Type* type) { return type->isIntegerTy(1) ? w_.b_.getInt8Ty() : type; }

  LaneWriter& w_;
  llvm::BasicBlock& block_;
  const LaneShapes::Parting& parting_;
  llvm::SetVector<Value*> needed_;         // known before the branch, and used behind it
  llvm::DenseMap<Value*, Value*> arrays_;  // of those that vary
  llvm::DenseMap<Value*, llvm::AllocaInst*>
      slots_;                                // of those that are found anew in a loop around the branch
  llvm::DenseMap<Value*, Value*> at_first_;  // what the lane knows of those
  Values map_;
  Value* lane_ = nullptr;
  Block head_ = nullptr, done_ = nullptr;
};

}  // namespace kiln::cpu
