// SPDX-License-Identifier: MIT
// From the SPIR-V modules of one program to one LLVM module.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drivers/cpu/compiler/backend/facts_section.hpp"
#include "drivers/cpu/program.hpp"

namespace kiln::cpu {

struct Frontend {
  std::unique_ptr<llvm::Module> module;  ///< null: refused, the log says why
  std::vector<DescribedKernel> kernels;  ///< in the order of the entry points
};

/// Validates and translates each module and links them. Without `fp64` none may have double precision. With
/// `sites` instructions are tagged with those of SPIR-V. What the validator says against a module that is
/// compiled all the same goes to `warnings`, so that it can become an error when the compilation fails later.
Frontend read_modules(std::span<const SpirvModule> modules, bool fp64, bool sites, llvm::LLVMContext& context,
                      std::string& warnings, std::string& log);

/// What the validator says against the modules; empty when it takes them. Pure.
std::string verdicts(std::span<const SpirvModule> modules);

}  // namespace kiln::cpu
