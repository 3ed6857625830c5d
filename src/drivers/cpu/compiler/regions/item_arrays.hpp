// SPDX-License-Identifier: MIT
// Private arrays of items that go through regions together, laid out so that neighbours have neighbouring
// places.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace kiln::cpu {

/// Lays small arrays, of which no more is done than reading and writing elements, out element by element:
/// what all items have in one place of theirs stands side by side. An element's address is then that of the
/// item's first one and a number of items for each element before: what items do with the same element
/// becomes one access of vectors. Others keep their elements together, item by item.
class ItemArrays {
 public:
  /// Changes addresses in `item_entry`, which only regions give the right memory for: see undo(). Such
  /// variables are told apart by is_by_element().
  /// With `room` arrays are for so many items, else for those of a group.
  explicit ItemArrays(llvm::Function& item_entry, std::uint64_t room = 0);
  /// Makes `item_entry` what it was.
  void undo();

  [[nodiscard]] static bool is_by_element(const llvm::AllocaInst& variable);

 private:
  std::vector<llvm::AllocaInst*> arrays_;
  std::vector<std::pair<llvm::Instruction*, llvm::Instruction*>> addresses_;  // now, and before
};

/// Where an item updates an element of such an array behind a branch, and nothing else is done there, it
/// stores what it has read where the branch is not taken: stores with a mask take some processors as long as
/// one after the other, and no processor hands on what they store to the next load.
void store_always(llvm::Function& item_entry);

/// Arrays are for a multiple of so many items, and their memory is aligned to as many bytes: so each of them
/// is.
inline constexpr std::uint64_t kEvenItems = 128;
/// How many items the arrays of a group have room for.
llvm::Value* even_item_count(llvm::IRBuilderBase& b, llvm::Value* items);

}  // namespace kiln::cpu
