// SPDX-License-Identifier: MIT
// A driver whose every function succeeds at once, so that what stands before it can be counted.
#include <cstdint>

#include "../../tests/layer/idle_tables.hpp"

namespace {

/// A handle that nobody looks into.
template <class Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

ze_result_t driver_get(std::uint32_t* count, ze_driver_handle_t* drivers) {
  if (drivers && *count) *drivers = handle<ze_driver_handle_t>(0x10000);
  *count = 1;
  return ZE_RESULT_SUCCESS;
}
ze_result_t module_create(ze_context_handle_t, ze_device_handle_t, const ze_module_desc_t*,
                          ze_module_handle_t* module, ze_module_build_log_handle_t*) {
  *module = handle<ze_module_handle_t>(0x20000);
  return ZE_RESULT_SUCCESS;
}
ze_result_t kernel_create(ze_module_handle_t, const ze_kernel_desc_t*, ze_kernel_handle_t* kernel) {
  *kernel = handle<ze_kernel_handle_t>(0x30000);
  return ZE_RESULT_SUCCESS;
}
ze_result_t kernel_properties(ze_kernel_handle_t, ze_kernel_properties_t* properties) {
  properties->numKernelArgs = 3;
  return ZE_RESULT_SUCCESS;
}
ze_result_t compute_properties(ze_device_handle_t, ze_device_compute_properties_t* properties) {
  properties->maxSharedLocalMemory = 65536;
  properties->maxTotalGroupSize = 1024;
  properties->maxGroupSizeX = properties->maxGroupSizeY = properties->maxGroupSizeZ = 1024;
  properties->maxGroupCountX = properties->maxGroupCountY = properties->maxGroupCountZ = UINT32_MAX;
  return ZE_RESULT_SUCCESS;
}

void adjust(void*) {}
void adjust(ze_driver_dditable_t* table) { table->pfnGet = driver_get; }
void adjust(ze_device_dditable_t* table) { table->pfnGetComputeProperties = compute_properties; }
void adjust(ze_module_dditable_t* table) { table->pfnCreate = module_create; }
void adjust(ze_kernel_dditable_t* table) {
  table->pfnCreate = kernel_create;
  table->pfnGetProperties = kernel_properties;
}

}  // namespace

KILN_IDLE_TABLES
KILN_IDLE_TABLE(Kernel, kernel)
