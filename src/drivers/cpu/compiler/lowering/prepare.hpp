// SPDX-License-Identifier: MIT
// From the translator's module to one that is ready for the optimizer: kernel entries and what they need.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>
#include <string_view>
#include <vector>

#include "drivers/cpu/compiler/instrument/places.hpp"
#include "kiln/binary.hpp"

namespace kiln::cpu {

/// What the host finds an exported variable of the program by: apart from the names of its functions.
inline std::string variable_symbol(std::string_view name) {
  return std::string("kiln.variable.").append(name);
}

/// `kernels` are the entry points in the order of the SPIR-V; their arguments and SLM are filled in.
/// With `places` the kernels are instrumented; with `keep_functions` all that are exported can be called
/// through pointers, else those alone whose address the module takes; with `library` what it calls and does
/// not define is imported.
bool prepare_module(llvm::Module& module, llvm::TargetMachine& machine, std::vector<KernelFacts>& kernels,
                    std::vector<KernelPlaces>* places, bool keep_functions, bool library, std::string& log);

/// Makes group entries of item entries, as far as write_regions() takes them. `counted`: accesses are.
void loop_over_items(llvm::Module& module, llvm::TargetMachine& machine, std::vector<KernelFacts>& kernels,
                     bool counted);

/// Sets private_size after optimization. False when a kernel needs more stack than a work-item can have.
bool measure_private_memory(llvm::Module& module, std::vector<KernelFacts>& kernels, std::string& log);

}  // namespace kiln::cpu
