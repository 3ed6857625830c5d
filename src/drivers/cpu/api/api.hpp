// SPDX-License-Identifier: MIT
// Every Level Zero function that the CPU driver implements, under its own name; the dispatch tables point at
// them.
#pragma once

#include <string_view>

#include "drivers/cpu/api/abi.hpp"

namespace kiln::cpu {

/// The function of that API name (such as "zeKernelSetGlobalOffsetExp"), or null.
[[nodiscard]] void* find_function(std::string_view name);

// Up to version 1.4 the headers have every prototype.
decltype(::zeInit) init;

decltype(::zeDriverGet) driver_get;
decltype(::zeDriverGetApiVersion) driver_get_api_version;
decltype(::zeDriverGetProperties) driver_get_properties;
decltype(::zeDriverGetIpcProperties) driver_get_ipc_properties;
decltype(::zeDriverGetExtensionProperties) driver_get_extension_properties;
decltype(::zeDriverGetExtensionFunctionAddress) driver_get_extension_function_address;

decltype(::zeDeviceGet) device_get;
decltype(::zeDeviceGetSubDevices) device_get_sub_devices;
decltype(::zeDeviceGetProperties) device_get_properties;
decltype(::zeDeviceGetComputeProperties) device_get_compute_properties;
decltype(::zeDeviceGetModuleProperties) device_get_module_properties;
decltype(::zeDeviceGetCommandQueueGroupProperties) device_get_command_queue_group_properties;
decltype(::zeDeviceGetMemoryProperties) device_get_memory_properties;
decltype(::zeDeviceGetMemoryAccessProperties) device_get_memory_access_properties;
decltype(::zeDeviceGetCacheProperties) device_get_cache_properties;
decltype(::zeDeviceGetImageProperties) device_get_image_properties;
decltype(::zeDeviceGetExternalMemoryProperties) device_get_external_memory_properties;
decltype(::zeDeviceGetP2PProperties) device_get_p2p_properties;
decltype(::zeDeviceCanAccessPeer) device_can_access_peer;
decltype(::zeDeviceGetStatus) device_get_status;
decltype(::zeDeviceGetGlobalTimestamps) device_get_global_timestamps;

decltype(::zeContextCreate) context_create;
decltype(::zeContextDestroy) context_destroy;
decltype(::zeContextGetStatus) context_get_status;
decltype(::zeContextSystemBarrier) context_system_barrier;
decltype(::zeContextMakeMemoryResident) context_make_memory_resident;
decltype(::zeContextEvictMemory) context_evict_memory;
decltype(::zeContextCreateEx) context_create_ex;

decltype(::zeMemAllocShared) mem_alloc_shared;
decltype(::zeMemAllocDevice) mem_alloc_device;
decltype(::zeMemAllocHost) mem_alloc_host;
decltype(::zeMemFree) mem_free;
decltype(::zeMemGetAllocProperties) mem_get_alloc_properties;
decltype(::zeMemGetAddressRange) mem_get_address_range;
decltype(::zeMemFreeExt) mem_free_ext;

ze_result_t driver_import_external_pointer(ze_driver_handle_t driver, void* pointer, std::size_t size);
ze_result_t driver_release_imported_pointer(ze_driver_handle_t driver, void* pointer);
decltype(::zeMemGetIpcHandle) mem_get_ipc_handle;
decltype(::zeMemOpenIpcHandle) mem_open_ipc_handle;
decltype(::zeMemCloseIpcHandle) mem_close_ipc_handle;

decltype(::zeVirtualMemReserve) virtual_mem_reserve;
decltype(::zeVirtualMemFree) virtual_mem_free;
decltype(::zeVirtualMemQueryPageSize) virtual_mem_query_page_size;
decltype(::zeVirtualMemMap) virtual_mem_map;
decltype(::zeVirtualMemUnmap) virtual_mem_unmap;
decltype(::zeVirtualMemSetAccessAttribute) virtual_mem_set_access_attribute;
decltype(::zeVirtualMemGetAccessAttribute) virtual_mem_get_access_attribute;
decltype(::zePhysicalMemCreate) physical_mem_create;
decltype(::zePhysicalMemDestroy) physical_mem_destroy;

decltype(::zeCommandQueueCreate) command_queue_create;
decltype(::zeCommandQueueDestroy) command_queue_destroy;
decltype(::zeCommandQueueExecuteCommandLists) command_queue_execute_command_lists;
decltype(::zeCommandQueueSynchronize) command_queue_synchronize;

decltype(::zeFenceCreate) fence_create;
decltype(::zeFenceDestroy) fence_destroy;
decltype(::zeFenceHostSynchronize) fence_host_synchronize;
decltype(::zeFenceQueryStatus) fence_query_status;
decltype(::zeFenceReset) fence_reset;

decltype(::zeCommandListCreate) command_list_create;
decltype(::zeCommandListCreateImmediate) command_list_create_immediate;
decltype(::zeCommandListDestroy) command_list_destroy;
decltype(::zeCommandListClose) command_list_close;
decltype(::zeCommandListReset) command_list_reset;
decltype(::zeCommandListAppendWriteGlobalTimestamp) command_list_append_write_global_timestamp;
decltype(::zeCommandListAppendBarrier) command_list_append_barrier;
decltype(::zeCommandListAppendMemoryRangesBarrier) command_list_append_memory_ranges_barrier;
decltype(::zeCommandListAppendMemoryCopy) command_list_append_memory_copy;
decltype(::zeCommandListAppendMemoryFill) command_list_append_memory_fill;
decltype(::zeCommandListAppendMemoryCopyRegion) command_list_append_memory_copy_region;
decltype(::zeCommandListAppendMemoryCopyFromContext) command_list_append_memory_copy_from_context;
decltype(::zeCommandListAppendMemoryPrefetch) command_list_append_memory_prefetch;
decltype(::zeCommandListAppendMemAdvise) command_list_append_mem_advise;
decltype(::zeCommandListAppendSignalEvent) command_list_append_signal_event;
decltype(::zeCommandListAppendWaitOnEvents) command_list_append_wait_on_events;
decltype(::zeCommandListAppendEventReset) command_list_append_event_reset;
decltype(::zeCommandListAppendQueryKernelTimestamps) command_list_append_query_kernel_timestamps;
decltype(::zeCommandListAppendLaunchKernel) command_list_append_launch_kernel;
decltype(::zeCommandListAppendLaunchCooperativeKernel) command_list_append_launch_cooperative_kernel;
decltype(::zeCommandListAppendLaunchKernelIndirect) command_list_append_launch_kernel_indirect;
decltype(::zeCommandListAppendLaunchMultipleKernelsIndirect)
    command_list_append_launch_multiple_kernels_indirect;

decltype(::zeEventPoolCreate) event_pool_create;
decltype(::zeEventPoolDestroy) event_pool_destroy;
decltype(::zeEventPoolGetIpcHandle) event_pool_get_ipc_handle;
decltype(::zeEventPoolOpenIpcHandle) event_pool_open_ipc_handle;
decltype(::zeEventPoolCloseIpcHandle) event_pool_close_ipc_handle;

decltype(::zeEventCreate) event_create;
decltype(::zeEventDestroy) event_destroy;
decltype(::zeEventHostSignal) event_host_signal;
decltype(::zeEventHostSynchronize) event_host_synchronize;
decltype(::zeEventQueryStatus) event_query_status;
decltype(::zeEventHostReset) event_host_reset;
decltype(::zeEventQueryKernelTimestamp) event_query_kernel_timestamp;

decltype(::zeEventQueryTimestampsExp) event_query_timestamps_exp;

decltype(::zeModuleCreate) module_create;
decltype(::zeModuleDestroy) module_destroy;
decltype(::zeModuleDynamicLink) module_dynamic_link;
decltype(::zeModuleGetNativeBinary) module_get_native_binary;
decltype(::zeModuleGetGlobalPointer) module_get_global_pointer;
decltype(::zeModuleGetKernelNames) module_get_kernel_names;
decltype(::zeModuleGetProperties) module_get_properties;
decltype(::zeModuleGetFunctionPointer) module_get_function_pointer;

decltype(::zeModuleBuildLogDestroy) module_build_log_destroy;
decltype(::zeModuleBuildLogGetString) module_build_log_get_string;

decltype(::zeKernelCreate) kernel_create;
decltype(::zeKernelDestroy) kernel_destroy;
decltype(::zeKernelSetCacheConfig) kernel_set_cache_config;
decltype(::zeKernelSetGroupSize) kernel_set_group_size;
decltype(::zeKernelSuggestGroupSize) kernel_suggest_group_size;
decltype(::zeKernelSuggestMaxCooperativeGroupCount) kernel_suggest_max_cooperative_group_count;
decltype(::zeKernelSetArgumentValue) kernel_set_argument_value;
decltype(::zeKernelSetIndirectAccess) kernel_set_indirect_access;
decltype(::zeKernelGetIndirectAccess) kernel_get_indirect_access;
decltype(::zeKernelGetSourceAttributes) kernel_get_source_attributes;
decltype(::zeKernelGetProperties) kernel_get_properties;
decltype(::zeKernelGetName) kernel_get_name;

decltype(::zeKernelSetGlobalOffsetExp) kernel_set_global_offset_exp;
decltype(::zeKernelSchedulingHintExp) kernel_scheduling_hint_exp;

// Newer: same names, prototypes of specification 1.17.
ze_result_t init_drivers(uint32_t* count, ze_driver_handle_t* drivers, abi::InitDriverType* desc);
ze_result_t driver_get_last_error_description(ze_driver_handle_t driver, const char** text);
ze_context_handle_t driver_get_default_context(ze_driver_handle_t driver);
ze_result_t device_get_root_device(ze_device_handle_t device, ze_device_handle_t* root);
ze_result_t device_synchronize(ze_device_handle_t device);
ze_result_t command_queue_get_ordinal(ze_command_queue_handle_t queue, uint32_t* ordinal);
ze_result_t command_queue_get_index(ze_command_queue_handle_t queue, uint32_t* index);
ze_result_t command_list_host_synchronize(ze_command_list_handle_t list, uint64_t timeout);
ze_result_t command_list_get_device_handle(ze_command_list_handle_t list, ze_device_handle_t* device);
ze_result_t command_list_get_context_handle(ze_command_list_handle_t list, ze_context_handle_t* context);
ze_result_t command_list_get_ordinal(ze_command_list_handle_t list, uint32_t* ordinal);
ze_result_t command_list_immediate_get_index(ze_command_list_handle_t list, uint32_t* index);
ze_result_t command_list_is_immediate(ze_command_list_handle_t list, ze_bool_t* immediate);
ze_result_t command_list_append_launch_kernel_with_parameters(ze_command_list_handle_t list,
                                                              ze_kernel_handle_t kernel,
                                                              const ze_group_count_t* groups,
                                                              const void* next, ze_event_handle_t signal,
                                                              uint32_t wait_count, ze_event_handle_t* waits);
ze_result_t command_list_append_launch_kernel_with_arguments(ze_command_list_handle_t list,
                                                             ze_kernel_handle_t kernel,
                                                             ze_group_count_t groups,
                                                             abi::GroupSize group_size, void** arguments,
                                                             const void* next, ze_event_handle_t signal,
                                                             uint32_t wait_count, ze_event_handle_t* waits);
ze_result_t command_list_immediate_append_command_lists_exp(ze_command_list_handle_t list, uint32_t count,
                                                            ze_command_list_handle_t* lists,
                                                            ze_event_handle_t signal, uint32_t wait_count,
                                                            ze_event_handle_t* waits);
ze_result_t command_list_immediate_append_command_lists_with_parameters(
    ze_command_list_handle_t list, uint32_t count, ze_command_list_handle_t* lists, const void* next,
    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t* waits);
ze_result_t command_list_append_memory_copy_with_parameters(ze_command_list_handle_t list, void* to,
                                                            const void* from, size_t size, const void* next,
                                                            ze_event_handle_t signal, uint32_t wait_count,
                                                            ze_event_handle_t* waits);
ze_result_t command_list_append_memory_fill_with_parameters(ze_command_list_handle_t list, void* to,
                                                            const void* pattern, size_t pattern_size,
                                                            size_t size, const void* next,
                                                            ze_event_handle_t signal, uint32_t wait_count,
                                                            ze_event_handle_t* waits);
ze_result_t command_list_append_host_function(ze_command_list_handle_t list, void (*function)(void*),
                                              void* user, const void* next, ze_event_handle_t signal,
                                              uint32_t wait_count, ze_event_handle_t* waits);
ze_result_t command_list_create_clone_exp(ze_command_list_handle_t list, ze_command_list_handle_t* clone);
ze_result_t command_list_get_flags(ze_command_list_handle_t list, ze_command_list_flags_t* flags);
ze_result_t command_list_immediate_get_flags(ze_command_list_handle_t list, ze_command_queue_flags_t* flags);
ze_result_t command_list_immediate_get_mode(ze_command_list_handle_t list, ze_command_queue_mode_t* mode);
ze_result_t command_list_immediate_get_priority(ze_command_list_handle_t list,
                                                ze_command_queue_priority_t* priority);
ze_result_t command_queue_get_flags(ze_command_queue_handle_t queue, ze_command_queue_flags_t* flags);
ze_result_t command_queue_get_mode(ze_command_queue_handle_t queue, ze_command_queue_mode_t* mode);
ze_result_t command_queue_get_priority(ze_command_queue_handle_t queue,
                                       ze_command_queue_priority_t* priority);
ze_result_t mem_set_atomic_access_attribute_exp(ze_context_handle_t context, ze_device_handle_t device,
                                                const void* pointer, size_t size, uint32_t flags);
ze_result_t mem_get_atomic_access_attribute_exp(ze_context_handle_t context, ze_device_handle_t device,
                                                const void* pointer, size_t size, uint32_t* flags);
ze_result_t mem_put_ipc_handle(ze_context_handle_t context, ze_ipc_mem_handle_t handle);
ze_result_t mem_get_ipc_handle_with_properties(ze_context_handle_t context, const void* pointer, void* chain,
                                               ze_ipc_mem_handle_t* to);
ze_result_t mem_get_ipc_handle_from_file_descriptor_exp(ze_context_handle_t context, uint64_t descriptor,
                                                        ze_ipc_mem_handle_t* to);
ze_result_t mem_get_file_descriptor_from_ipc_handle_exp(ze_context_handle_t context, ze_ipc_mem_handle_t from,
                                                        uint64_t* descriptor);
ze_result_t physical_mem_get_properties(ze_context_handle_t context, ze_physical_mem_handle_t memory,
                                        abi::PhysicalMemoryProperties* properties);
ze_result_t event_pool_put_ipc_handle(ze_context_handle_t context, ze_ipc_event_pool_handle_t handle);
ze_result_t event_counter_based_create(ze_context_handle_t context, ze_device_handle_t device,
                                       const abi::CounterBasedDesc* desc, ze_event_handle_t* event);
ze_result_t event_counter_based_get_ipc_handle(ze_event_handle_t event, abi::CounterIpcHandle* handle);
ze_result_t event_counter_based_open_ipc_handle(ze_context_handle_t context, abi::CounterIpcHandle from,
                                                ze_event_handle_t* event);
ze_result_t event_counter_based_close_ipc_handle(ze_event_handle_t event);
ze_result_t event_counter_based_get_device_address(ze_event_handle_t event, uint64_t* completion,
                                                   uint64_t* address);
ze_result_t event_get_counter_based_flags(ze_event_handle_t event, uint32_t* flags);
ze_result_t event_query_kernel_timestamps_ext(ze_event_handle_t event, ze_device_handle_t device,
                                              uint32_t* count, abi::KernelTimestampResults* results);
ze_result_t event_get_event_pool(ze_event_handle_t event, ze_event_pool_handle_t* pool);
ze_result_t event_get_signal_scope(ze_event_handle_t event, ze_event_scope_flags_t* scope);
ze_result_t event_get_wait_scope(ze_event_handle_t event, ze_event_scope_flags_t* scope);
ze_result_t event_pool_get_context_handle(ze_event_pool_handle_t pool, ze_context_handle_t* context);
ze_result_t event_pool_get_flags(ze_event_pool_handle_t pool, ze_event_pool_flags_t* flags);

// zer*: the runtime helpers of version 1.14.
ze_result_t get_last_error_description(const char** text);
uint32_t translate_device_handle_to_identifier(ze_device_handle_t device);
ze_device_handle_t translate_identifier_to_device_handle(uint32_t identifier);
ze_context_handle_t get_default_context();

// Kiln's own, by zeDriverGetExtensionFunctionAddress. Text and size are as of zeModuleBuildLogGetString; the
// text is what was counted since it was last read. NOT_AVAILABLE: the module was built without
// `-kiln-counters`.
inline constexpr const char* kKernelGetCounters = "kilnKernelGetCounters";
ze_result_t kernel_get_counters(ze_kernel_handle_t kernel, std::size_t* size, char* json);
// What the native binary says of its kernels and SPIR-V does not, without compiling those that nobody asked
// for. Text and size are as of zeModuleBuildLogGetString; for each kernel that can run it has the sub-group
// size, the number of barriers, bytes of static SLM, and bytes of the name, as decimal numbers with a space
// behind each, then the name.
inline constexpr const char* kModuleGetInfo = "zexKilnModuleGetInfo";
ze_result_t module_get_info(ze_module_handle_t module, std::size_t* size, char* text);

}  // namespace kiln::cpu
