// SPDX-License-Identifier: MIT
// Runs loops over work-items several items at a time, where their kernel has loops inside.
#pragma once

#include <llvm/IR/PassManager.h>

namespace kiln::cpu {

/// Of functions that keep their loops over items, one by one.
inline constexpr llvm::StringLiteral kNoLanes = "kiln.no_lanes";

/// Where a loop over the items of a group stands around loops of the kernel, which LLVM's vectorizer leaves
/// as it is: takes a vector of items through them together (see LaneWriter), as many as there are whole
/// vectors of in a row. The loop that was there runs the rest.
struct LaneLoops : llvm::PassInfoMixin<LaneLoops> {
  bool exchanges_16 = false;  ///< whether the processor compares and exchanges 16 bytes

  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace kiln::cpu
