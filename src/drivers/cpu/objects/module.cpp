// SPDX-License-Identifier: MIT
// zeModule* and zeModuleBuildLog*.
#include "drivers/cpu/objects/module.hpp"

#include <algorithm>
#include <cstring>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/memory/usm.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/last_error.hpp"
#include "drivers/cpu/objects/recent_builds.hpp"
#include "drivers/cpu/objects/specialization.hpp"
#include "drivers/cpu/settings/fault.hpp"

namespace kiln::cpu {
namespace {

struct Input {
  std::span<const std::byte> bytes;
  const char* flags = nullptr;
  const ze_module_constants_t* constants = nullptr;
};

std::span<const std::byte> as_bytes(const void* data, std::size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

/// Takes the inputs from the description or from the programs of a chained ze_module_program_exp_desc_t.
ze_result_t read_inputs(const ze_module_desc_t& desc, std::vector<Input>& inputs) {
  const auto* several =
      find_chained<ze_module_program_exp_desc_t>(desc.pNext, ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC);
  if (!several) {
    KILN_NEED_POINTER(desc.pInputModule);
    if (desc.inputSize == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    inputs.push_back({as_bytes(desc.pInputModule, desc.inputSize), desc.pBuildFlags, desc.pConstants});
    return ZE_RESULT_SUCCESS;
  }
  KILN_NEED_POINTER(several->pInputModules);
  KILN_NEED_POINTER(several->inputSizes);
  if (several->count == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
  for (std::uint32_t i = 0; i < several->count; ++i) {
    KILN_NEED_POINTER(several->pInputModules[i]);
    if (several->inputSizes[i] == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    inputs.push_back({as_bytes(several->pInputModules[i], several->inputSizes[i]),
                      several->pBuildFlags ? several->pBuildFlags[i] : desc.pBuildFlags,
                      several->pConstants ? several->pConstants[i] : desc.pConstants});
  }
  return ZE_RESULT_SUCCESS;
}

/// The programs are linked before they are compiled, so that all have the flags of each.
std::string flags_of(const std::vector<Input>& inputs) {
  std::vector<std::string_view> different;
  std::string all;
  for (const Input& input : inputs) {
    const std::string_view flags = input.flags ? input.flags : "";
    if (flags.empty() || std::ranges::find(different, flags) != different.end()) continue;
    different.push_back(flags);
    all.append(all.empty() ? "" : " ").append(flags);
  }
  return all;
}

BuildResult build(const ze_module_desc_t& desc, const std::vector<Input>& inputs) {
  BuildResult failed;
  if (faults().build) {
    failed.log = "error: KILN_CPU_FAULT asks this build to fail\n";
    return failed;
  }
  if (desc.format == ZE_MODULE_FORMAT_NATIVE) {
    if (inputs.size() == 1)
      return is_intel_native(inputs[0].bytes)
                 ? build_from_intel_native(inputs[0].bytes, device().profile->ip_version)
                 : build_from_native(inputs[0].bytes);
    failed.status = BuildStatus::invalid_native_binary;
    failed.log = "error: several native binaries cannot be linked: give their SPIR-V\n";
    return failed;
  }
  BuildOptions options;
  options.sub_group_sizes = device().profile->sub_group_sizes;
  options.fp64 = device().profile->fp64;
  options.flags = flags_of(inputs);
  options.late = true;
  std::string log;
  std::vector<SpirvModule> modules;
  for (const Input& input : inputs) {
    modules.push_back({input.bytes, {}});
    if (input.constants) modules.back().constants = read_constants(input.bytes, *input.constants, log);
  }
  BuildResult built = build_once(modules, options);
  built.log = log + built.log;
  return built;
}

/// One kernel over the limit refuses the whole module, with the codes of Intel's driver 26.27 and the log of
/// newer ones. The native path leaves no description there.
ze_result_t check_static_slm(const Program& program, ze_module_format_t format, std::string& log) {
  std::uint64_t needed = 0;
  for (const CompiledKernel& kernel : program.kernels())
    if (kernel.refused.empty()) needed = std::max(needed, kernel.facts.static_slm);
  const std::uint64_t available = device().profile->slm_per_group;
  if (needed <= available) return ZE_RESULT_SUCCESS;
  log = slm_too_large(needed, available);
  const bool native = format == ZE_MODULE_FORMAT_NATIVE;
  set_last_error(native ? std::string() : log);
  return native ? ZE_RESULT_ERROR_MODULE_BUILD_FAILURE : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

/// A native binary may have been made under another product's limits.
bool has_sub_group_sizes(const Program& program, std::string& log) {
  const auto& sizes = device().profile->sub_group_sizes;
  for (const CompiledKernel& kernel : program.kernels()) {
    if (!kernel.refused.empty() || std::ranges::find(sizes, kernel.facts.simd_size) != sizes.end()) continue;
    log += "error: native binary: kernel '" + kernel.facts.name + "' has sub-groups of " +
           std::to_string(kernel.facts.simd_size) + " work-items, which this device does not have\n";
    return false;
  }
  return true;
}

ze_result_t create(const ze_module_desc_t& desc, ze_module_handle_t& module, std::string& log) {
  std::vector<Input> inputs;
  if (const auto result = read_inputs(desc, inputs); result != ZE_RESULT_SUCCESS) return result;
  BuildResult built = build(desc, inputs);
  log += built.log;
  if (built.status == BuildStatus::invalid_native_binary) return code_of(built.status);
  if (built.status != BuildStatus::ok) {
    set_last_error({});  // as Intel's driver after a failed compilation: the log has the text
    return code_of(built.status);
  }
  if (!has_sub_group_sizes(*built.program, log)) return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
  if (const auto result = check_static_slm(*built.program, desc.format, log); result != ZE_RESULT_SUCCESS)
    return result;
  module = handle(new Module(std::move(built.program)));
  return ZE_RESULT_SUCCESS;
}

/// The function that one of the modules has for another's import; what is wrong goes to the log.
void* find_export(std::span<const ze_module_handle_t> modules, const Program::Import& import,
                  std::string& log) {
  const std::string name = "function '" + std::string(import.name) + "'";
  Program::Callable found;
  for (const ze_module_handle_t each : modules) {
    const Program::Callable one = object<Module>(each)->program->callable(import.name);
    if (!one.address || !one.exported) continue;
    if (found.address && found.address != one.address) {
      log += "error: " + name + " is defined by two of the modules\n";
      return nullptr;
    }
    found = one;
  }
  if (!found.address) {
    log += "error: " + name +
           " is not defined by any of the modules: build the one that has it with -library-compilation too; "
           "functions that use work-item functions, barriers or SLM cannot be linked\n";
    return nullptr;
  }
  if (found.signature == import.signature) return found.address;
  log += "error: " + name + " has other parameters, or another result, where it is defined\n";
  return nullptr;
}

/// All or nothing.
bool link(std::span<const ze_module_handle_t> modules, std::string& log) {
  struct Link {
    const Program* program;
    std::string_view name;
    void* function;
  };
  std::vector<Link> links;
  for (const ze_module_handle_t each : modules) {
    const Program& program = *object<Module>(each)->program;
    for (const Program::Import& import : program.imports())
      if (!import.linked) links.push_back({&program, import.name, find_export(modules, import, log)});
  }
  if (std::ranges::any_of(links, [](const Link& each) { return !each.function; })) return false;
  for (const Link& each : links) each.program->link(each.name, each.function);
  return true;
}

}  // namespace

ze_result_t code_of(BuildStatus status) {
  switch (status) {
    case BuildStatus::ok:
      return ZE_RESULT_SUCCESS;
    case BuildStatus::invalid_native_binary:
      return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    case BuildStatus::out_of_memory:
      return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case BuildStatus::compiler_killed:
      return ZE_RESULT_ERROR_NOT_AVAILABLE;
    case BuildStatus::build_failure:
      break;
  }
  return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

Module::~Module() {
  for (void* base : lent_) usm().forget(base);
}

Program::Symbol Module::lend_variable(const char* name) {
  const auto symbol = program->global_variable(name);
  if (!symbol.address) return symbol;
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(lent_, symbol.address) == lent_.end()) {
    lent_.reserve(lent_.size() + 1);
    usm().lend({.base = symbol.address, .size = symbol.size, .read_only = symbol.read_only});
    lent_.push_back(symbol.address);
  }
  return symbol;
}

ze_result_t module_create(ze_context_handle_t context, ze_device_handle_t device,
                          const ze_module_desc_t* desc, ze_module_handle_t* module,
                          ze_module_build_log_handle_t* log) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(module);
  if (desc->format != ZE_MODULE_FORMAT_IL_SPIRV && desc->format != ZE_MODULE_FORMAT_NATIVE)
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  return guarded([&] {
    auto build_log = std::make_unique<BuildLog>();
    const ze_result_t result = guarded([&] { return create(*desc, *module, build_log->text); });
    if (log) *log = handle(build_log.release());
    return result;
  });
}

ze_result_t module_destroy(ze_module_handle_t module) {
  KILN_NEED_HANDLE(module);
  delete object<Module>(module);
  return ZE_RESULT_SUCCESS;
}

ze_result_t module_dynamic_link(std::uint32_t count, ze_module_handle_t* modules,
                                ze_module_build_log_handle_t* log) {
  KILN_NEED_POINTER(modules);
  for (std::uint32_t i = 0; i < count; ++i) KILN_NEED_HANDLE(modules[i]);
  return guarded([&] {
    auto link_log = std::make_unique<BuildLog>();
    const bool well = link({modules, count}, link_log->text);
    if (!well) set_last_error(link_log->text);
    if (log) *log = handle(link_log.release());
    return well ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_MODULE_LINK_FAILURE;
  });
}

ze_result_t module_get_native_binary(ze_module_handle_t module, std::size_t* size, std::uint8_t* binary) {
  KILN_NEED_HANDLE(module);
  KILN_NEED_POINTER(size);
  return guarded([&] {
    const auto program = object<Module>(module)->program;  // a compilation may outlast the module
    std::string log;
    if (const BuildStatus status = program->make_ready(nullptr, log); status != BuildStatus::ok) {
      set_last_error(log);
      return code_of(status);
    }
    const auto bytes = program->native_binary();
    if (binary) {
      if (*size < bytes.size()) return ZE_RESULT_ERROR_INVALID_SIZE;
      std::memcpy(binary, bytes.data(), bytes.size());
    }
    *size = bytes.size();
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t module_get_info(ze_module_handle_t module, std::size_t* size, char* text) {
  KILN_NEED_HANDLE(module);
  KILN_NEED_POINTER(size);
  return guarded([&] {
    const auto program = object<Module>(module)->program;
    // The native binary, which is there, says more.
    if (!program->is_late()) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    std::string info;
    for (const CompiledKernel& kernel : program->kernels()) {
      if (!kernel.refused.empty()) continue;
      const KernelFacts& facts = kernel.facts;
      for (const std::uint64_t number : {std::uint64_t{facts.simd_size}, std::uint64_t{facts.barrier_count},
                                         facts.static_slm, std::uint64_t{facts.name.size()}})
        info.append(std::to_string(number)).push_back(' ');
      info.append(facts.name);
    }
    if (text) {
      if (*size < info.size() + 1) return ZE_RESULT_ERROR_INVALID_SIZE;
      std::memcpy(text, info.c_str(), info.size() + 1);
    }
    *size = info.size() + 1;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t module_get_global_pointer(ze_module_handle_t module, const char* name, std::size_t* size,
                                      void** pointer) {
  KILN_NEED_HANDLE(module);
  KILN_NEED_POINTER(name);
  return guarded([&] {
    const auto symbol = object<Module>(module)->lend_variable(name);
    if (!symbol.address) return ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
    if (size) *size = symbol.size;
    if (pointer) *pointer = symbol.address;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t module_get_kernel_names(ze_module_handle_t module, std::uint32_t* count, const char** names) {
  KILN_NEED_HANDLE(module);
  const auto kernels = object<Module>(module)->program->kernels();
  return enumerate(static_cast<std::uint32_t>(kernels.size()), count, names,
                   [&](std::uint32_t i) { names[i] = kernels[i].facts.name.c_str(); });
}

ze_result_t module_get_properties(ze_module_handle_t module, ze_module_properties_t* properties) {
  KILN_NEED_HANDLE(module);
  KILN_NEED_POINTER(properties);
  properties->flags =
      object<Module>(module)->program->imports().empty() ? 0 : ZE_MODULE_PROPERTY_FLAG_IMPORTS;
  return ZE_RESULT_SUCCESS;
}

ze_result_t module_get_function_pointer(ze_module_handle_t module, const char* name, void** pointer) {
  KILN_NEED_HANDLE(module);
  KILN_NEED_POINTER(name);
  KILN_NEED_POINTER(pointer);
  return guarded([&] {
    *pointer = object<Module>(module)->program->function(name);
    if (*pointer) return ZE_RESULT_SUCCESS;
    set_last_error(
        "the module has no function '" + std::string(name) +
        "' that can be called through a pointer: build it with -ze-take-global-address; kernels, and "
        "functions that use work-item functions, barriers or SLM, cannot");
    return ZE_RESULT_ERROR_INVALID_FUNCTION_NAME;
  });
}

ze_result_t module_build_log_destroy(ze_module_build_log_handle_t log) {
  KILN_NEED_HANDLE(log);
  delete object<BuildLog>(log);
  return ZE_RESULT_SUCCESS;
}

ze_result_t module_build_log_get_string(ze_module_build_log_handle_t log, std::size_t* size, char* text) {
  KILN_NEED_HANDLE(log);
  KILN_NEED_POINTER(size);
  const std::string& stored = object<BuildLog>(log)->text;
  if (text) {
    if (*size < stored.size() + 1) return ZE_RESULT_ERROR_INVALID_SIZE;
    std::memcpy(text, stored.c_str(), stored.size() + 1);
  }
  *size = stored.size() + 1;
  return ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
