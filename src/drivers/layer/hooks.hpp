// SPDX-License-Identifier: MIT
// The entry points that the layer stands in front of, and the driver's own behind them. All others are the
// driver's in the tables that callers get.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "kiln/abi.hpp"

namespace kiln::layer {

namespace abi {

/// zeInitDrivers, 1.10; the last is ze_init_driver_type_desc_t.
using InitDrivers = ze_result_t(ZE_APICALL*)(std::uint32_t*, ze_driver_handle_t*, void*);
struct GroupSize {  // ze_group_size_t, 1.14
  std::uint32_t x, y, z;
};
using AppendWithParameters = ze_result_t(ZE_APICALL*)(ze_command_list_handle_t, ze_kernel_handle_t,
                                                      const ze_group_count_t*, const void*, ze_event_handle_t,
                                                      std::uint32_t, ze_event_handle_t*);  // 1.14
using AppendWithArguments = ze_result_t(ZE_APICALL*)(ze_command_list_handle_t, ze_kernel_handle_t,
                                                     ze_group_count_t, GroupSize, void**, const void*,
                                                     ze_event_handle_t, std::uint32_t,
                                                     ze_event_handle_t*);  // 1.14

}  // namespace abi

// OLD(table, place in it, name) is in the oldest headers; NEW(table, place, minor version that brought it,
// name, type) is not. Places: ze_ddi.h of specification 1.17.
#define KILN_LAYER_HOOKS(OLD, NEW)                                                                   \
  OLD(Global, 0, zeInit)                                                                             \
  NEW(Global, 1, 10, zeInitDrivers, abi::InitDrivers)                                                \
  OLD(Driver, 2, zeDriverGetProperties)                                                              \
  OLD(Driver, 4, zeDriverGetExtensionProperties)                                                     \
  OLD(Driver, 5, zeDriverGetExtensionFunctionAddress)                                                \
  OLD(Device, 9, zeDeviceGetImageProperties)                                                         \
  OLD(CommandQueue, 0, zeCommandQueueCreate)                                                         \
  OLD(CommandQueue, 1, zeCommandQueueDestroy)                                                        \
  OLD(CommandQueue, 2, zeCommandQueueExecuteCommandLists)                                            \
  OLD(CommandQueue, 3, zeCommandQueueSynchronize)                                                    \
  OLD(CommandList, 0, zeCommandListCreate)                                                           \
  OLD(CommandList, 1, zeCommandListCreateImmediate)                                                  \
  OLD(CommandList, 2, zeCommandListDestroy)                                                          \
  OLD(CommandList, 3, zeCommandListClose)                                                            \
  OLD(CommandList, 8, zeCommandListAppendMemoryCopy)                                                 \
  OLD(CommandList, 9, zeCommandListAppendMemoryFill)                                                 \
  OLD(CommandList, 12, zeCommandListAppendImageCopy)                                                 \
  OLD(CommandList, 13, zeCommandListAppendImageCopyRegion)                                           \
  OLD(CommandList, 14, zeCommandListAppendImageCopyToMemory)                                         \
  OLD(CommandList, 15, zeCommandListAppendImageCopyFromMemory)                                       \
  OLD(CommandList, 22, zeCommandListAppendLaunchKernel)                                              \
  OLD(CommandList, 23, zeCommandListAppendLaunchCooperativeKernel)                                   \
  OLD(CommandList, 24, zeCommandListAppendLaunchKernelIndirect)                                      \
  NEW(CommandList, 28, 6, zeCommandListHostSynchronize, kiln::abi::CommandListHostSynchronize)       \
  NEW(CommandList, 36, 14, zeCommandListAppendLaunchKernelWithParameters, abi::AppendWithParameters) \
  NEW(CommandList, 37, 14, zeCommandListAppendLaunchKernelWithArguments, abi::AppendWithArguments)   \
  OLD(Event, 3, zeEventHostSynchronize)                                                              \
  OLD(Event, 4, zeEventQueryStatus)                                                                  \
  OLD(EventPool, 0, zeEventPoolCreate)                                                               \
  OLD(Fence, 2, zeFenceHostSynchronize)                                                              \
  OLD(Fence, 3, zeFenceQueryStatus)                                                                  \
  OLD(Image, 1, zeImageCreate)                                                                       \
  OLD(Image, 2, zeImageDestroy)                                                                      \
  OLD(Module, 0, zeModuleCreate)                                                                     \
  OLD(Module, 1, zeModuleDestroy)                                                                    \
  OLD(Module, 2, zeModuleDynamicLink)                                                                \
  OLD(Kernel, 0, zeKernelCreate)                                                                     \
  OLD(Kernel, 1, zeKernelDestroy)                                                                    \
  OLD(Kernel, 3, zeKernelSetGroupSize)                                                               \
  OLD(Kernel, 4, zeKernelSuggestGroupSize)                                                           \
  OLD(Kernel, 5, zeKernelSuggestMaxCooperativeGroupCount)                                            \
  OLD(Kernel, 6, zeKernelSetArgumentValue)                                                           \
  OLD(Kernel, 10, zeKernelGetProperties)                                                             \
  OLD(Mem, 0, zeMemAllocShared)                                                                      \
  OLD(Mem, 1, zeMemAllocDevice)                                                                      \
  OLD(Mem, 3, zeMemFree)                                                                             \
  OLD(Mem, 2, zeMemAllocHost)

/// The driver's own functions, null where it has none. Written before a caller gets the table they are of.
struct Real {
#define KILN_OLD(table, place, name) decltype(&::name) name = nullptr;
#define KILN_NEW(table, place, since, name, type) type name = nullptr;
  KILN_LAYER_HOOKS(KILN_OLD, KILN_NEW)
#undef KILN_OLD
#undef KILN_NEW
};
inline constinit Real real;

using Address = void (*)();

/// One function of the layer's, and where the driver's own is kept.
struct Hook {
  std::string_view table;
  std::uint16_t place;  ///< in the table
  std::uint16_t since;  ///< minor version of the interface that brought it
  std::string_view name;
  Address* real;
  Address own;
};
[[nodiscard]] std::span<const Hook> hooks();

// Each is called in place of the driver's function of that name, calls it, and hands back its answer.
namespace hook {
#define KILN_OLD(table, place, name) decltype(::name) name;
#define KILN_NEW(table, place, since, name, type) std::remove_pointer_t<type> name;
KILN_LAYER_HOOKS(KILN_OLD, KILN_NEW)
#undef KILN_OLD
#undef KILN_NEW
}  // namespace hook

}  // namespace kiln::layer
