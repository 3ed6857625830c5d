// SPDX-License-Identifier: MIT
// The entry points that `--capture` stands in front of, before the layer's own hooks and the driver. Without
// it nobody does.
#pragma once

#include <string_view>

#include "drivers/layer/hooks.hpp"

namespace kiln::layer::capture {

// Places: ze_ddi.h of specification 1.17. ASKED are called and not replaced.
#define KILN_CAPTURE_CALLS(OLD, NEW, ASKED)                                                                 \
  OLD(CommandList, 2, zeCommandListDestroy)                                                                 \
  OLD(CommandList, 4, zeCommandListReset)                                                                   \
  OLD(CommandList, 22, zeCommandListAppendLaunchKernel)                                                     \
  OLD(CommandList, 23, zeCommandListAppendLaunchCooperativeKernel)                                          \
  NEW(CommandList, 28, 6, zeCommandListHostSynchronize, kiln::abi::CommandListHostSynchronize)              \
  NEW(CommandList, 36, 14, zeCommandListAppendLaunchKernelWithParameters, layer::abi::AppendWithParameters) \
  NEW(CommandList, 37, 14, zeCommandListAppendLaunchKernelWithArguments, layer::abi::AppendWithArguments)   \
  NEW(CommandListExp, 1, 9, zeCommandListImmediateAppendCommandListsExp,                                    \
      kiln::abi::CommandListImmediateAppendCommandLists)                                                    \
  OLD(CommandList, 24, zeCommandListAppendLaunchKernelIndirect)                                             \
  OLD(CommandQueue, 2, zeCommandQueueExecuteCommandLists)                                                   \
  OLD(Module, 2, zeModuleDynamicLink)                                                                       \
  OLD(CommandQueue, 3, zeCommandQueueSynchronize)                                                           \
  OLD(Context, 1, zeContextDestroy)                                                                         \
  OLD(Event, 3, zeEventHostSynchronize)                                                                     \
  OLD(Event, 4, zeEventQueryStatus)                                                                         \
  OLD(Fence, 2, zeFenceHostSynchronize)                                                                     \
  OLD(Fence, 3, zeFenceQueryStatus)                                                                         \
  OLD(Module, 0, zeModuleCreate)                                                                            \
  OLD(Module, 1, zeModuleDestroy)                                                                           \
  OLD(Kernel, 0, zeKernelCreate)                                                                            \
  OLD(Kernel, 1, zeKernelDestroy)                                                                           \
  OLD(Kernel, 3, zeKernelSetGroupSize)                                                                      \
  OLD(Kernel, 6, zeKernelSetArgumentValue)                                                                  \
  OLD(Kernel, 7, zeKernelSetIndirectAccess)                                                                 \
  OLD(KernelExp, 0, zeKernelSetGlobalOffsetExp)                                                             \
  ASKED(CommandList, 6, zeCommandListAppendBarrier)                                                         \
  ASKED(CommandList, 8, zeCommandListAppendMemoryCopy)                                                      \
  ASKED(EventPool, 0, zeEventPoolCreate)                                                                    \
  ASKED(EventPool, 1, zeEventPoolDestroy)                                                                   \
  ASKED(Event, 0, zeEventCreate)                                                                            \
  ASKED(Event, 1, zeEventDestroy)                                                                           \
  ASKED(Mem, 2, zeMemAllocHost)                                                                             \
  ASKED(Mem, 3, zeMemFree)                                                                                  \
  ASKED(Mem, 4, zeMemGetAllocProperties)                                                                    \
  ASKED(Mem, 5, zeMemGetAddressRange)

/// What comes next: the layer's own hook, else the driver; of ASKED the driver at once. Null where it has
/// none.
struct Next {
#define KILN_OLD(table, place, name) decltype(&::name) name = nullptr;
#define KILN_NEW(table, place, since, name, type) type name = nullptr;
  KILN_CAPTURE_CALLS(KILN_OLD, KILN_NEW, KILN_OLD)
#undef KILN_OLD
#undef KILN_NEW
};
inline constinit Next next;

/// Puts the functions of `--capture` into a table whose `members` are the layer's and the driver's, and
/// `of_driver` the driver's alone. Nothing without that option.
void fill(std::string_view table, ze_api_version_t version, const Address* of_driver, Address* members);

/// The function for one that the driver has by name alone, behind which `found` comes; without `--capture`
/// that itself.
[[nodiscard]] Address in_front_of(std::string_view name, Address found);

}  // namespace kiln::layer::capture
