// SPDX-License-Identifier: MIT
// Adds calls to a kernel that tell the recorder of each access and barrier. Only for modules that ask for it.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "drivers/cpu/compiler/frontend/spirv_sites.hpp"
#include "drivers/cpu/compiler/instrument/places.hpp"

namespace kiln::cpu {

/// Marks the instructions of a module fresh from the translator with their sites. Functions whose
/// instructions do not match stay without.
void tag_sites(llvm::Module& module, const std::map<std::uint32_t, FunctionSites>& functions);

/// Inlines all that the kernels call, adds the calls of recorder.hpp, and runs the optimizer over one
/// work-item, so that private memory is what registers cannot hold. An access goes to where its call says.
/// One list of places for each kernel; `bodies` are their functions, with built-ins defined.
bool instrument(llvm::Module& module, llvm::TargetMachine& machine, std::span<llvm::Function* const> bodies,
                std::vector<KernelPlaces>& places, std::string& log);

}  // namespace kiln::cpu
