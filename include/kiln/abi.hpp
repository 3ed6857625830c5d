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
inline constexpr std::uint32_t kInitDriverType = 0x20021;
inline constexpr std::uint32_t kExternalSystemMemory = 0x20037;
inline constexpr std::uint32_t kCounterBasedEvent = 0x2003a;
inline constexpr std::uint32_t kIntelCounterBasedEvent = 0x3001c;  // Intel's own

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

// Flags that headers before 1.7 and 1.14 lack.
inline constexpr std::uint32_t kQueueInOrder = 0x2, kQueueCopyOffload = 0x4;  // of immediate lists
inline constexpr std::uint32_t kListInOrder = 0x8, kListCopyOffload = 0x20;   // of regular lists

/// ze_event_counter_based_desc_t (1.15).
struct CounterBasedEvent {
  ze_structure_type_t stype;
  const void* pNext;
  std::uint32_t flags;
  ze_event_scope_flags_t signal;
  ze_event_scope_flags_t wait;
};
inline constexpr std::uint32_t kCounterImmediate = 0x1, kCounterNonImmediate = 0x2, kCounterHostVisible = 0x4,
                               kCounterTimestamps = 0x10;  // of both kinds

/// zex_counter_based_event_desc_t of Intel's driver since 24.45: the same before it came into the core.
struct IntelCounterBasedEvent {
  ze_structure_type_t stype;
  const void* pNext;
  std::uint32_t flags;
  ze_event_scope_flags_t signal;
  ze_event_scope_flags_t wait;
};

/// ze_host_function_callback_t (1.17).
using HostFunction = void(ZE_APICALL*)(void* user);

/// ze_init_driver_type_desc_t (1.10).
struct InitDriverType {
  ze_structure_type_t stype;
  const void* pNext;
  std::uint32_t flags;
};
inline constexpr std::uint32_t kInitGpu = 0x1;
using InitDrivers = ze_result_t(ZE_APICALL*)(std::uint32_t*, ze_driver_handle_t*, InitDriverType*);  // 1.10

/// ze_external_memmap_sysmem_ext_desc_t (1.14): on zeMemAllocHost.
struct ExternalSystemMemory {
  ze_structure_type_t stype;
  const void* pNext;
  void* pSystemMemory;
  std::uint64_t size;
};
/// zexDriverImportExternalPointer and zexDriverReleaseImportedPointer, of Intel's driver.
using IntelImportExternalPointer = ze_result_t(ZE_APICALL*)(ze_driver_handle_t, void*, std::size_t);
using IntelReleaseImportedPointer = ze_result_t(ZE_APICALL*)(ze_driver_handle_t, void*);

/// An extension of Intel's driver, which 22.43 has not. The size leaves out a terminating zero, which is not
/// always there.
using IntelGetDriverVersionString = ze_result_t(ZE_APICALL*)(ze_driver_handle_t, char*, std::size_t*);
using DriverGetLastErrorDescription = ze_result_t(ZE_APICALL*)(ze_driver_handle_t, const char**);      // 1.6
using CommandListHostSynchronize = ze_result_t(ZE_APICALL*)(ze_command_list_handle_t, std::uint64_t);  // 1.6
using CommandListGetDeviceHandle = ze_result_t(ZE_APICALL*)(ze_command_list_handle_t,
                                                            ze_device_handle_t*);            // 1.9
using MemPutIpcHandle = ze_result_t(ZE_APICALL*)(ze_context_handle_t, ze_ipc_mem_handle_t);  // 1.6
using EventCounterBasedCreate = ze_result_t(ZE_APICALL*)(ze_context_handle_t, ze_device_handle_t,
                                                         const CounterBasedEvent*,
                                                         ze_event_handle_t*);  // 1.15
using IntelCounterBasedEventCreate = ze_result_t(ZE_APICALL*)(ze_context_handle_t, ze_device_handle_t,
                                                              const IntelCounterBasedEvent*,
                                                              ze_event_handle_t*);
/// ZE_experimental_immediate_command_list_append, since 1.9.
using CommandListImmediateAppendCommandLists = ze_result_t(ZE_APICALL*)(ze_command_list_handle_t,
                                                                        std::uint32_t,
                                                                        ze_command_list_handle_t*,
                                                                        ze_event_handle_t, std::uint32_t,
                                                                        ze_event_handle_t*);
using CommandListAppendHostFunction = ze_result_t(ZE_APICALL*)(ze_command_list_handle_t, HostFunction,
                                                               void* user, const void*, ze_event_handle_t,
                                                               std::uint32_t, ze_event_handle_t*);  // 1.17

/// The loader's own function: what stands behind a handle that it may have wrapped. Its handle types are
/// those of zel_handle_type_t; loader 1.8 and newer.
using LoaderTranslateHandle = ze_result_t(ZE_APICALL*)(int type, void* handle, void** translated);
inline constexpr int kLoaderDriverHandle = 0, kLoaderContextHandle = 2;

}  // namespace kiln::abi
