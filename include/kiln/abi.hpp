// SPDX-License-Identifier: MIT
// Structs and functions that newer Level Zero versions add, declared here so that old headers can use new
// drivers.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

namespace kiln::abi {

// Values of ze_structure_type_t; source: Level Zero specification 1.15, "Core programming guide", structure
// types.
inline constexpr std::uint32_t kDeviceIpVersion = 0x1000f;
inline constexpr std::uint32_t kKernelMaxGroupSize = 0x10013;
inline constexpr std::uint32_t kDeviceUsableMemory = 0x20041;

/// ze_device_ip_version_ext_t (1.6): on zeDeviceGetProperties. Intel: architecture << 22 | release << 14 |
/// revision.
struct DeviceIpVersion {
  ze_structure_type_t stype;
  const void* pNext;
  std::uint32_t ipVersion;
};

/// ze_kernel_max_group_size_properties_ext_t (1.8): on zeKernelGetProperties; Intel's driver since 24.13.
struct KernelMaxGroupSize {
  ze_structure_type_t stype;
  void* pNext;
  std::uint32_t maxGroupSize;
};

/// ze_device_usablemem_size_ext_properties_t (1.14): on zeDeviceGetProperties; free bytes at this moment.
struct DeviceUsableMemory {
  ze_structure_type_t stype;
  void* pNext;
  std::uint64_t currUsableMemSize;
};

/// An extension of Intel's driver, which 22.43 has not. The size leaves out a terminating zero, which is not
/// always there.
using IntelGetDriverVersionString = ze_result_t(ZE_APICALL*)(ze_driver_handle_t, char*, std::size_t*);
using DriverGetLastErrorDescription = ze_result_t(ZE_APICALL*)(ze_driver_handle_t, const char**);      // 1.6
using CommandListHostSynchronize = ze_result_t(ZE_APICALL*)(ze_command_list_handle_t, std::uint64_t);  // 1.6
using CommandListGetDeviceHandle = ze_result_t(ZE_APICALL*)(ze_command_list_handle_t,
                                                            ze_device_handle_t*);  // 1.9

/// The loader's own function: what stands behind a handle that it may have wrapped. Its handle types are
/// those of zel_handle_type_t; loader 1.8 and newer.
using LoaderTranslateHandle = ze_result_t(ZE_APICALL*)(int type, void* handle, void** translated);
inline constexpr int kLoaderContextHandle = 2;

}  // namespace kiln::abi
