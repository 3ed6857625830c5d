// SPDX-License-Identifier: MIT
// Optimizes an instrumented kernel as a program of one work-item, and finds accesses that could be one wide
// one.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include "drivers/cpu/compiler/instrument/places.hpp"

namespace kiln::cpu {

/// Called before each access with place, key of the loops, work-item, address, bytes, the object that the
/// address comes from, and a copy of what will be stored; gives the address to access.
inline constexpr const char* kAccessFunction = "kiln_access";

/// Unrolls loops, moves variables to registers, and sets `neighbours` and `neighbour_bytes` of each place:
/// reads, or writes, of one work-item that follow each other in one block at constant distances, without an
/// access of the other kind, an atomic or a barrier between them, and cover bytes without a gap.
void simplify_and_find_neighbours(llvm::Function& body, llvm::TargetMachine& machine, KernelPlaces& places);

}  // namespace kiln::cpu
