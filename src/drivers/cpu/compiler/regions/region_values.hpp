// SPDX-License-Identifier: MIT
// Where the values of a kernel live when its regions are loops over work-items.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>

#include "drivers/cpu/compiler/regions/region_plan.hpp"

namespace kiln::cpu {

/// Arguments and what follows from them are found once, and what follows from ids in each region again:
/// cheaper than keeping it, and the vectorizer sees that neighbours access neighbouring places. Of the others
/// those that live across a cut are kept: once when they are the same for all items, else in an array with a
/// place an item, as are private variables.
class RegionValues {
 public:
  using Set = llvm::SetVector<const llvm::Instruction*>;
  struct Array {
    std::uint64_t offset;  ///< bytes an item of the arrays before
    std::uint64_t stride;  ///< bytes an item
  };

  /// `linear`: one loop goes round the first two dimensions, see LinearIds.
  RegionValues(llvm::Function& item_entry, const RegionPlan& plan, const Uniformity& uniformity, bool linear,
               Togetherness of = Togetherness::group);

  [[nodiscard]] const Set& once() const { return once_; }  ///< each behind what it follows from
  [[nodiscard]] bool is_made_anew(const llvm::Instruction& value) const {
    return once_.contains(&value) || again_.contains(&value);
  }
  [[nodiscard]] const Set& uniform() const { return uniform_; }
  /// Whether an item asks for its id in the second or third dimension, which has a loop of its own then.
  [[nodiscard]] bool knows_rows() const { return knows_rows_; }
  [[nodiscard]] bool has_array(const llvm::Instruction& value) const { return arrays_.count(&value) != 0; }
  [[nodiscard]] Array array(const llvm::Instruction& value) const { return arrays_.find(&value)->second; }
  [[nodiscard]] Array places() const {
    return places_;
  }  ///< where each item is, for regions with several exits

  /// False when an item keeps too much, or what cannot be kept.
  [[nodiscard]] bool fit() const { return fit_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }                  ///< of all arrays, an item
  [[nodiscard]] std::uint64_t private_bytes() const { return private_bytes_; }  ///< of it private variables

  /// Arrays of bits are not vectorized.
  static llvm::Type* stored_type(llvm::Type* type) {
    return type->isIntegerTy(1) ? llvm::Type::getInt8Ty(type->getContext()) : type;
  }

 private:
  void sort(const llvm::Instruction& value);
  [[nodiscard]] bool is_of_launch(const llvm::LoadInst& load) const;
  void reserve(const llvm::Instruction& value, llvm::Type* type, std::uint64_t alignment);
  Array reserve_bytes(std::uint64_t stride);

  llvm::Function& entry_;
  const llvm::DataLayout& layout_;
  Togetherness of_;
  Set once_, again_, uniform_;
  llvm::DenseMap<const llvm::Instruction*, Array> arrays_;
  Array places_{};
  std::uint64_t bytes_ = 0, private_bytes_ = 0;
  bool linear_, fit_ = true, knows_rows_ = false;
};

}  // namespace kiln::cpu
