// SPDX-License-Identifier: MIT
// Dispatch tables: Level Zero's entry points, found at run time in the loader or in a driver itself.
#pragma once

#include <level_zero/ze_api.h>

#include <cstddef>
#include <string>

#include "kiln/abi.hpp"
#include "kiln/result.hpp"

// One list. REQUIRED(table, name): ze<table><name> is in version 1.0 to 1.4 and every driver has it.
// OPTIONAL(name, type): newer than that, or the loader's own; the pointer is null where it is lacking.
// New ones stand at the end: compiled programs know the places of those before.
#define KILN_ENTRY_POINTS(REQUIRED, OPTIONAL)                                                        \
  REQUIRED(Driver, Get)                                                                              \
  REQUIRED(Driver, GetApiVersion)                                                                    \
  REQUIRED(Driver, GetProperties)                                                                    \
  REQUIRED(Driver, GetExtensionProperties)                                                           \
  REQUIRED(Driver, GetExtensionFunctionAddress)                                                      \
  REQUIRED(Device, Get)                                                                              \
  REQUIRED(Device, GetProperties)                                                                    \
  REQUIRED(Device, GetComputeProperties)                                                             \
  REQUIRED(Device, GetModuleProperties)                                                              \
  REQUIRED(Device, GetMemoryProperties)                                                              \
  REQUIRED(Device, GetCacheProperties)                                                               \
  REQUIRED(Device, GetCommandQueueGroupProperties)                                                   \
  REQUIRED(Device, GetStatus)                                                                        \
  REQUIRED(Device, GetExternalMemoryProperties)                                                      \
  REQUIRED(Device, GetSubDevices)                                                                    \
  REQUIRED(Device, CanAccessPeer)                                                                    \
  REQUIRED(Context, Create)                                                                          \
  REQUIRED(Context, Destroy)                                                                         \
  REQUIRED(Context, MakeMemoryResident)                                                              \
  REQUIRED(Context, EvictMemory)                                                                     \
  REQUIRED(Mem, AllocDevice)                                                                         \
  REQUIRED(Mem, AllocHost)                                                                           \
  REQUIRED(Mem, AllocShared)                                                                         \
  REQUIRED(Mem, Free)                                                                                \
  REQUIRED(Mem, GetAllocProperties)                                                                  \
  REQUIRED(Mem, GetIpcHandle)                                                                        \
  REQUIRED(Mem, OpenIpcHandle)                                                                       \
  REQUIRED(Mem, CloseIpcHandle)                                                                      \
  REQUIRED(CommandQueue, Create)                                                                     \
  REQUIRED(CommandQueue, Destroy)                                                                    \
  REQUIRED(CommandQueue, ExecuteCommandLists)                                                        \
  REQUIRED(CommandQueue, Synchronize)                                                                \
  REQUIRED(Fence, Create)                                                                            \
  REQUIRED(Fence, Destroy)                                                                           \
  REQUIRED(Fence, HostSynchronize)                                                                   \
  REQUIRED(Fence, QueryStatus)                                                                       \
  REQUIRED(Fence, Reset)                                                                             \
  REQUIRED(EventPool, Create)                                                                        \
  REQUIRED(EventPool, Destroy)                                                                       \
  REQUIRED(Event, Create)                                                                            \
  REQUIRED(Event, Destroy)                                                                           \
  REQUIRED(Event, HostSignal)                                                                        \
  REQUIRED(Event, HostSynchronize)                                                                   \
  REQUIRED(Event, QueryStatus)                                                                       \
  REQUIRED(Event, HostReset)                                                                         \
  REQUIRED(Event, QueryKernelTimestamp)                                                              \
  REQUIRED(CommandList, Create)                                                                      \
  REQUIRED(CommandList, CreateImmediate)                                                             \
  REQUIRED(CommandList, Destroy)                                                                     \
  REQUIRED(CommandList, Close)                                                                       \
  REQUIRED(CommandList, Reset)                                                                       \
  REQUIRED(CommandList, AppendBarrier)                                                               \
  REQUIRED(CommandList, AppendMemoryCopy)                                                            \
  REQUIRED(CommandList, AppendMemoryFill)                                                            \
  REQUIRED(CommandList, AppendMemoryCopyRegion)                                                      \
  REQUIRED(CommandList, AppendMemoryPrefetch)                                                        \
  REQUIRED(CommandList, AppendMemAdvise)                                                             \
  REQUIRED(CommandList, AppendWriteGlobalTimestamp)                                                  \
  REQUIRED(CommandList, AppendSignalEvent)                                                           \
  REQUIRED(CommandList, AppendWaitOnEvents)                                                          \
  REQUIRED(CommandList, AppendEventReset)                                                            \
  REQUIRED(CommandList, AppendLaunchKernel)                                                          \
  REQUIRED(CommandList, AppendLaunchCooperativeKernel)                                               \
  REQUIRED(Module, Create)                                                                           \
  REQUIRED(Module, Destroy)                                                                          \
  REQUIRED(Module, DynamicLink)                                                                      \
  REQUIRED(Module, GetNativeBinary)                                                                  \
  REQUIRED(Module, GetKernelNames)                                                                   \
  REQUIRED(Module, GetGlobalPointer)                                                                 \
  REQUIRED(Module, GetFunctionPointer)                                                               \
  REQUIRED(ModuleBuildLog, Destroy)                                                                  \
  REQUIRED(ModuleBuildLog, GetString)                                                                \
  REQUIRED(Kernel, Create)                                                                           \
  REQUIRED(Kernel, Destroy)                                                                          \
  REQUIRED(Kernel, SetGroupSize)                                                                     \
  REQUIRED(Kernel, SuggestGroupSize)                                                                 \
  REQUIRED(Kernel, SuggestMaxCooperativeGroupCount)                                                  \
  REQUIRED(Kernel, SetArgumentValue)                                                                 \
  REQUIRED(Kernel, SetIndirectAccess)                                                                \
  REQUIRED(Kernel, GetProperties)                                                                    \
  REQUIRED(Kernel, GetName)                                                                          \
  OPTIONAL(zeInitDrivers, abi::InitDrivers)                                                          \
  OPTIONAL(zeDevicePciGetPropertiesExt, decltype(&::zeDevicePciGetPropertiesExt))                    \
  OPTIONAL(zeMemPutIpcHandle, abi::MemPutIpcHandle)                                                  \
  OPTIONAL(zeDriverGetLastErrorDescription, abi::DriverGetLastErrorDescription)                      \
  OPTIONAL(zeCommandListHostSynchronize, abi::CommandListHostSynchronize)                            \
  OPTIONAL(zeCommandListGetDeviceHandle, abi::CommandListGetDeviceHandle)                            \
  OPTIONAL(zeIntelGetDriverVersionString, abi::IntelGetDriverVersionString)                          \
  OPTIONAL(zeEventCounterBasedCreate, abi::EventCounterBasedCreate)                                  \
  OPTIONAL(zexCounterBasedEventCreate2, abi::IntelCounterBasedEventCreate)                           \
  OPTIONAL(zeCommandListImmediateAppendCommandListsExp, abi::CommandListImmediateAppendCommandLists) \
  OPTIONAL(zeCommandListAppendHostFunction, abi::CommandListAppendHostFunction)                      \
  OPTIONAL(zelLoaderTranslateHandle, abi::LoaderTranslateHandle)

namespace kiln {

/// Entry points by their Level Zero names.
struct Api {
  decltype(&::zeInit) zeInit = nullptr;
#define KILN_REQUIRED(table, name) decltype(&::ze##table##name) ze##table##name = nullptr;
#define KILN_OPTIONAL(name, type) type name = nullptr;
  KILN_ENTRY_POINTS(KILN_REQUIRED, KILN_OPTIONAL)
#undef KILN_REQUIRED
#undef KILN_OPTIONAL
  friend bool operator==(const Api&, const Api&) = default;
};

// Tables grow with the library. So a program has none of its own that the library reads to the library's end,
// and none of the library's is data that a program is linked to, which would get a copy of the old size.
namespace detail {
/// Each REQUIRED entry point gives UNINITIALIZED: what an empty handle calls, and every handle before a load.
[[nodiscard, gnu::const]] const Api& no_driver();
/// What the program's headers know of a table, in bytes, is read.
const Api& load_table(const Api& table, std::size_t size);
}  // namespace detail

// Each source has a table of its own, which lives until the process ends, and each handle carries that of its
// driver: a GPU, Kiln's CPU device and Intel's driver without a GPU work side by side.

/// The table of raw handles whose driver nobody names: the loader's, or what load_table() was given last.
/// Thread-safe.
[[nodiscard]] const Api& default_api();

/// Opens the Level Zero loader (`libze_loader.so.1`), fills its table, which becomes default_api(), and calls
/// zeInit; where that shows no GPU, since another part of the program asked zeInit for other kinds before,
/// also zeInitDrivers (loaders from 1.10 on) for drivers of GPUs. Errors: no loader, entry point missing, no
/// driver, no device (each with a diagnostic, K0301 to K0305). A second call gives the same table.
/// Thread-safe, though no thread may change the environment.
[[nodiscard]] Result<const Api*> load_loader();

/// The same straight from a driver library (its ze*ProcAddrTable functions), past the loader and the
/// environment; default_api() stays as it is. One table a library. Errors: K0306 when the file cannot be
/// opened or is no driver.
[[nodiscard]] Result<const Api*> load_driver(const std::string& library);

/// Copies the caller's own entry points to a table that becomes default_api(), for engines that have a loader
/// of their own and for tests. Those REQUIRED that are not set give UNINITIALIZED. The caller has called
/// zeInit or zeInitDrivers. Give zelLoaderTranslateHandle too where the table is a loader's, 1.8 to 1.32:
/// without it nobody can tell that the loader intercepts calls, and then its logs of failed builds, and
/// before 1.9 link_modules(), end the process. Thread-safe.
inline const Api& load_table(const Api& table) { return detail::load_table(table, sizeof table); }

}  // namespace kiln
