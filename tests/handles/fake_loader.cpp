// SPDX-License-Identifier: MIT
// Stands in for the Level Zero loader in a process where another part asked zeInit for drivers of NPUs alone:
// zeInit does nothing more, zeDriverGet shows none, and zeInitDrivers those of the type that is asked for.
// FAKE_LOADER=old: its drivers do not know zeInitDrivers, and zeInit starts them.
#include <cstdlib>
#include <string_view>

#include "kiln/api.hpp"
#include "kiln/structures.hpp"

namespace {

int gpu_driver, npu_driver, gpu;

bool is_old() {
  const char* const mode = std::getenv("FAKE_LOADER");
  return mode && std::string_view(mode) == "old";
}

ze_result_t show(std::uint32_t count, std::uint32_t* of, ze_driver_handle_t* drivers, int* driver) {
  if (drivers && *of > 0) drivers[0] = reinterpret_cast<ze_driver_handle_t>(driver);
  *of = count;
  return ZE_RESULT_SUCCESS;
}

}  // namespace

#define SHOWN extern "C" __attribute__((visibility("default")))

SHOWN ze_result_t zeInit(ze_init_flags_t) { return ZE_RESULT_SUCCESS; }
// Newer headers declare it, with a structure of their own.
SHOWN ze_result_t init_drivers(std::uint32_t* count, ze_driver_handle_t* drivers,
                               kiln::abi::InitDriverType* type) __asm__("zeInitDrivers");
SHOWN ze_result_t init_drivers(std::uint32_t* count, ze_driver_handle_t* drivers,
                               kiln::abi::InitDriverType* type) {
  if (type->stype != kiln::StructureType<kiln::abi::InitDriverType>::value || type->pNext || type->flags == 0)
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  if (is_old()) return ZE_RESULT_ERROR_UNINITIALIZED;
  return show(1, count, drivers, type->flags & kiln::abi::kInitGpu ? &gpu_driver : &npu_driver);
}
SHOWN ze_result_t zeDriverGet(std::uint32_t* count, ze_driver_handle_t* drivers) {
  return show(is_old() ? 1 : 0, count, drivers, &gpu_driver);
}
SHOWN ze_result_t zeDeviceGet(ze_driver_handle_t driver, std::uint32_t* count, ze_device_handle_t* devices) {
  if (reinterpret_cast<int*>(driver) != &gpu_driver) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  if (devices && *count > 0) devices[0] = reinterpret_cast<ze_device_handle_t>(&gpu);
  *count = 1;
  return ZE_RESULT_SUCCESS;
}
SHOWN ze_result_t zeDeviceGetProperties(ze_device_handle_t, ze_device_properties_t* properties) {
  properties->type = ZE_DEVICE_TYPE_GPU;
  return ZE_RESULT_SUCCESS;
}
