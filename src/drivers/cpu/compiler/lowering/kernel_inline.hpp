// SPDX-License-Identifier: MIT
// Brings what depends on the work-item into the kernel's entry function.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <string>

namespace kiln::cpu {

/// What functions reach through calls.
struct CallFacts {
  llvm::DenseSet<const llvm::Function*> item_dependent;  ///< work-item functions, SLM or collectives
  llvm::DenseSet<const llvm::Function*> with_collective;
  /// Instructions with all item-dependent functions inlined, up to some limit.
  llvm::DenseMap<const llvm::Function*, std::uint64_t> inlined_sizes;
};

/// False, with the reason in `log`, when functions call each other in a circle, which OpenCL forbids.
bool analyse_calls(llvm::Module& module, CallFacts& facts, std::string& log);

/// Inlines `body` and all item-dependent functions into `entry`, which calls it. False when that grows too
/// large.
bool inline_body(llvm::Function& entry, llvm::Function& body, const CallFacts& facts, std::string& log);

}  // namespace kiln::cpu
