// SPDX-License-Identifier: MIT
// make<T>() and chain(): Level Zero structs with `stype` set and the rest zero.
#pragma once

#include <level_zero/ze_api.h>

#include "kiln/abi.hpp"

namespace kiln {

/// A struct that is not listed below has no structure type: add it to the list.
template <class T>
struct StructureType {
  static_assert(sizeof(T) == 0, "this struct is not in the list of kiln/structures.hpp");
};

#define KILN_STRUCTURE(type, tag)                           \
  template <>                                               \
  struct StructureType<type> {                              \
    static constexpr auto value = ze_structure_type_t(tag); \
  };
KILN_STRUCTURE(ze_driver_properties_t, ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES)
KILN_STRUCTURE(ze_device_compute_properties_t, ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES)
KILN_STRUCTURE(ze_device_module_properties_t, ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES)
KILN_STRUCTURE(ze_device_memory_properties_t, ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES)
KILN_STRUCTURE(ze_device_cache_properties_t, ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES)
KILN_STRUCTURE(ze_command_queue_group_properties_t, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES)
KILN_STRUCTURE(ze_context_desc_t, ZE_STRUCTURE_TYPE_CONTEXT_DESC)
KILN_STRUCTURE(ze_command_queue_desc_t, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC)
KILN_STRUCTURE(ze_command_list_desc_t, ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC)
KILN_STRUCTURE(ze_fence_desc_t, ZE_STRUCTURE_TYPE_FENCE_DESC)
KILN_STRUCTURE(ze_event_pool_desc_t, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC)
KILN_STRUCTURE(ze_event_desc_t, ZE_STRUCTURE_TYPE_EVENT_DESC)
KILN_STRUCTURE(ze_device_mem_alloc_desc_t, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC)
KILN_STRUCTURE(ze_host_mem_alloc_desc_t, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC)
KILN_STRUCTURE(ze_memory_allocation_properties_t, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES)
KILN_STRUCTURE(ze_module_desc_t, ZE_STRUCTURE_TYPE_MODULE_DESC)
KILN_STRUCTURE(ze_module_program_exp_desc_t, ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC)
KILN_STRUCTURE(ze_kernel_desc_t, ZE_STRUCTURE_TYPE_KERNEL_DESC)
KILN_STRUCTURE(ze_kernel_properties_t, ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES)
KILN_STRUCTURE(abi::DeviceIpVersion, abi::kDeviceIpVersion)
KILN_STRUCTURE(abi::DeviceUsableMemory, abi::kDeviceUsableMemory)
KILN_STRUCTURE(abi::KernelMaxGroupSize, abi::kKernelMaxGroupSize)
KILN_STRUCTURE(ze_pci_ext_properties_t, ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES)
KILN_STRUCTURE(ze_device_luid_ext_properties_t, ZE_STRUCTURE_TYPE_DEVICE_LUID_EXT_PROPERTIES)
KILN_STRUCTURE(ze_device_external_memory_properties_t, ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES)
KILN_STRUCTURE(ze_external_memory_export_desc_t, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC)
KILN_STRUCTURE(ze_external_memory_export_fd_t, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD)
KILN_STRUCTURE(ze_external_memory_import_fd_t, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD)
KILN_STRUCTURE(abi::InitDriverType, abi::kInitDriverType)
KILN_STRUCTURE(abi::ExternalSystemMemory, abi::kExternalSystemMemory)
KILN_STRUCTURE(abi::CounterBasedEvent, abi::kCounterBasedEvent)
KILN_STRUCTURE(abi::IntelCounterBasedEvent, abi::kIntelCounterBasedEvent)
KILN_STRUCTURE(ze_relaxed_allocation_limits_exp_desc_t, ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC)

// Nanoseconds before 1.2, ticks a second since: the newer meaning is always asked for.
KILN_STRUCTURE(ze_device_properties_t, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2)
#undef KILN_STRUCTURE

/// A struct ready to hand to Level Zero. Pure.
template <class T>
[[nodiscard]] T make() {
  T value{};
  value.stype = StructureType<T>::value;
  return value;
}

/// Puts `extension` first on the chain of `base`; both must live until the call is made.
template <class Base, class Extension>
void chain(Base& base, Extension& extension) {
  extension.pNext = const_cast<void*>(static_cast<const void*>(base.pNext));
  base.pNext = &extension;
}

}  // namespace kiln
