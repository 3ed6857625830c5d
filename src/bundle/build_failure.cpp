// SPDX-License-Identifier: MIT
// Chooses the diagnostic of a build that failed.
#include "bundle/build_failure.hpp"

#include "kiln/refusal.hpp"
#include "level_zero/survey.hpp"

namespace kiln::detail {
namespace {

const char* format_name(BinaryFormat format) {
  switch (format) {
    case BinaryFormat::spirv:
      return "SPIR-V";
    case BinaryFormat::elf:
      return "native binary";
    case BinaryFormat::archive:
      return "fat binary";
    case BinaryFormat::patch_tokens:
      return "native binary in the old patch-token format";
    case BinaryFormat::unknown:
      break;
  }
  return "neither SPIR-V nor a native binary";
}

/// Said first, where constants were given: Intel's driver refuses a build with one that a file does not
/// declare, and has no word for it. Seen with 22.43 and 26.27.
std::string help_on_constants(std::span<const SpecializationConstant> constants) {
  std::string ids;
  for (const SpecializationConstant& each : constants)
    ids += (ids.empty() ? "" : ", ") + std::to_string(each.id);
  return "see whether each file declares the specialization constants that it was given, " + ids +
         ": a driver may refuse others in silence";
}

}  // namespace

Error build_failure(const ModuleBuild& build, const std::string& name, BinaryFormat format,
                    const ModuleFacts& facts, const OpenDevice& device, const BundleOptions& options) {
  if (build.cancelled)
    return Error(build.code(), "zeModuleCreate", explain_stopped("the compilation of `" + name + "`"));
  const std::uint64_t slm_per_group = device.compute.slm_per_group;
  const KernelFacts* kernel = static_slm_over_limit(facts, slm_per_group);
  if (kernel && !build.compiler_died) {
    Diagnostic diagnostic = explain_static_slm(*kernel, slm_per_group);
    diagnostic.rows.push_back({"this driver", "zeModuleCreate gave " + result_text(build.code())});
    return Error(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeModuleCreate", std::move(diagnostic));
  }
  if (build.compiler_died)
    return Error(build.code(), "zeModuleCreate", explain_dead_compiler(name, format_name(format), build.log));
  const bool silent = build.log.empty() && build.last_error.empty();
  if (silent && build.code() != ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE) {
    const Refusal refusal = survey(build.code(), "zeModuleCreate", device.device);
    if (is_lost(refusal)) return Error(build.code(), "zeModuleCreate", explain_lost_device(refusal));
    Diagnostic diagnostic = explain_silent_build(refusal, name, format_name(format));
    if (!options.constants.empty())
      diagnostic.help.insert(diagnostic.help.begin(), help_on_constants(options.constants));
    return Error(build.code(), "zeModuleCreate", std::move(diagnostic));
  }
  Diagnostic diagnostic{"K0203", "the driver cannot build `" + name + "`", {}, {}};
  diagnostic.rows = {{"format", format_name(format)}};
  diagnostic.answer = {AnsweredBy::driver};
  if (!build.log.empty()) diagnostic.rows.push_back({"build log", build.log});
  if (!build.last_error.empty()) diagnostic.rows.push_back({"driver says", build.last_error});
  diagnostic.help = {
      build.code() == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE
          ? "install the compiler library (libigc1 or libigc2), or ship a native binary for this device"
          : "read the build log, and check that the device has what the kernel needs"};
  return Error(build.code(), "zeModuleCreate", std::move(diagnostic));
}

}  // namespace kiln::detail
