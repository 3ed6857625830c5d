// SPDX-License-Identifier: MIT
// The zeDeviceGet*Properties functions: the profile's limits on the host's memory and caches.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/compiler/backend/native_binary.hpp"
#include "drivers/cpu/compiler/frontend/validate.hpp"
#include "drivers/cpu/memory/usm.hpp"
#include "drivers/cpu/objects/command_list.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/streams/clock.hpp"

namespace kiln::cpu {
namespace {

constexpr std::uint32_t kVendorId = 0xffff;  // the PCI number that no vendor has
constexpr std::uint32_t kIntel = 0x8086;
constexpr std::uint32_t kMaxArgumentsSize = 2048;     // bytes, as Intel's driver
constexpr std::uint32_t kPrintfBufferSize = 4194304;  // bytes, as Intel's driver
constexpr std::size_t kCacheLineSize = 64;            // bytes

std::uint64_t last_level_cache() {
  for (const int name : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (const long size = sysconf(name); size > 0) return static_cast<std::uint64_t>(size);
  return 0;
}

}  // namespace

ze_result_t device_get_properties(ze_device_handle_t device_handle, ze_device_properties_t* properties) {
  KILN_NEED_HANDLE(device_handle);
  KILN_NEED_POINTER(properties);
  const Device& device = *object<Device>(device_handle);
  const product::Profile& profile = *device.profile;
  const bool as_gpu = driver()->as_gpu;
  properties->type = as_gpu ? ZE_DEVICE_TYPE_GPU : ZE_DEVICE_TYPE_CPU;
  properties->vendorId = as_gpu ? kIntel : kVendorId;
  properties->deviceId = profile.device_id;
  // A GPU with memory of its own is not integrated; programs choose by that.
  properties->flags = ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING;
  if (!as_gpu || profile.memory == 0) properties->flags |= ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
  properties->subdeviceId = 0;
  properties->coreClockRate = 0;
  properties->maxMemAllocSize = device.max_allocation;
  properties->maxHardwareContexts = 65536;
  properties->maxCommandQueuePriority = 0;
  properties->numThreadsPerEU = profile.threads_per_eu;
  properties->physicalEUSimdWidth = profile.simd_width;
  properties->numEUsPerSubslice = profile.eus_per_sub_slice;
  properties->numSubslicesPerSlice = profile.sub_slices_per_slice;
  properties->numSlices = profile.slices;
  // Nanoseconds a tick in the first version of the structure, ticks a second since 1.2.
  properties->timerResolution =
      properties->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 ? kTicksPerSecond : kNanosecondsPerTick;
  properties->timestampValidBits = profile.timestamp_bits;
  properties->kernelTimestampValidBits = profile.kernel_timestamp_bits;
  properties->uuid = {{'k', 'i', 'l', 'n', '-', 'c', 'p', 'u'}};
  std::copy_n(profile.name.data(), std::min<std::size_t>(profile.name.size(), 6), properties->uuid.id + 9);
  properties->uuid.id[15] = static_cast<std::uint8_t>(device.number);
  if (as_gpu)  // as Intel's driver names what it has no name for
    std::snprintf(properties->name, sizeof(properties->name), "Intel(R) Graphics [0x%04x] (Kiln CPU device)",
                  profile.device_id);
  else
    std::snprintf(properties->name, sizeof(properties->name), "Kiln CPU device (%.*s limits)",
                  static_cast<int>(profile.name.size()), profile.name.data());
  if (auto* ip = find_chained<abi::DeviceIpVersion>(properties->pNext, abi::kDeviceIpVersion))
    ip->ipVersion = profile.ip_version;
  if (auto* eus = find_chained<ze_eu_count_ext_t>(properties->pNext, ZE_STRUCTURE_TYPE_EU_COUNT_EXT))
    eus->numTotalEUs = profile.slices * profile.sub_slices_per_slice * profile.eus_per_sub_slice;
  if (auto* events = find_chained<abi::Flags>(properties->pNext, abi::kDeviceEventProperties))
    events->flags = abi::kDeviceCountersByIpc;
  if (auto* usable = find_chained<abi::DeviceUsableMemory>(properties->pNext, abi::kDeviceUsableMemory))
    usable->currUsableMemSize = std::min(available_memory(), device.total_memory - usm().live_bytes());
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_compute_properties(ze_device_handle_t device_handle,
                                          ze_device_compute_properties_t* properties) {
  KILN_NEED_HANDLE(device_handle);
  KILN_NEED_POINTER(properties);
  const product::Profile& profile = *object<Device>(device_handle)->profile;
  properties->maxTotalGroupSize = profile.max_group_size;
  properties->maxGroupSizeX = properties->maxGroupSizeY = properties->maxGroupSizeZ = profile.max_group_size;
  properties->maxGroupCountX = properties->maxGroupCountY = properties->maxGroupCountZ = UINT32_MAX;
  properties->maxSharedLocalMemory = profile.slm_per_group;
  std::fill(std::begin(properties->subGroupSizes), std::end(properties->subGroupSizes), 0);
  properties->numSubGroupSizes = 0;
  for (const std::uint32_t size : profile.sub_group_sizes)
    if (size != 0) properties->subGroupSizes[properties->numSubGroupSizes++] = size;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_module_properties(ze_device_handle_t device_handle,
                                         ze_device_module_properties_t* properties) {
  KILN_NEED_HANDLE(device_handle);
  KILN_NEED_POINTER(properties);
  const bool fp64 = object<Device>(device_handle)->profile->fp64;
  // Those of Intel's driver (0x3f, with 0x40 for rounded division where the product has fp64).
  // The rounding modes are those of conversions; arithmetic rounds to nearest on GPUs too unless a kernel
  // asks.
  constexpr ze_device_fp_flags_t kFloat =
      ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN | ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST |
      ZE_DEVICE_FP_FLAG_ROUND_TO_ZERO | ZE_DEVICE_FP_FLAG_ROUND_TO_INF | ZE_DEVICE_FP_FLAG_FMA;
  const ze_device_fp_flags_t divides = fp64 ? ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT : 0;
  properties->spirvVersionSupported = newest_spirv_version();
  properties->flags =
      ZE_DEVICE_MODULE_FLAG_FP16 | ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS | ZE_DEVICE_MODULE_FLAG_DP4A;
  if (fp64) properties->flags |= ZE_DEVICE_MODULE_FLAG_FP64;
  properties->fp16flags = kFloat;
  properties->fp32flags = kFloat | divides;
  properties->fp64flags = fp64 ? kFloat | divides : 0;
  properties->maxArgumentsSize = kMaxArgumentsSize;
  properties->printfBufferSize = kPrintfBufferSize;
  if (auto* atomics = find_chained<ze_float_atomic_ext_properties_t>(
          properties->pNext, ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES)) {
    constexpr ze_device_fp_atomic_ext_flags_t kAll =
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_LOAD_STORE | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD |
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_LOAD_STORE |
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_ADD | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_MIN_MAX;
    atomics->fp16Flags = atomics->fp32Flags = kAll;
    atomics->fp64Flags = fp64 ? kAll : 0;
  }
  const auto format = host_format();
  static_assert(sizeof format == sizeof properties->nativeKernelSupported.id);
  std::memcpy(properties->nativeKernelSupported.id, format.data(), format.size());
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_command_queue_group_properties(ze_device_handle_t device, std::uint32_t* count,
                                                      ze_command_queue_group_properties_t* properties) {
  KILN_NEED_HANDLE(device);
  return enumerate(kQueueGroups, count, properties, [&](std::uint32_t i) {
    properties[i].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
    if (i != kCopyGroup)
      properties[i].flags |= ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                             ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS;
    // As Intel's copy engines; programs try each size up to it.
    properties[i].maxMemoryFillPatternSize = i == kCopyGroup ? 16 : std::numeric_limits<std::size_t>::max();
    properties[i].numQueues = 1;
  });
}

ze_result_t device_get_memory_properties(ze_device_handle_t device_handle, std::uint32_t* count,
                                         ze_device_memory_properties_t* properties) {
  KILN_NEED_HANDLE(device_handle);
  return enumerate(1, count, properties, [&](std::uint32_t i) {
    properties[i].flags = 0;
    properties[i].maxClockRate = 0;
    properties[i].maxBusWidth = 64;
    properties[i].totalSize = object<Device>(device_handle)->total_memory;
    std::snprintf(properties[i].name, sizeof(properties[i].name), "host memory");
  });
}

ze_result_t device_get_memory_access_properties(ze_device_handle_t device,
                                                ze_device_memory_access_properties_t* properties) {
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(properties);
  constexpr ze_memory_access_cap_flags_t kAll =
      ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT |
      ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
  properties->hostAllocCapabilities = kAll;
  properties->deviceAllocCapabilities = kAll;
  properties->sharedSingleDeviceAllocCapabilities = kAll;
  properties->sharedCrossDeviceAllocCapabilities = kAll;
  properties->sharedSystemAllocCapabilities = driver()->system_memory ? kAll : 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_cache_properties(ze_device_handle_t device, std::uint32_t* count,
                                        ze_device_cache_properties_t* properties) {
  KILN_NEED_HANDLE(device);
  return enumerate(1, count, properties, [&](std::uint32_t i) {
    properties[i].flags = 0;
    properties[i].cacheSize = last_level_cache();
    if (auto* line = find_chained<abi::DeviceCacheLineSize>(properties[i].pNext, abi::kDeviceCacheLineSize))
      line->cacheLineSize = kCacheLineSize;
  });
}

ze_result_t device_get_image_properties(ze_device_handle_t device, ze_device_image_properties_t* properties) {
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(properties);
  properties->maxImageDims1D = properties->maxImageDims2D = properties->maxImageDims3D = 0;
  properties->maxImageBufferSize = 0;
  properties->maxImageArraySlices = 0;
  properties->maxSamplers = properties->maxReadImageArgs = properties->maxWriteImageArgs = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t device_get_external_memory_properties(ze_device_handle_t device,
                                                  ze_device_external_memory_properties_t* properties) {
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(properties);
  // The descriptor is of a file without a name: it can be mapped, and given to
  // zeMemGetIpcHandleFromFileDescriptorExp.
  properties->memoryAllocationImportTypes = properties->memoryAllocationExportTypes =
      ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
  properties->imageImportTypes = properties->imageExportTypes = 0;
  return ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
