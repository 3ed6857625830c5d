// SPDX-License-Identifier: MIT
// The Level Zero functions that the tests call, taken from the driver's own tables or from the real loader.
#pragma once

#include <level_zero/ze_api.h>

#include <string>

// Table and member: X(Driver, Get) is zeDriverGet. zeInit alone has no table in its name.
// clang-format off
#define KILN_TEST_FUNCTIONS(X)                                                                               \
  X(Driver, Get) X(Driver, GetApiVersion) X(Driver, GetProperties) X(Driver, GetIpcProperties)               \
  X(Driver, GetExtensionProperties) X(Driver, GetExtensionFunctionAddress)                                   \
  X(Device, Get) X(Device, GetSubDevices) X(Device, GetProperties) X(Device, GetComputeProperties)           \
  X(Device, GetModuleProperties) X(Device, GetCommandQueueGroupProperties) X(Device, GetMemoryProperties)    \
  X(Device, GetMemoryAccessProperties) X(Device, GetCacheProperties) X(Device, GetImageProperties)           \
  X(Device, GetStatus) X(Device, GetGlobalTimestamps)                                                        \
  X(Context, Create) X(Context, Destroy) X(Context, GetStatus) X(Context, SystemBarrier)                     \
  X(Context, MakeMemoryResident) X(Context, EvictMemory)                                                     \
  X(CommandQueue, Create) X(CommandQueue, Destroy) X(CommandQueue, ExecuteCommandLists)                      \
  X(CommandQueue, Synchronize)                                                                               \
  X(CommandList, Create) X(CommandList, CreateImmediate) X(CommandList, Destroy) X(CommandList, Close)       \
  X(CommandList, Reset) X(CommandList, AppendWriteGlobalTimestamp) X(CommandList, AppendBarrier)             \
  X(CommandList, AppendMemoryRangesBarrier) X(CommandList, AppendMemoryCopy)                                 \
  X(CommandList, AppendMemoryFill) X(CommandList, AppendMemoryCopyRegion)                                    \
  X(CommandList, AppendMemoryPrefetch) X(CommandList, AppendMemAdvise) X(CommandList, AppendSignalEvent)     \
  X(CommandList, AppendWaitOnEvents) X(CommandList, AppendEventReset)                                        \
  X(CommandList, AppendQueryKernelTimestamps) X(CommandList, AppendLaunchKernel)                             \
  X(CommandList, AppendLaunchCooperativeKernel) X(CommandList, AppendLaunchKernelIndirect)                   \
  X(CommandList, AppendLaunchMultipleKernelsIndirect)                                                        \
  X(Mem, AllocShared) X(Mem, AllocDevice) X(Mem, AllocHost) X(Mem, Free) X(Mem, GetAllocProperties)          \
  X(Mem, GetAddressRange) X(Image, Create) X(Sampler, Create)                                                \
  X(Mem, GetIpcHandle) X(Mem, OpenIpcHandle) X(Mem, CloseIpcHandle)                                          \
  X(EventPool, GetIpcHandle) X(EventPool, OpenIpcHandle) X(EventPool, CloseIpcHandle)                        \
  X(VirtualMem, Reserve) X(VirtualMem, Free) X(VirtualMem, QueryPageSize) X(VirtualMem, Map)                 \
  X(VirtualMem, Unmap) X(VirtualMem, SetAccessAttribute) X(VirtualMem, GetAccessAttribute)                   \
  X(PhysicalMem, Create) X(PhysicalMem, Destroy)                                                             \
  X(Fence, Create) X(Fence, Destroy) X(Fence, HostSynchronize) X(Fence, QueryStatus) X(Fence, Reset)         \
  X(EventPool, Create) X(EventPool, Destroy) X(Event, Create) X(Event, Destroy) X(Event, HostSignal)         \
  X(Event, HostSynchronize) X(Event, QueryStatus) X(Event, HostReset) X(Event, QueryKernelTimestamp)         \
  X(Module, Create) X(Module, Destroy) X(Module, DynamicLink) X(Module, GetNativeBinary)                     \
  X(Module, GetGlobalPointer) X(Module, GetKernelNames) X(Module, GetProperties)                             \
  X(Module, GetFunctionPointer) X(ModuleBuildLog, Destroy) X(ModuleBuildLog, GetString)                      \
  X(Kernel, Create) X(Kernel, Destroy) X(Kernel, SetCacheConfig) X(Kernel, SetGroupSize)                     \
  X(Kernel, SuggestGroupSize) X(Kernel, SuggestMaxCooperativeGroupCount) X(Kernel, SetArgumentValue)         \
  X(Kernel, SetIndirectAccess) X(Kernel, GetIndirectAccess) X(Kernel, GetSourceAttributes)                   \
  X(Kernel, GetProperties) X(Kernel, GetName)
// clang-format on

struct Api {
  decltype(&::zeInit) Init = nullptr;
#define KILN_TEST_MEMBER(table, name) decltype(&::ze##table##name) table##name = nullptr;
  KILN_TEST_FUNCTIONS(KILN_TEST_MEMBER)
#undef KILN_TEST_MEMBER
  void* library = nullptr;  ///< the driver when straight, else the loader
  bool straight = false;    ///< no loader in between
};

extern Api api;

/// Fills `api`; empty on success, else what is missing.
[[nodiscard]] std::string load_straight(const char* driver_path);
[[nodiscard]] std::string load_through_loader();
