// SPDX-License-Identifier: MIT
// Native binaries of Intel's compiler, for the product whose limits the device has: run by the execution
// unit.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "drivers/cpu/program.hpp"

namespace kiln::xe {
class NativeModule;
}

namespace kiln::cpu {

/// What CompiledKernel::intel points at.
struct IntelKernel {
  std::shared_ptr<const xe::NativeModule> module;
  std::size_t index = 0;  ///< among its kernels
};

/// As execute() of program.hpp, for a kernel that has one. The report lacks the kernel's name.
[[nodiscard]] ExecutionStatus run_intel(const Execution& execution, std::string& report);

/// Why a launch beyond its limit was stopped, behind the kernel's name.
[[nodiscard]] std::string over_the_limit(std::chrono::nanoseconds limit);

}  // namespace kiln::cpu
