// SPDX-License-Identifier: MIT
// Code behind a division once more, for lanes that have one quotient.
#pragma once

#include <llvm/Analysis/LoopInfo.h>

#include "drivers/cpu/compiler/lanes/lane_shapes.hpp"

namespace kiln::cpu {

/// Looks for what items, which are lanes, divide by a number that all have, where what they divide is one
/// more from item to item, as places in a tile are. Most often all lanes have one quotient then, and a
/// remainder that is one more from lane to lane: what follows is written once more for them, in front of it a
/// question that the lanes' writer answers for all lanes together. Returns whether it has changed the
/// function; then all analyses are to be made anew. `most` is how many instructions may be added.
bool ask_for_one_quotient(llvm::Function& function, const llvm::Loop& items, const LaneShapes& shapes,
                          const llvm::LoopInfo& loops, std::size_t most);

/// Takes back what no lanes were written for: items alone have the code that was there.
void forget_quotients(llvm::Function& function);

}  // namespace kiln::cpu
