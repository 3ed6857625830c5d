// SPDX-License-Identifier: MIT
// Optimizes an instrumented kernel as a program of one work-item, and finds accesses that could be one wide
// one.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

#include "drivers/cpu/compiler/instrument/places.hpp"

namespace kiln::cpu {

/// Called before each access with place, key of the loops, work-item, address, bytes, the object that the
/// address comes from, and where a copy of what will be stored is; gives the address to access.
inline constexpr llvm::StringLiteral kAccessFunction = "kiln_access";
/// The same, with what will be stored as a number of 64 bits.
inline constexpr llvm::StringLiteral kWriteFunction = "kiln_write";
/// Both for as many work-items as lanes have, whose addresses and numbers are in arrays, with the bytes from
/// each address to the next behind, or kUneven; true: each is to access its address, else those to access
/// take their place.
inline constexpr llvm::StringLiteral kLanesFunction = "kiln_access_lanes";
inline constexpr llvm::StringLiteral kEvenFunction = "kiln_access_even";

/// Before a barrier, with place, work-item, and whether it is one of the sub-group; the same for as many
/// work-items from that one on as lanes have.
inline constexpr llvm::StringLiteral kMeetFunction = "kiln_meet";
inline constexpr llvm::StringLiteral kMeetLanesFunction = "kiln_meet_lanes";

/// Unrolls loops, moves variables to registers, and sets `neighbours` and `neighbour_bytes` of each place:
/// reads, or writes, of one work-item that follow each other in one block at constant distances, without an
/// access of the other kind, an atomic or a barrier between them, and cover bytes without a gap.
void simplify_and_find_neighbours(llvm::Function& body, llvm::TargetMachine& machine, KernelPlaces& places);

}  // namespace kiln::cpu
