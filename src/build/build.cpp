// SPDX-License-Identifier: MIT
// build_module: reads, then compiles apart or here, then makes the module.
#include "kiln/build.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "build/build_source.hpp"
#include "build/compile_out_of_process.hpp"
#include "build/native_input.hpp"
#include "kiln/check.hpp"
#include "level_zero/create_module.hpp"
#include "level_zero/observe.hpp"
#include "level_zero/survey.hpp"
#include "support/compiler_end.hpp"

namespace kiln {
namespace {

constexpr std::uint32_t kKilnVendor = 0xffff;  // the PCI number that no vendor has

class Builder {
 public:
  Builder(DriverRef driver, ContextRef context, DeviceRef device, const BuildOptions& options)
      : driver_(driver),
        context_(context),
        device_(device),
        options_(options),
        guarded_(detail::guards_itself(device)),
        apart_(!guarded_ && detail::compiles_apart(options)),
        memory_(detail::memory_of(device)) {}

  ModuleBuild from_spirv(std::span<const ModuleInput> inputs) const {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (const std::string why =
              refuse(inputs[i].code, inputs.size() > 1 || detail::is_library(inputs[i].flags));
          !why.empty())
        return ModuleBuild(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
                           inputs.size() > 1 ? "input " + std::to_string(i + 1) + ": " + why : why);
    auto build = compile(inputs);
    build.compiled = true;
    return build;
  }

  ModuleBuild from_source(const ModuleInput& input) const {
    if (guarded_)
      return ModuleBuild(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "this driver takes no OpenCL C: give SPIR-V");
    auto build = compile({&input, 1});
    build.compiled = true;
    return build;
  }

  ModuleBuild from_native(const ModuleInput& given) const {
    const detail::NativeInput read = detail::read_native(given.code, memory_);
    ModuleInput input = given;
    ModuleBuild build(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, read.refusal);
    if (!read.code.empty()) {
      input.code = read.code;
      // What cannot be read is tried apart, and may be compiled there: what that gives is taken.
      build =
          read.unread ? compile({&input, 1}) : detail::create_module(driver_, context_, device_, {&input, 1});
      build.compiled = !build.native.empty() && !std::ranges::equal(build.native, read.code);
      if (build.code() != ZE_RESULT_SUCCESS && !read.refusal.empty()) build.log += read.refusal;
    }
    if (!may_compile(read, build.code())) return build;
    input.format = ModuleFormat::spirv;
    input.code = read.spirv;
    if (!read.options.empty()) input.flags = read.options + " " + input.flags;
    return from_spirv({&input, 1});
  }

 private:
  /// Why SPIR-V must not reach a compiler; empty: it may.
  [[nodiscard]] std::string refuse(std::span<const std::byte> code, bool is_part) const {
    const auto facts = read_spirv(code, is_part ? SpirvUse::part : SpirvUse::whole);
    if (!facts)
      return "this is no SPIR-V that can be read: " + facts.error().message + " (at byte " +
             std::to_string(facts.error().offset) + ")";
    const auto hazard = check_module(*facts, memory_);
    return hazard ? to_text(*hazard) : std::string();
  }

  [[nodiscard]] ModuleBuild compile(std::span<const ModuleInput> inputs) const {
    detail::WatchedCompilation watched(CompilationStep::code, options_.name);
    if (watched.is_cancelled()) return cancelled(watched);
    ModuleBuild build = compile(inputs, watched.stop());
    if (watched.is_cancelled()) return cancelled(watched);
    watched.ends(build.code(), build.log);
    return build;
  }

  static ModuleBuild cancelled(detail::WatchedCompilation& watched) {
    ModuleBuild build = detail::cancelled_build();
    watched.ends(build.code(), build.log);
    return build;
  }

  [[nodiscard]] ModuleBuild compile(std::span<const ModuleInput> inputs, const std::stop_token* stop) const {
    auto apart = apart_ ? detail::compile_out_of_process(driver_, device_, inputs, options_, stop)
                        : std::optional<detail::CompiledOutOfProcess>();
    if (!apart) {
      ModuleBuild build = detail::create_module(driver_, context_, device_, inputs);
      build.compiler_died = guarded_ && build.code() == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE &&
                            build.log.find(kModuleEndsCompiler) != build.log.npos;
      return build;
    }
    if (!*apart) return std::move(*apart).error();
    detail::CompiledCode& compiled = **apart;
    // The compiler's own output, but what made it may have been hostile.
    const detail::NativeInput read = detail::read_native(compiled.native, memory_);
    if (read.code.empty())
      return ModuleBuild(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
                         "what the compiler made of it: " + read.refusal);
    const ModuleInput input{ModuleFormat::native, read.code};
    ModuleBuild build = detail::create_module(driver_, context_, device_, {&input, 1});
    if (build.code() == ZE_RESULT_SUCCESS) build.log = std::move(compiled.log);
    build.native = std::move(compiled.native);
    build.other_compiler = std::move(compiled.other_compiler);
    return build;
  }

  /// Is the native code for another device, and SPIR-V beside it? As Intel's driver would; the CPU device
  /// never takes another's file.
  [[nodiscard]] bool may_compile(const detail::NativeInput& read, ze_result_t code) const {
    return code == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY && !read.spirv.empty() && !guarded_;
  }

  DriverRef driver_;
  ContextRef context_;
  DeviceRef device_;
  const BuildOptions& options_;
  bool guarded_, apart_;
  std::uint64_t memory_;  // bytes
};

}  // namespace

ModuleBuild detail::cancelled_build() {
  ModuleBuild build(ZE_RESULT_NOT_READY, "the compilation was cancelled");
  build.cancelled = true;
  return build;
}

bool detail::is_library(std::string_view flags) { return flags.find("-library-compilation") != flags.npos; }

bool detail::guards_itself(DeviceRef device) {
  const auto properties = device.properties();
  return properties && properties->type == ZE_DEVICE_TYPE_CPU && properties->vendor_id == kKilnVendor;
}

bool detail::compiles_apart(const BuildOptions& options) {
  const char* compiler = secure_getenv("KILN_COMPILER");
  return options.isolation == Isolation::automatic && !(compiler && std::string_view(compiler) == "off");
}

ModuleBuild build_module(DriverRef driver, ContextRef context, DeviceRef device,
                         std::span<const ModuleInput> inputs, const BuildOptions& options) {
  if (!driver || !context || !device)
    return ModuleBuild(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "an empty handle was given");
  if (inputs.empty() || std::ranges::any_of(inputs, [](const auto& each) { return each.code.empty(); }))
    return ModuleBuild(ZE_RESULT_ERROR_INVALID_SIZE, "no code was given");
  const Builder builder(driver, context, device, options);
  const auto has = [&](ModuleFormat format) {
    return std::ranges::any_of(inputs, [&](const auto& each) { return each.format == format; });
  };
  const bool native = has(ModuleFormat::native), source = has(ModuleFormat::opencl_c);
  if (!native && !source) return builder.from_spirv(inputs);
  if (inputs.size() == 1) return native ? builder.from_native(inputs[0]) : builder.from_source(inputs[0]);
  return ModuleBuild(ZE_RESULT_ERROR_INVALID_ARGUMENT, std::string(native ? "native code" : "OpenCL C") +
                                                           " cannot be linked: give SPIR-V alone");
}

}  // namespace kiln
