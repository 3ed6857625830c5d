// SPDX-License-Identifier: MIT
// The core dispatch tables (ze*): every member in the order of the interface, with the minor version it came
// with.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/api/tables.hpp"
#include "drivers/cpu/objects/object.hpp"

namespace kiln::cpu {
namespace {

template <class Function>
Row row(std::uint8_t since, const char* name, Function* function) {
  return {since, 1, name, reinterpret_cast<Address>(function)};
}

/// Known to the driver and refused: images, samplers, fabrics.
template <class Pointer>
struct Refusal;
template <class... Parameters>
struct Refusal<ze_result_t (*)(Parameters...)> {
  static ze_result_t call(Parameters...) { return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE; }
};
template <class Pointer>
Row refuse(std::uint8_t since) {
  return {since, 1, nullptr, reinterpret_cast<Address>(&Refusal<Pointer>::call)};
}

/// Whatever the arguments are: the caller takes them off the stack. A null pointer instead would make loaders
/// answer UNINITIALIZED, and programs that do not look crash.
ze_result_t unsupported() { return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE; }

/// Newer than what the driver implements.
Row absent(std::uint8_t since, std::uint8_t count) {
  return {since, count, nullptr, reinterpret_cast<Address>(&unsupported)};
}

// Order and versions: ze_ddi.h of specification 1.17.
const Row kRTASBuilder[] = {absent(13, 5)};
const Row kRTASBuilderExp[] = {absent(7, 4)};
const Row kRTASParallelOperation[] = {absent(13, 4)};
const Row kRTASParallelOperationExp[] = {absent(7, 4)};
const Row kGlobal[] = {
    row(0, "zeInit", init),
    row(10, "zeInitDrivers", init_drivers),
};
const Row kDriver[] = {
    row(0, "zeDriverGet", driver_get),
    row(0, "zeDriverGetApiVersion", driver_get_api_version),
    row(0, "zeDriverGetProperties", driver_get_properties),
    row(0, "zeDriverGetIpcProperties", driver_get_ipc_properties),
    row(0, "zeDriverGetExtensionProperties", driver_get_extension_properties),
    row(1, "zeDriverGetExtensionFunctionAddress", driver_get_extension_function_address),
    row(6, "zeDriverGetLastErrorDescription", driver_get_last_error_description),
    absent(13, 1),
    row(14, "zeDriverGetDefaultContext", driver_get_default_context),
};
const Row kDriverExp[] = {absent(7, 1)};
const Row kDevice[] = {
    row(0, "zeDeviceGet", device_get),
    row(0, "zeDeviceGetSubDevices", device_get_sub_devices),
    row(0, "zeDeviceGetProperties", device_get_properties),
    row(0, "zeDeviceGetComputeProperties", device_get_compute_properties),
    row(0, "zeDeviceGetModuleProperties", device_get_module_properties),
    row(0, "zeDeviceGetCommandQueueGroupProperties", device_get_command_queue_group_properties),
    row(0, "zeDeviceGetMemoryProperties", device_get_memory_properties),
    row(0, "zeDeviceGetMemoryAccessProperties", device_get_memory_access_properties),
    row(0, "zeDeviceGetCacheProperties", device_get_cache_properties),
    row(0, "zeDeviceGetImageProperties", device_get_image_properties),
    row(0, "zeDeviceGetExternalMemoryProperties", device_get_external_memory_properties),
    row(0, "zeDeviceGetP2PProperties", device_get_p2p_properties),
    row(0, "zeDeviceCanAccessPeer", device_can_access_peer),
    row(0, "zeDeviceGetStatus", device_get_status),
    row(1, "zeDeviceGetGlobalTimestamps", device_get_global_timestamps),
    refuse<ze_pfnDeviceReserveCacheExt_t>(2),
    refuse<ze_pfnDeviceSetCacheAdviceExt_t>(2),
    refuse<ze_pfnDevicePciGetPropertiesExt_t>(3),
    row(7, "zeDeviceGetRootDevice", device_get_root_device),
    absent(12, 2),
    absent(13, 1),
    row(14, "zeDeviceSynchronize", device_synchronize),
    absent(15, 1),
    absent(16, 3),
    absent(17, 1),
};
const Row kDeviceExp[] = {
    refuse<ze_pfnDeviceGetFabricVertexExp_t>(4),
};
const Row kContext[] = {
    row(0, "zeContextCreate", context_create),
    row(0, "zeContextDestroy", context_destroy),
    row(0, "zeContextGetStatus", context_get_status),
    row(0, "zeContextSystemBarrier", context_system_barrier),
    row(0, "zeContextMakeMemoryResident", context_make_memory_resident),
    row(0, "zeContextEvictMemory", context_evict_memory),
    refuse<ze_pfnContextMakeImageResident_t>(0),
    refuse<ze_pfnContextEvictImage_t>(0),
    row(1, "zeContextCreateEx", context_create_ex),
};
const Row kCommandQueue[] = {
    row(0, "zeCommandQueueCreate", command_queue_create),
    row(0, "zeCommandQueueDestroy", command_queue_destroy),
    row(0, "zeCommandQueueExecuteCommandLists", command_queue_execute_command_lists),
    row(0, "zeCommandQueueSynchronize", command_queue_synchronize),
    row(9, "zeCommandQueueGetOrdinal", command_queue_get_ordinal),
    row(9, "zeCommandQueueGetIndex", command_queue_get_index),
    row(17, "zeCommandQueueGetFlags", command_queue_get_flags),
    row(17, "zeCommandQueueGetMode", command_queue_get_mode),
    row(17, "zeCommandQueueGetPriority", command_queue_get_priority),
};
const Row kCommandList[] = {
    row(0, "zeCommandListCreate", command_list_create),
    row(0, "zeCommandListCreateImmediate", command_list_create_immediate),
    row(0, "zeCommandListDestroy", command_list_destroy),
    row(0, "zeCommandListClose", command_list_close),
    row(0, "zeCommandListReset", command_list_reset),
    row(0, "zeCommandListAppendWriteGlobalTimestamp", command_list_append_write_global_timestamp),
    row(0, "zeCommandListAppendBarrier", command_list_append_barrier),
    row(0, "zeCommandListAppendMemoryRangesBarrier", command_list_append_memory_ranges_barrier),
    row(0, "zeCommandListAppendMemoryCopy", command_list_append_memory_copy),
    row(0, "zeCommandListAppendMemoryFill", command_list_append_memory_fill),
    row(0, "zeCommandListAppendMemoryCopyRegion", command_list_append_memory_copy_region),
    row(0, "zeCommandListAppendMemoryCopyFromContext", command_list_append_memory_copy_from_context),
    refuse<ze_pfnCommandListAppendImageCopy_t>(0),
    refuse<ze_pfnCommandListAppendImageCopyRegion_t>(0),
    refuse<ze_pfnCommandListAppendImageCopyToMemory_t>(0),
    refuse<ze_pfnCommandListAppendImageCopyFromMemory_t>(0),
    row(0, "zeCommandListAppendMemoryPrefetch", command_list_append_memory_prefetch),
    row(0, "zeCommandListAppendMemAdvise", command_list_append_mem_advise),
    row(0, "zeCommandListAppendSignalEvent", command_list_append_signal_event),
    row(0, "zeCommandListAppendWaitOnEvents", command_list_append_wait_on_events),
    row(0, "zeCommandListAppendEventReset", command_list_append_event_reset),
    row(0, "zeCommandListAppendQueryKernelTimestamps", command_list_append_query_kernel_timestamps),
    row(0, "zeCommandListAppendLaunchKernel", command_list_append_launch_kernel),
    row(0, "zeCommandListAppendLaunchCooperativeKernel", command_list_append_launch_cooperative_kernel),
    row(0, "zeCommandListAppendLaunchKernelIndirect", command_list_append_launch_kernel_indirect),
    row(0, "zeCommandListAppendLaunchMultipleKernelsIndirect",
        command_list_append_launch_multiple_kernels_indirect),
    refuse<ze_pfnCommandListAppendImageCopyToMemoryExt_t>(3),
    refuse<ze_pfnCommandListAppendImageCopyFromMemoryExt_t>(3),
    row(6, "zeCommandListHostSynchronize", command_list_host_synchronize),
    row(9, "zeCommandListGetDeviceHandle", command_list_get_device_handle),
    row(9, "zeCommandListGetContextHandle", command_list_get_context_handle),
    row(9, "zeCommandListGetOrdinal", command_list_get_ordinal),
    row(9, "zeCommandListImmediateGetIndex", command_list_immediate_get_index),
    row(9, "zeCommandListIsImmediate", command_list_is_immediate),
    absent(12, 2),
    row(14, "zeCommandListAppendLaunchKernelWithParameters",
        command_list_append_launch_kernel_with_parameters),
    row(14, "zeCommandListAppendLaunchKernelWithArguments", command_list_append_launch_kernel_with_arguments),
    row(16, "zeCommandListAppendMemoryCopyWithParameters", command_list_append_memory_copy_with_parameters),
    row(16, "zeCommandListAppendMemoryFillWithParameters", command_list_append_memory_fill_with_parameters),
    row(16, "zeCommandListImmediateAppendCommandListsWithParameters",
        command_list_immediate_append_command_lists_with_parameters),
    row(17, "zeCommandListGetFlags", command_list_get_flags),
    row(17, "zeCommandListImmediateGetFlags", command_list_immediate_get_flags),
    row(17, "zeCommandListImmediateGetMode", command_list_immediate_get_mode),
    row(17, "zeCommandListImmediateGetPriority", command_list_immediate_get_priority),
    absent(17, 6),
    row(17, "zeCommandListAppendHostFunction", command_list_append_host_function),
};
const Row kCommandListExp[] = {
    row(9, "zeCommandListCreateCloneExp", command_list_create_clone_exp),
    row(9, "zeCommandListImmediateAppendCommandListsExp", command_list_immediate_append_command_lists_exp),
    absent(9, 4),
    absent(10, 2),
    absent(17, 1),
};
const Row kImage[] = {
    refuse<ze_pfnImageGetProperties_t>(0),
    refuse<ze_pfnImageCreate_t>(0),
    refuse<ze_pfnImageDestroy_t>(0),
    refuse<ze_pfnImageGetAllocPropertiesExt_t>(3),
    absent(5, 1),
};
const Row kImageExp[] = {
    refuse<ze_pfnImageGetMemoryPropertiesExp_t>(2),
    refuse<ze_pfnImageViewCreateExp_t>(2),
    absent(9, 1),
};
const Row kMem[] = {
    row(0, "zeMemAllocShared", mem_alloc_shared),
    row(0, "zeMemAllocDevice", mem_alloc_device),
    row(0, "zeMemAllocHost", mem_alloc_host),
    row(0, "zeMemFree", mem_free),
    row(0, "zeMemGetAllocProperties", mem_get_alloc_properties),
    row(0, "zeMemGetAddressRange", mem_get_address_range),
    row(0, "zeMemGetIpcHandle", mem_get_ipc_handle),
    row(0, "zeMemOpenIpcHandle", mem_open_ipc_handle),
    row(0, "zeMemCloseIpcHandle", mem_close_ipc_handle),
    row(3, "zeMemFreeExt", mem_free_ext),
    row(6, "zeMemPutIpcHandle", mem_put_ipc_handle),
    absent(9, 1),
    row(15, "zeMemGetIpcHandleWithProperties", mem_get_ipc_handle_with_properties),
};
const Row kMemExp[] = {
    row(6, "zeMemGetIpcHandleFromFileDescriptorExp", mem_get_ipc_handle_from_file_descriptor_exp),
    row(6, "zeMemGetFileDescriptorFromIpcHandleExp", mem_get_file_descriptor_from_ipc_handle_exp),
    row(7, "zeMemSetAtomicAccessAttributeExp", mem_set_atomic_access_attribute_exp),
    row(7, "zeMemGetAtomicAccessAttributeExp", mem_get_atomic_access_attribute_exp),
};
const Row kFence[] = {
    row(0, "zeFenceCreate", fence_create),
    row(0, "zeFenceDestroy", fence_destroy),
    row(0, "zeFenceHostSynchronize", fence_host_synchronize),
    row(0, "zeFenceQueryStatus", fence_query_status),
    row(0, "zeFenceReset", fence_reset),
};
const Row kEventPool[] = {
    row(0, "zeEventPoolCreate", event_pool_create),
    row(0, "zeEventPoolDestroy", event_pool_destroy),
    row(0, "zeEventPoolGetIpcHandle", event_pool_get_ipc_handle),
    row(0, "zeEventPoolOpenIpcHandle", event_pool_open_ipc_handle),
    row(0, "zeEventPoolCloseIpcHandle", event_pool_close_ipc_handle),
    row(6, "zeEventPoolPutIpcHandle", event_pool_put_ipc_handle),
    row(9, "zeEventPoolGetContextHandle", event_pool_get_context_handle),
    row(9, "zeEventPoolGetFlags", event_pool_get_flags),
};
const Row kEvent[] = {
    row(0, "zeEventCreate", event_create),
    row(0, "zeEventDestroy", event_destroy),
    row(0, "zeEventHostSignal", event_host_signal),
    row(0, "zeEventHostSynchronize", event_host_synchronize),
    row(0, "zeEventQueryStatus", event_query_status),
    row(0, "zeEventHostReset", event_host_reset),
    row(0, "zeEventQueryKernelTimestamp", event_query_kernel_timestamp),
    row(6, "zeEventQueryKernelTimestampsExt", event_query_kernel_timestamps_ext),
    row(9, "zeEventGetEventPool", event_get_event_pool),
    row(9, "zeEventGetSignalScope", event_get_signal_scope),
    row(9, "zeEventGetWaitScope", event_get_wait_scope),
    row(15, "zeEventCounterBasedCreate", event_counter_based_create),
    row(15, "zeEventCounterBasedGetIpcHandle", event_counter_based_get_ipc_handle),
    row(15, "zeEventCounterBasedOpenIpcHandle", event_counter_based_open_ipc_handle),
    row(15, "zeEventCounterBasedCloseIpcHandle", event_counter_based_close_ipc_handle),
    row(15, "zeEventCounterBasedGetDeviceAddress", event_counter_based_get_device_address),
    row(17, "zeEventGetCounterBasedFlags", event_get_counter_based_flags),
};
const Row kEventExp[] = {
    row(2, "zeEventQueryTimestampsExp", event_query_timestamps_exp),
};
const Row kModule[] = {
    row(0, "zeModuleCreate", module_create),
    row(0, "zeModuleDestroy", module_destroy),
    row(0, "zeModuleDynamicLink", module_dynamic_link),
    row(0, "zeModuleGetNativeBinary", module_get_native_binary),
    row(0, "zeModuleGetGlobalPointer", module_get_global_pointer),
    row(0, "zeModuleGetKernelNames", module_get_kernel_names),
    row(0, "zeModuleGetProperties", module_get_properties),
    row(0, "zeModuleGetFunctionPointer", module_get_function_pointer),
    refuse<ze_pfnModuleInspectLinkageExt_t>(3),
};
const Row kModuleBuildLog[] = {
    row(0, "zeModuleBuildLogDestroy", module_build_log_destroy),
    row(0, "zeModuleBuildLogGetString", module_build_log_get_string),
};
const Row kKernel[] = {
    row(0, "zeKernelCreate", kernel_create),
    row(0, "zeKernelDestroy", kernel_destroy),
    row(0, "zeKernelSetCacheConfig", kernel_set_cache_config),
    row(0, "zeKernelSetGroupSize", kernel_set_group_size),
    row(0, "zeKernelSuggestGroupSize", kernel_suggest_group_size),
    row(0, "zeKernelSuggestMaxCooperativeGroupCount", kernel_suggest_max_cooperative_group_count),
    row(0, "zeKernelSetArgumentValue", kernel_set_argument_value),
    row(0, "zeKernelSetIndirectAccess", kernel_set_indirect_access),
    row(0, "zeKernelGetIndirectAccess", kernel_get_indirect_access),
    row(0, "zeKernelGetSourceAttributes", kernel_get_source_attributes),
    row(0, "zeKernelGetProperties", kernel_get_properties),
    row(0, "zeKernelGetName", kernel_get_name),
};
const Row kKernelExp[] = {
    row(1, "zeKernelSetGlobalOffsetExp", kernel_set_global_offset_exp),
    row(2, "zeKernelSchedulingHintExp", kernel_scheduling_hint_exp),
    absent(11, 1),
    absent(14, 1),
};
const Row kSampler[] = {
    refuse<ze_pfnSamplerCreate_t>(0),
    refuse<ze_pfnSamplerDestroy_t>(0),
};
const Row kPhysicalMem[] = {
    row(0, "zePhysicalMemCreate", physical_mem_create),
    row(0, "zePhysicalMemDestroy", physical_mem_destroy),
    row(15, "zePhysicalMemGetProperties", physical_mem_get_properties),
};
const Row kVirtualMem[] = {
    row(0, "zeVirtualMemReserve", virtual_mem_reserve),
    row(0, "zeVirtualMemFree", virtual_mem_free),
    row(0, "zeVirtualMemQueryPageSize", virtual_mem_query_page_size),
    row(0, "zeVirtualMemMap", virtual_mem_map),
    row(0, "zeVirtualMemUnmap", virtual_mem_unmap),
    row(0, "zeVirtualMemSetAccessAttribute", virtual_mem_set_access_attribute),
    row(0, "zeVirtualMemGetAccessAttribute", virtual_mem_get_access_attribute),
};
const Row kFabricVertexExp[] = {
    refuse<ze_pfnFabricVertexGetExp_t>(4),
    refuse<ze_pfnFabricVertexGetSubVerticesExp_t>(4),
    refuse<ze_pfnFabricVertexGetPropertiesExp_t>(4),
    refuse<ze_pfnFabricVertexGetDeviceExp_t>(4),
};
const Row kFabricEdgeExp[] = {
    refuse<ze_pfnFabricEdgeGetExp_t>(4),
    refuse<ze_pfnFabricEdgeGetVerticesExp_t>(4),
    refuse<ze_pfnFabricEdgeGetPropertiesExp_t>(4),
};
const Row kGraph[] = {absent(17, 7)};
const Row kExecutableGraph[] = {absent(17, 2)};

const Table kTables[] = {
    {"RTASBuilder", kRTASBuilder},
    {"RTASBuilderExp", kRTASBuilderExp},
    {"RTASParallelOperation", kRTASParallelOperation},
    {"RTASParallelOperationExp", kRTASParallelOperationExp},
    {"Global", kGlobal},
    {"Driver", kDriver},
    {"DriverExp", kDriverExp},
    {"Device", kDevice},
    {"DeviceExp", kDeviceExp},
    {"Context", kContext},
    {"CommandQueue", kCommandQueue},
    {"CommandList", kCommandList},
    {"CommandListExp", kCommandListExp},
    {"Image", kImage},
    {"ImageExp", kImageExp},
    {"Mem", kMem},
    {"MemExp", kMemExp},
    {"Fence", kFence},
    {"EventPool", kEventPool},
    {"Event", kEvent},
    {"EventExp", kEventExp},
    {"Module", kModule},
    {"ModuleBuildLog", kModuleBuildLog},
    {"Kernel", kKernel},
    {"KernelExp", kKernelExp},
    {"Sampler", kSampler},
    {"PhysicalMem", kPhysicalMem},
    {"VirtualMem", kVirtualMem},
    {"FabricVertexExp", kFabricVertexExp},
    {"FabricEdgeExp", kFabricEdgeExp},
    {"Graph", kGraph},
    {"ExecutableGraph", kExecutableGraph},
};

// The layout of ze_dditable_driver_t and its like: the version tells how long the tables are.
struct DriverTables {
  std::uint32_t version = ZE_MAKE_VERSION(1, 17);
  std::uint8_t valid = 0;
  std::array<const Address*, std::size(kTables)> tables{};
};

// Whole tables for loaders that call through handles. Never freed: handles point to them until the process
// ends.
const DriverTables* make_driver_tables() {
  auto* all = new DriverTables;
  all->valid = 1;
  for (std::size_t i = 0; i < std::size(kTables); ++i) {
    std::vector<Address> members;
    for (const Row& row : kTables[i].rows) members.insert(members.end(), row.count, row.address);
    auto* table = new Address[members.size()];
    std::ranges::copy(members, table);
    all->tables[i] = table;
  }
  return all;
}

const Row kRuntime[] = {
    row(14, "zerGetLastErrorDescription", get_last_error_description),
    row(14, "zerTranslateDeviceHandleToIdentifier", translate_device_handle_to_identifier),
    row(14, "zerTranslateIdentifierToDeviceHandle", translate_identifier_to_device_handle),
    row(14, "zerGetDefaultContext", get_default_context),
};

// Tools, sysman and runtime: the valid flag is 0, so that no one reads further. The zeros behind it are for
// loaders that take the pointer for a table of their own (see BuildLog): all null, every call through it
// answers UNINITIALIZED.
struct NoTables {
  DriverTables tables;
  std::array<Address, 1024> nothing{};
};
const NoTables kNoTables;

}  // namespace

const DispatchPointers kDispatch{make_driver_tables(), &kNoTables, &kNoTables, &kNoTables};

const Table* find_core_table(std::string_view name) {
  for (const Table& table : kTables)
    if (table.name == name) return &table;
  return nullptr;
}

std::span<const Row> runtime_rows() { return kRuntime; }

void* find_function(std::string_view name) {
  for (const Table& table : kTables)
    for (const Row& row : table.rows)
      if (row.name && row.name == name) return reinterpret_cast<void*>(row.address);
  return nullptr;
}

}  // namespace kiln::cpu
