// SPDX-License-Identifier: MIT
// Compiles in a process of its own, kiln-compile.
#pragma once

#include <optional>
#include <stop_token>

#include "build/front_end.hpp"
#include "kiln/build.hpp"

namespace kiln::detail {

/// Before the compiler starts to work, the process writes this; behind it comes the answer.
inline constexpr std::string_view kCompilerStarts = "start\n";

/// What a module can be made of.
struct CompiledCode {
  std::vector<std::byte> native;  ///< never empty
  std::string log;
  std::string other_compiler;  ///< as in ModuleBuild
};
using CompiledOutOfProcess = tl::expected<CompiledCode, ModuleBuild>;

/// Nothing: it cannot be done apart; why is logged, once. `stop` ends the process; null: nobody does.
[[nodiscard]] std::optional<CompiledOutOfProcess> compile_out_of_process(DriverRef driver, DeviceRef device,
                                                                         std::span<const ModuleInput> inputs,
                                                                         const BuildOptions& options,
                                                                         const std::stop_token* stop);

/// SPIR-V of OpenCL C in a process of its own, of whose environment `api` has the record. Where that ends by
/// itself: FrontEndEnd::broken, `log` says how, and `died`, unless it was killed from outside. Nothing: as
/// above.
struct FrontEndOutOfProcess {
  FrontEndResult result;
  bool died = false, killed = false;
};
[[nodiscard]] std::optional<FrontEndOutOfProcess> front_end_out_of_process(const Api& api,
                                                                           const FrontEndRequest& request,
                                                                           const BuildOptions& options,
                                                                           const std::stop_token* stop);

}  // namespace kiln::detail
