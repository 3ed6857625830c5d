// SPDX-License-Identifier: MIT
// Turns a translated kernel into the entry function that the executor calls.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

#include "drivers/cpu/compiler/lowering/kernel_inline.hpp"
#include "kiln/binary.hpp"

namespace kiln::cpu {

/// Symbol of the entry function of kernel `index`, a GroupEntry or an ItemEntry: names from SPIR-V may be
/// anything, so they stay out of the ELF.
std::string group_entry_symbol(std::size_t index);
std::string item_entry_symbol(std::size_t index);

/// Whether items of the kernel wait for those of all work-groups.
bool has_grid_barrier(const llvm::Function& item_entry);

/// Where each argument lies in the argument bytes; one more for the total. Compiled code and executor must
/// agree, so both ask here: in order, each on a multiple of 16 bytes. A `__local` argument's eight bytes are
/// its offset in the work-group's SLM.
std::vector<std::size_t> argument_offsets(const KernelFacts& facts);

/// Fills kinds and sizes of the arguments from the function's type.
bool describe_arguments(const llvm::Function& kernel, KernelFacts& facts, std::string& log);

/// Writes the entry function of `kernel`: a loop over the work-group, or one work-item when it has
/// collectives. Sub-groups have facts.simd_size items. Sets static_slm and barrier_count.
bool write_entry(llvm::Function& kernel, std::size_t index, const CallFacts& calls, KernelFacts& facts,
                 std::string& log);

}  // namespace kiln::cpu
