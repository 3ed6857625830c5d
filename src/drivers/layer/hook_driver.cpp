// SPDX-License-Identifier: MIT
// What a driver says of itself, without the tables inside its handles: loaders would call through them, past
// the layer.
#include <algorithm>
#include <string_view>
#include <vector>

#include "drivers/layer/capture/hooks.hpp"
#include "drivers/layer/explain.hpp"
#include "drivers/layer/hooks.hpp"
#include "drivers/layer/tell.hpp"

namespace kiln::layer {
namespace {

constexpr std::string_view kTablesInHandles = "ZE_extension_driver_ddi_handles";

/// ze_driver_ddi_handles_ext_properties_t, 1.12.
struct TablesInHandles {
  ze_structure_type_t stype;
  TablesInHandles* next;  // as in all structures
  std::uint32_t flags;
};
constexpr auto kTablesInHandlesType = static_cast<ze_structure_type_t>(0x20027);
constexpr std::uint32_t kSupported = 1;

/// As zeDriverGetExtensionProperties.
ze_result_t other_extensions(ze_driver_handle_t driver, std::uint32_t* count,
                             ze_driver_extension_properties_t* properties) {
  std::uint32_t all = 0;
  if (!count || real.zeDriverGetExtensionProperties(driver, &all, nullptr) != ZE_RESULT_SUCCESS)
    return real.zeDriverGetExtensionProperties(driver, count, properties);
  std::vector<ze_driver_extension_properties_t> shown(all);
  if (const ze_result_t code = real.zeDriverGetExtensionProperties(driver, &all, shown.data());
      code != ZE_RESULT_SUCCESS || all > shown.size())
    return real.zeDriverGetExtensionProperties(driver, count, properties);
  shown.resize(all);
  if (std::erase_if(shown, [](const auto& each) { return each.name == kTablesInHandles; }) == 0)
    return real.zeDriverGetExtensionProperties(driver, count, properties);
  const auto have = static_cast<std::uint32_t>(shown.size());
  if (*count != 0 && properties) std::copy_n(shown.begin(), std::min(*count, have), properties);
  if (*count == 0 || *count > have) *count = have;
  return ZE_RESULT_SUCCESS;
}

/// The driver does not start: most often for want of a device.
[[gnu::cold]] ze_result_t not_started(const Failed failed) noexcept {
  tell([&] {
    Diagnostic diagnostic = explain_code_alone(failed);
    diagnostic.help = {"`kiln doctor` says why there is no GPU, and what to do",
                       "`kiln exec --device cpu` takes the CPU device"};
    return diagnostic;
  });
  return failed.code;
}

}  // namespace

ze_result_t ZE_APICALL hook::zeInit(ze_init_flags_t flags) {
  const ze_result_t code = real.zeInit(flags);
  return code == ZE_RESULT_SUCCESS ? code : not_started({code, "zeInit"});
}

ze_result_t ZE_APICALL hook::zeInitDrivers(std::uint32_t* count, ze_driver_handle_t* drivers,
                                           void* description) {
  const ze_result_t code = real.zeInitDrivers(count, drivers, description);
  return code == ZE_RESULT_SUCCESS ? code : not_started({code, "zeInitDrivers"});
}

ze_result_t ZE_APICALL hook::zeDriverGetProperties(ze_driver_handle_t driver,
                                                   ze_driver_properties_t* properties) {
  const ze_result_t code = real.zeDriverGetProperties(driver, properties);
  if (code != ZE_RESULT_SUCCESS || !properties) return code;
  for (auto* each = static_cast<TablesInHandles*>(properties->pNext); each; each = each->next)
    if (each->stype == kTablesInHandlesType) each->flags &= ~kSupported;
  return code;
}

ze_result_t ZE_APICALL hook::zeDriverGetExtensionProperties(ze_driver_handle_t driver, std::uint32_t* count,
                                                            ze_driver_extension_properties_t* properties) {
  ze_result_t code = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  quietly([&] { code = other_extensions(driver, count, properties); });
  return code;
}

ze_result_t ZE_APICALL hook::zeDriverGetExtensionFunctionAddress(ze_driver_handle_t driver, const char* name,
                                                                 void** address) {
  const ze_result_t code = real.zeDriverGetExtensionFunctionAddress(driver, name, address);
  if (code != ZE_RESULT_SUCCESS || !name || !address || !*address) return code;
  for (const Hook& hook : hooks())
    if (hook.name == name) {
      if (!*hook.real) *hook.real = reinterpret_cast<Address>(*address);
      *address = reinterpret_cast<void*>(hook.own);
    }
  *address = reinterpret_cast<void*>(capture::in_front_of(name, reinterpret_cast<Address>(*address)));
  return code;
}

}  // namespace kiln::layer
