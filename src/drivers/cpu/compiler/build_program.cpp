// SPDX-License-Identifier: MIT
// Builds programs: from SPIR-V, all at once or kernel by kernel, or from native binaries.
#include "drivers/cpu/compiler/compilation.hpp"
#include "drivers/cpu/compiler/late_program.hpp"
#include "drivers/cpu/compiler/loaded_program.hpp"
#include "drivers/cpu/counting/recorder.hpp"
#include "drivers/cpu/program.hpp"
#include "drivers/cpu/runtime/loaded_kernel.hpp"

namespace kiln::cpu {

BuildResult build_from_spirv(std::span<const std::byte> spirv, const BuildOptions& options) {
  const SpirvModule module{spirv, options.constants};
  return build_from_spirv(std::span(&module, 1), options);
}

BuildResult build_from_spirv(std::span<const SpirvModule> modules, const BuildOptions& options) {
  Compilation compilation = compile_module(modules, options);
  if (!compilation.well) return {compilation.failure, nullptr, std::move(compilation.log)};
  if (!compilation.facts.empty())
    return make_late_program(std::move(compilation), options.flags, allowed_seconds(modules));
  return load_program(std::move(compilation.code), BuildStatus::build_failure, std::move(compilation.log));
}

std::string counters_json(const CompiledKernel& kernel) {
  if (kernel.intel) return {};
  const auto& counters = static_cast<const LoadedKernel*>(kernel.entry)->counters;
  return counters == nullptr ? std::string()
                             : counters->to_json(kernel.facts, counted_sub_group(kernel.facts));
}

void clear_counters(const CompiledKernel& kernel) {
  if (kernel.intel) return;
  if (const auto& counters = static_cast<const LoadedKernel*>(kernel.entry)->counters) counters->clear();
}

BuildResult build_from_native(std::span<const std::byte> object) {
  return load_program({object.begin(), object.end()}, BuildStatus::invalid_native_binary, {});
}

}  // namespace kiln::cpu
