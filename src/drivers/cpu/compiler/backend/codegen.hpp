// SPDX-License-Identifier: MIT
// The host as a compilation target: optimization and object code.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdint>
#include <memory>
#include <string>

#include "drivers/cpu/compiler/frontend/options.hpp"

namespace kiln::cpu {

/// The host's CPU as LLVM names it. Found once; thread-safe.
struct HostCpu {
  std::string name;
  std::string features;
};
const HostCpu& host_cpu();

/// Leaves out work of LLVM's that makes compilations longer and kernels no faster. Its settings are those of
/// the whole process, so this is for one that compiles and ends. Call it once.
void tune_own_process();

/// What a target machine is for.
enum class MachineUse : std::uint8_t { optimizer, code_generator };

/// Null, with the reason in `log`, when LLVM has no code generator for the host.
std::unique_ptr<llvm::TargetMachine> make_target_machine(MachineUse use, bool optimize, std::string& log);

/// Marks the arithmetic of the kernels with what the options allow; what is added behind it is exact.
void apply_fast_math(llvm::Module& module, const ParsedOptions& options);

/// What LLVM does with a function before it vectorizes loops.
void simplify(llvm::Function& function, llvm::TargetMachine& machine);

void optimize(llvm::Module& module, llvm::TargetMachine& machine, const ParsedOptions& options);

enum class Calls : std::uint8_t {
  one_at_a_time,  ///< what is called in turn uses the same stack
  inlined         ///< each call has its own
};
/// Bytes of stack that `function` and what it calls keep in variables.
std::uint64_t private_bytes(const llvm::Function& function, Calls calls = Calls::one_at_a_time);

bool emit_object(llvm::Module& module, llvm::TargetMachine& machine, llvm::SmallVectorImpl<char>& object,
                 std::string& log);

}  // namespace kiln::cpu
