// SPDX-License-Identifier: MIT
// zeKernel*.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/group_size.hpp"
#include "drivers/cpu/objects/kernel.hpp"
#include "drivers/cpu/objects/last_error.hpp"

namespace kiln::cpu {

ze_result_t kernel_create(ze_module_handle_t module, const ze_kernel_desc_t* desc,
                          ze_kernel_handle_t* kernel) {
  KILN_NEED_HANDLE(module);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(kernel);
  KILN_NEED_POINTER(desc->pKernelName);
  constexpr ze_kernel_flags_t kKnown = 0x3;
  if (desc->flags & ~kKnown) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  const auto program = object<Module>(module)->program;  // a compilation may outlast the module
  const auto kernels = program->kernels();
  for (const Program::Import& import : program->imports()) {
    if (import.linked) continue;
    set_last_error("the module calls '" + std::string(import.name) +
                   "', which another one defines: link them with zeModuleDynamicLink");
    return ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED;
  }
  const std::string_view name = desc->pKernelName;
  const auto found = std::ranges::find_if(
      kernels, [&](const CompiledKernel& candidate) { return candidate.facts.name == name; });
  if (found == kernels.end()) return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
  if (!found->refused.empty()) {
    set_last_error("kernel '" + found->facts.name + "': " + found->refused);
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  }
  const auto& required = found->facts.required_group_size;
  const std::uint64_t limit = device().profile->max_group_size;
  if (std::ranges::any_of(required, [&](std::uint32_t size) { return size > limit; }) ||
      std::uint64_t{required[0]} * required[1] * required[2] > limit)
    return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
  return guarded([&] {
    std::string log;
    if (const BuildStatus status = program->make_ready(&*found, log); status != BuildStatus::ok) {
      set_last_error("kernel '" + found->facts.name + "': " + log);
      return code_of(status);
    }
    *kernel = handle(new Kernel(program, *found));
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t kernel_destroy(ze_kernel_handle_t kernel) {
  KILN_NEED_HANDLE(kernel);
  delete object<Kernel>(kernel);
  return ZE_RESULT_SUCCESS;
}

ze_result_t kernel_set_cache_config(ze_kernel_handle_t kernel, ze_cache_config_flags_t flags) {
  KILN_NEED_HANDLE(kernel);
  constexpr ze_cache_config_flags_t kKnown = 0x3;
  return flags & ~kKnown ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_SUCCESS;
}

ze_result_t kernel_set_group_size(ze_kernel_handle_t kernel, std::uint32_t x, std::uint32_t y,
                                  std::uint32_t z) {
  KILN_NEED_HANDLE(kernel);
  return object<Kernel>(kernel)->set_group_size(x, y, z);
}

ze_result_t kernel_suggest_group_size(ze_kernel_handle_t handle, std::uint32_t global_x,
                                      std::uint32_t global_y, std::uint32_t global_z, std::uint32_t* x,
                                      std::uint32_t* y, std::uint32_t* z) {
  KILN_NEED_HANDLE(handle);
  KILN_NEED_POINTER(x);
  KILN_NEED_POINTER(y);
  KILN_NEED_POINTER(z);
  const Kernel& kernel = *object<Kernel>(handle);
  if (global_x == 0 || global_y == 0 || global_z == 0) return ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION;
  if (const auto result = kernel.check_slm(); result != ZE_RESULT_SUCCESS) return result;
  const auto& required = kernel.facts().required_group_size;
  const auto size =
      required[0] != 0 ? required
                       : suggest_group_size({global_x, global_y, global_z}, device().profile->max_group_size);
  *x = size[0];
  *y = size[1];
  *z = size[2];
  return ZE_RESULT_SUCCESS;
}

// Intel's driver ends the process here when the shared local memory is over the limit (22.43 and 26.27).
ze_result_t kernel_suggest_max_cooperative_group_count(ze_kernel_handle_t kernel, std::uint32_t* count) {
  KILN_NEED_HANDLE(kernel);
  KILN_NEED_POINTER(count);
  if (const auto result = object<Kernel>(kernel)->check_slm(); result != ZE_RESULT_SUCCESS) return result;
  *count = max_cooperative_groups();
  return ZE_RESULT_SUCCESS;
}

ze_result_t kernel_set_argument_value(ze_kernel_handle_t kernel, std::uint32_t index, std::size_t size,
                                      const void* value) {
  KILN_NEED_HANDLE(kernel);
  return guarded([&] { return object<Kernel>(kernel)->set_argument(index, size, value); });
}

ze_result_t kernel_set_indirect_access(ze_kernel_handle_t kernel, ze_kernel_indirect_access_flags_t flags) {
  KILN_NEED_HANDLE(kernel);
  constexpr ze_kernel_indirect_access_flags_t kKnown = 0x7;
  if (flags & ~kKnown) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  object<Kernel>(kernel)->indirect_access |= flags;
  return ZE_RESULT_SUCCESS;
}

ze_result_t kernel_get_indirect_access(ze_kernel_handle_t kernel, ze_kernel_indirect_access_flags_t* flags) {
  KILN_NEED_HANDLE(kernel);
  KILN_NEED_POINTER(flags);
  *flags = object<Kernel>(kernel)->indirect_access;
  return ZE_RESULT_SUCCESS;
}

// The attributes are those that change how a kernel is launched.
ze_result_t kernel_get_source_attributes(ze_kernel_handle_t handle, std::uint32_t* size, char** text) {
  KILN_NEED_HANDLE(handle);
  KILN_NEED_POINTER(size);
  return guarded([&] {
    const Kernel& kernel = *object<Kernel>(handle);
    const KernelFacts& facts = kernel.facts();
    std::string attributes;
    const auto add = [&](const std::string& attribute) {
      attributes.append(attributes.empty() ? "" : " ").append(attribute);
    };
    const auto add_size = [&](const char* name, const std::array<std::uint32_t, 3>& size) {
      if (size[0] == 0) return;
      add(std::string(name) + "(" + std::to_string(size[0]) + "," + std::to_string(size[1]) + "," +
          std::to_string(size[2]) + ")");
    };
    add_size("reqd_work_group_size", facts.required_group_size);
    add_size("work_group_size_hint", kernel.compiled->group_size_hint);
    if (facts.required_sub_group_size != 0)
      add("intel_reqd_sub_group_size(" + std::to_string(facts.required_sub_group_size) + ")");
    if (text) {
      if (*size < attributes.size() + 1) return ZE_RESULT_ERROR_INVALID_SIZE;
      KILN_NEED_POINTER(*text);
      std::memcpy(*text, attributes.c_str(), attributes.size() + 1);
    }
    *size = static_cast<std::uint32_t>(attributes.size() + 1);
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t kernel_get_properties(ze_kernel_handle_t handle, ze_kernel_properties_t* properties) {
  KILN_NEED_HANDLE(handle);
  KILN_NEED_POINTER(properties);
  const Kernel& kernel = *object<Kernel>(handle);
  const KernelFacts& facts = kernel.facts();
  const product::Profile& profile = *device().profile;
  const auto& required = facts.required_group_size;
  const std::uint32_t simd = facts.simd_size;
  properties->numKernelArgs = static_cast<std::uint32_t>(facts.arguments.size());
  properties->requiredGroupSizeX = required[0];
  properties->requiredGroupSizeY = required[1];
  properties->requiredGroupSizeZ = required[2];
  properties->requiredNumSubGroups = 0;
  properties->requiredSubgroupSize = facts.required_sub_group_size;
  properties->maxSubgroupSize = simd;
  properties->maxNumSubgroups = profile.max_group_size / simd;
  // Static and dynamic together, as Intel's driver since 24.35.
  properties->localMemSize = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(kernel.slm(), std::numeric_limits<std::uint32_t>::max()));
  properties->privateMemSize = facts.private_size;
  properties->spillMemSize = facts.spill_size;
  properties->uuid = {};
  const std::uint64_t hash = std::hash<std::string_view>{}(facts.name);
  std::memcpy(properties->uuid.kid, &hash, sizeof(hash));
  if (auto* preferred = find_chained<ze_kernel_preferred_group_size_properties_t>(
          properties->pNext, ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES))
    preferred->preferredMultiple = simd;
  if (auto* max = find_chained<abi::KernelMaxGroupSize>(properties->pNext, abi::kKernelMaxGroupSize))
    max->maxGroupSize = profile.max_group_size;
  return ZE_RESULT_SUCCESS;
}

ze_result_t kernel_get_name(ze_kernel_handle_t kernel, std::size_t* size, char* text) {
  KILN_NEED_HANDLE(kernel);
  KILN_NEED_POINTER(size);
  const std::string& name = object<Kernel>(kernel)->facts().name;
  if (text) {
    if (*size < name.size() + 1) return ZE_RESULT_ERROR_INVALID_SIZE;
    std::memcpy(text, name.c_str(), name.size() + 1);
  }
  *size = name.size() + 1;
  return ZE_RESULT_SUCCESS;
}

ze_result_t kernel_set_global_offset_exp(ze_kernel_handle_t kernel, std::uint32_t x, std::uint32_t y,
                                         std::uint32_t z) {
  KILN_NEED_HANDLE(kernel);
  object<Kernel>(kernel)->global_offset = {x, y, z};
  return ZE_RESULT_SUCCESS;
}

ze_result_t kernel_scheduling_hint_exp(ze_kernel_handle_t kernel, ze_scheduling_hint_exp_desc_t* hint) {
  KILN_NEED_HANDLE(kernel);
  KILN_NEED_POINTER(hint);
  constexpr ze_scheduling_hint_exp_flags_t kKnown = 0x7;
  return hint->flags & ~kKnown ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
