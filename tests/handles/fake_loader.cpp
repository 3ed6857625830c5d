// SPDX-License-Identifier: MIT
// Stands in for the Level Zero loader in a process where another part asked zeInit for drivers of NPUs alone:
// zeInit does nothing more, zeDriverGet shows none, and zeInitDrivers those of the type that is asked for.
// FAKE_LOADER=old: its drivers do not know zeInitDrivers, and zeInit starts them.
// FAKE_LOADER=mixed: the GPU's driver does not know it, another one does, and zeInit starts both.
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "kiln/api.hpp"
#include "kiln/structures.hpp"

namespace {

int gpu_driver, npu_driver, cpu_driver, gpu, cpu;

bool is(std::string_view mode) {
  const char* const set = std::getenv("FAKE_LOADER");
  return set && set == mode;
}

template <class Handle>
ze_result_t show(std::initializer_list<int*> all, std::uint32_t* count, Handle* handles) {
  std::uint32_t i = 0;
  for (int* each : all)
    if (handles && i < *count) handles[i++] = reinterpret_cast<Handle>(each);
  *count = static_cast<std::uint32_t>(all.size());
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
  if (is("old")) return ZE_RESULT_ERROR_UNINITIALIZED;
  if (is("mixed")) return show({&cpu_driver}, count, drivers);
  return show({type->flags & kiln::abi::kInitGpu ? &gpu_driver : &npu_driver}, count, drivers);
}
SHOWN ze_result_t zeDriverGet(std::uint32_t* count, ze_driver_handle_t* drivers) {
  if (is("old")) return show({&gpu_driver}, count, drivers);
  if (is("mixed")) return show({&cpu_driver, &gpu_driver}, count, drivers);
  return show({}, count, drivers);
}
SHOWN ze_result_t zeDeviceGet(ze_driver_handle_t driver, std::uint32_t* count, ze_device_handle_t* devices) {
  if (reinterpret_cast<int*>(driver) == &gpu_driver) return show({&gpu}, count, devices);
  if (reinterpret_cast<int*>(driver) == &cpu_driver) return show({&cpu}, count, devices);
  return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}
SHOWN ze_result_t zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t* properties) {
  properties->type = reinterpret_cast<int*>(device) == &gpu ? ZE_DEVICE_TYPE_GPU : ZE_DEVICE_TYPE_CPU;
  return ZE_RESULT_SUCCESS;
}
