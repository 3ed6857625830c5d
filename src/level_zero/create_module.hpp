// SPDX-License-Identifier: MIT
// zeModuleCreate as it is. What it is given can end the process: it is for build_module, for processes that
// are made to end over it, and for tests that want the driver's own answer.
#pragma once

#include "kiln/module.hpp"

namespace kiln::detail {

/// What Intel's compiler takes for granted: on anything else it leaves the process by exit(), or follows the
/// address (22.43 and 26.27). Pure.
[[nodiscard]] bool starts_as_spirv(std::span<const std::byte> code);

/// Gives the inputs to the driver, several of them by ZE_experimental_module_program. Refused here: empty
/// handles and inputs, what does not begin as SPIR-V, native code beside others, and several inputs where the
/// driver has not the extension. Where the loader intercepts calls, the log of a failed build says how to get
/// it instead (the loader cannot give it).
[[nodiscard]] ModuleBuild create_module(DriverRef, ContextRef, DeviceRef, std::span<const ModuleInput>);

}  // namespace kiln::detail
