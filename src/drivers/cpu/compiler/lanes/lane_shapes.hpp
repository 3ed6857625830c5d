// SPDX-License-Identifier: MIT
// How values differ between neighbouring work-items that run in lock-step, and where their ways may part.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>

namespace kiln::cpu {

/// Lanes are work-items with consecutive ids.
struct LaneShape {
  enum class Kind : std::uint8_t {
    uniform,  ///< the same in all lanes
    linear,   ///< `stride` more (of pointers: bytes) from lane to lane, modulo the type's width
    strided,  ///< the same with a stride that only running tells
    varying,
  };
  Kind kind = Kind::uniform;
  std::uint64_t stride = 0;

  [[nodiscard]] bool is_uniform() const { return kind == Kind::uniform; }
  /// Whether the value of the first lane tells all others.
  [[nodiscard]] bool has_first() const { return kind <= Kind::linear; }
  bool operator==(const LaneShape&) const = default;
};

/// What is asked of all lanes about `x / y`, with `y` the same in all and `x` one more from lane to lane:
/// whether they have one quotient, and where they have, that and the remainder.
enum class LaneQuestion : std::uint8_t { none, one_quotient, quotient, remainder };
inline constexpr llvm::StringLiteral kOneQuotientFunction = "kiln.one_quotient",
                                     kQuotientFunction = "kiln.quotient",
                                     kRemainderFunction = "kiln.remainder";
LaneQuestion lane_question(const llvm::Value& value);

/// Of blocks with one entry, taken by all lanes together. Where lanes disagree at a branch each of them goes
/// its own way alone, up to where all ways from there meet; so only what is told apart by phis there differs
/// by the way that a lane took.
class LaneShapes {
 public:
  using Blocks = llvm::SetVector<llvm::BasicBlock*>;
  /// A branch that lanes may take differently.
  struct Parting {
    llvm::BasicBlock* join = nullptr;
    Blocks blocks;  ///< that may run before the join
  };

  /// `blocks` in reverse post-order; `last` is the one whose end is not part of what the lanes do, or null.
  /// With `numbers`, what it knows of values as they go round `items`, whose turns the lanes are.
  LaneShapes(const Blocks& blocks, const llvm::DenseMap<const llvm::Value*, LaneShape>& seeds,
             const llvm::PostDominatorTree& after, const llvm::BasicBlock* last,
             llvm::ScalarEvolution* numbers = nullptr, const llvm::Loop* items = nullptr);

  [[nodiscard]] LaneShape of(const llvm::Value* value) const;
  [[nodiscard]] bool contains(const llvm::BasicBlock* block) const {
    return blocks_.contains(const_cast<llvm::BasicBlock*>(block));
  }
  [[nodiscard]] const Blocks& blocks() const { return blocks_; }
  [[nodiscard]] const llvm::BasicBlock* last() const { return last_; }
  /// Null: all lanes take the branch at the end of `block` together.
  [[nodiscard]] const Parting* parting(const llvm::BasicBlock* block) const {
    const auto found = partings_.find(const_cast<llvm::BasicBlock*>(block));
    return found == partings_.end() ? nullptr : &found->second;
  }
  /// False when lanes may part and never meet, or what each found alone is asked for elsewhere than in phis.
  [[nodiscard]] bool well() const;

 private:
  bool step();
  [[nodiscard]] LaneShape find(const llvm::Instruction& value) const;
  [[nodiscard]] LaneShape find_phi(const llvm::PHINode& phi) const;
  [[nodiscard]] bool leaves_loop(const llvm::PHINode& phi) const;
  [[nodiscard]] LaneShape find_address(const llvm::GetElementPtrInst& address) const;
  [[nodiscard]] bool known(const llvm::Value* value) const;
  void part(llvm::BasicBlock& block);

  const Blocks& blocks_;
  const llvm::DenseMap<const llvm::Value*, LaneShape>& seeds_;
  const llvm::PostDominatorTree& after_;
  const llvm::BasicBlock* last_;
  llvm::ScalarEvolution* numbers_;
  const llvm::Loop* items_;
  llvm::DenseMap<const llvm::Value*, LaneShape> shapes_;
  llvm::MapVector<llvm::BasicBlock*, Parting> partings_;
  llvm::DenseSet<const llvm::BasicBlock*> joins_;
  bool meet_ = true;
};

}  // namespace kiln::cpu
