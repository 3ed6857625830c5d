// SPDX-License-Identifier: MIT
// SPIR-V to LLVM IR with opaque pointers, whatever the translator's version.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "drivers/cpu/program.hpp"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace kiln::cpu {

/// Built-ins arrive as functions named after SPIR-V (`_Z16__spirv_ocl_fmaxff`). The input must have passed
/// validate_spirv. Null, with the reason added to `log`, when the translator refuses.
std::unique_ptr<llvm::Module> translate(std::span<const std::byte> spirv,
                                        std::span<const SpecializationConstant> constants,
                                        llvm::LLVMContext& context, std::string& log);

}  // namespace kiln::cpu
