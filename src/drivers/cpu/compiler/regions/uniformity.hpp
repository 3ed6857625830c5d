// SPDX-License-Identifier: MIT
// Which values are the same for all work-items of a group, and which blocks all of them come to together.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace kiln::cpu {

/// The number of an ItemState's field that `load` reads from the item entry's first argument: 0 the group, 1
/// to 3 the local id, then those of kLaneField on; -1 when it is no such load.
int item_field(const llvm::Instruction& load);
inline constexpr int kLaneField = 4, kSubGroupField = 5, kFirstIdField = 6;

/// Of whom a value is to be the same, and who come to a block together.
enum class Togetherness : std::uint8_t {
  group,
  sub_group,  ///< and each has its items in one row
};
/// Whether all of them have the same in such a field.
inline bool is_shared(int field, Togetherness of) {
  return field == 0 || (of == Togetherness::sub_group && field > 1 && field != kLaneField);
}
/// Loads of what an exchange gave, which are the same for all if what they go by is: what is stored in the
/// variable; null: they are.
using UniformResults = llvm::DenseMap<const llvm::LoadInst*, const llvm::AllocaInst*>;

/// Of an item entry (see kernel_entry.hpp). Errs on the side of divergence: what memory holds may differ from
/// item to item, except arguments, the launch and constant memory.
class Uniformity {
 public:
  using Blocks = llvm::SetVector<llvm::BasicBlock*>;

  explicit Uniformity(llvm::Function& item_entry, Togetherness of = Togetherness::group,
                      const UniformResults& results = UniformResults());

  [[nodiscard]] bool is_uniform(const llvm::Value* value) const { return !divergent_.contains(value); }
  [[nodiscard]] bool is_together(const llvm::BasicBlock* block) const { return !apart_.contains(block); }
  /// The blocks that may run between the end of `block` and where all ways from there meet again.
  [[nodiscard]] Blocks between(llvm::BasicBlock& block) const;

 private:
  void mark(const llvm::Value* value);
  void mark_branch(llvm::BasicBlock& block);
  [[nodiscard]] bool is_known_result(const llvm::Instruction& instruction) const;
  [[nodiscard]] bool is_source(const llvm::Instruction& instruction) const;

  llvm::PostDominatorTree after_;
  Togetherness of_;
  UniformResults results_;
  llvm::DenseSet<const llvm::Value*> divergent_;
  llvm::DenseSet<const llvm::BasicBlock*> apart_;
  std::vector<const llvm::Value*> open_;
};

}  // namespace kiln::cpu
