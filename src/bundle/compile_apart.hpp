// SPDX-License-Identifier: MIT
// Compiles in a process of its own, kiln-compile.
#pragma once

#include <optional>

#include "kiln/build.hpp"

namespace kiln::detail {

/// Before the compiler starts to work, the process writes this; behind it comes the answer.
inline constexpr std::string_view kCompilerStarts = "start\n";

/// The outcome without a module, but with the native binary that one can be made of. Nothing: it cannot be
/// done apart; why is logged, once.
[[nodiscard]] std::optional<ModuleBuild> compile_apart(DriverRef driver, DeviceRef device,
                                                       std::span<const ModuleInput> inputs,
                                                       const BuildOptions& options);

}  // namespace kiln::detail
