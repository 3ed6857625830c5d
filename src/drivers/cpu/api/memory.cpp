// SPDX-License-Identifier: MIT
// zeMem*: USM allocations with the limits of the profile.
#include <fcntl.h>

#include <algorithm>
#include <bit>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/api/ipc.hpp"
#include "drivers/cpu/memory/usm.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/last_error.hpp"
#include "drivers/cpu/settings/fault.hpp"

namespace kiln::cpu {
namespace {

constexpr std::size_t kDefaultAlignment = 4096;  // bytes: a page, as Intel's driver gives at least
constexpr std::size_t kMaxAlignment = std::size_t{1} << 31;
constexpr std::uint32_t kDeviceFlags = 0x7;
constexpr std::uint32_t kHostFlags = 0xf;
constexpr std::uint32_t kExportTypes =
    ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;

struct Request {
  std::size_t size;
  std::size_t alignment;
  const void* chain;  ///< where a request for relaxed limits may hang
  ze_memory_type_t type;
  ze_device_handle_t device = nullptr;
};

// The order of the checks and the codes are those of Intel's driver (facts: context.cpp of NEO 26.31).
ze_result_t allocate(const Request& request, void** pointer) {
  KILN_NEED_POINTER(pointer);
  if (request.alignment > kMaxAlignment) return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  const Device& device = cpu::device();
  std::uint64_t limit = device.max_allocation;
  for (const auto type : {ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC, abi::kRelaxedLimitsExt})
    if (const auto* relaxed = find_chained<abi::RelaxedLimits>(request.chain, type)) {
      if (!(relaxed->flags & abi::kRelaxedLimitsMaxSize)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
      limit = device.total_memory;
    }
  if (request.size == 0 || request.size > limit) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  const ze_result_t no_memory = request.type == ZE_MEMORY_TYPE_HOST ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                                                    : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  if (allocation_fails()) return no_memory;
  // Intel's drivers grant an alignment that is no power of two, and programs ask for such (22.43, 26.27).
  const std::size_t alignment = std::bit_ceil(std::max(request.alignment, kDefaultAlignment));
  *pointer = usm().allocate(
      {request.size, alignment, request.type, object<Device>(request.device), device.total_memory});
  return *pointer ? ZE_RESULT_SUCCESS : no_memory;
}

/// Memory behind a descriptor, which the application keeps.
ze_result_t import_descriptor(const ze_external_memory_import_fd_t& from, const Request& request,
                              void** pointer) {
  KILN_NEED_POINTER(pointer);
  if (from.flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD) return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
  const std::size_t size = request.size;
  if (size == 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  if (request.alignment > kDefaultAlignment) return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;  // it has a page's
  return guarded([&] {
    const auto shared = handle_of_descriptor(from.fd, SharedKind::memory);
    if (!shared || shared->bytes < size) {
      set_last_error(shared
                         ? "the file behind the descriptor is smaller than the allocation that is asked for"
                         : "the descriptor is not of memory: it must be of a file that can be mapped");
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if ((fcntl(from.fd, F_GETFL) & O_ACCMODE) != O_RDWR) {
      set_last_error("the descriptor is not open for reading and writing, which kernels may do");
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    const Descriptor file = open_shared(*shared, SharedKind::memory);
    Mapping mapping = file ? map_shared(file, size) : Mapping();
    if (!mapping) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    void* base = mapping.get();
    usm().import_file(std::move(mapping), size, object<Device>(request.device));
    *pointer = base;
    return ZE_RESULT_SUCCESS;
  });
}

/// Memory of the application, which keeps it. Source: specification, ze_external_memmap_sysmem_ext_desc_t.
ze_result_t map_system_memory(const abi::ExternalSystemMemory& from, std::size_t size, std::size_t alignment,
                              void** pointer) {
  KILN_NEED_POINTER(pointer);
  KILN_NEED_POINTER(from.pSystemMemory);
  if (alignment > kDefaultAlignment) return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;  // it has a page's
  const bool aligned = reinterpret_cast<std::uintptr_t>(from.pSystemMemory) % kDefaultAlignment == 0 &&
                       from.size % kDefaultAlignment == 0;
  if (!aligned || from.size == 0 || size > from.size) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return guarded([&] {
    if (!usm().borrow(from.pSystemMemory, from.size)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *pointer = from.pSystemMemory;
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace

ze_result_t driver_import_external_pointer(ze_driver_handle_t driver, void* pointer, std::size_t size) {
  KILN_NEED_HANDLE(driver);
  KILN_NEED_POINTER(pointer);
  if (size == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
  return guarded(
      [&] { return usm().borrow(pointer, size) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OVERLAPPING_REGIONS; });
}

ze_result_t driver_release_imported_pointer(ze_driver_handle_t driver, void* pointer) {
  KILN_NEED_HANDLE(driver);
  KILN_NEED_POINTER(pointer);
  return guarded(
      [&] { return usm().give_back(pointer) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT; });
}

ze_result_t mem_alloc_device(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* desc,
                             std::size_t size, std::size_t alignment, ze_device_handle_t device,
                             void** pointer) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(desc);
  if (desc->flags & ~kDeviceFlags) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  const Request request{size, alignment, desc->pNext, ZE_MEMORY_TYPE_DEVICE, device};
  if (const auto* from = find_chained<ze_external_memory_import_fd_t>(
          desc->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD))
    return import_descriptor(*from, request, pointer);
  return allocate(request, pointer);
}

ze_result_t mem_alloc_shared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* device_desc,
                             const ze_host_mem_alloc_desc_t* host_desc, std::size_t size,
                             std::size_t alignment, ze_device_handle_t device, void** pointer) {
  KILN_NEED_HANDLE(context);
  if (device) KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(device_desc);
  KILN_NEED_POINTER(host_desc);
  if ((device_desc->flags & ~kDeviceFlags) || (host_desc->flags & ~kHostFlags))
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  return allocate({size, alignment, device_desc->pNext, ZE_MEMORY_TYPE_SHARED, device}, pointer);
}

ze_result_t mem_alloc_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t* desc,
                           std::size_t size, std::size_t alignment, void** pointer) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(desc);
  if (desc->flags & ~kHostFlags) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  if (const auto* from = find_chained<abi::ExternalSystemMemory>(desc->pNext, abi::kExternalSystemMemory))
    return map_system_memory(*from, size, alignment, pointer);
  return allocate({size, alignment, desc->pNext, ZE_MEMORY_TYPE_HOST, nullptr}, pointer);
}

ze_result_t mem_free(ze_context_handle_t context, void* pointer) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(pointer);
  return guarded([&] { return usm().free(pointer) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT; });
}

ze_result_t mem_free_ext(ze_context_handle_t context, const ze_memory_free_ext_desc_t* desc, void* pointer) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(pointer);
  return guarded([&] {
    const bool blocking = desc->freePolicy & ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE;
    const bool known = blocking ? usm().free_after_work(pointer) : usm().free(pointer);
    return known ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
  });
}

ze_result_t mem_get_alloc_properties(ze_context_handle_t context, const void* pointer,
                                     ze_memory_allocation_properties_t* properties,
                                     ze_device_handle_t* device_handle) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(pointer);
  KILN_NEED_POINTER(properties);
  const auto allocation = usm().find(pointer);
  properties->type = allocation ? allocation->type : ZE_MEMORY_TYPE_UNKNOWN;
  properties->id = allocation ? allocation->id : 0;
  properties->pageSize = allocation ? kDefaultAlignment : 0;
  const bool on_device = allocation && allocation->type != ZE_MEMORY_TYPE_HOST;
  if (auto* exported = find_chained<ze_external_memory_export_fd_t>(
          properties->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD)) {
    if (exported->flags & ~kExportTypes) return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    SharedHandle shared;
    const auto result = guarded([&] { return share_memory(pointer, shared); });
    if (result != ZE_RESULT_SUCCESS) return result;
    exported->fd = shared.fd;
  }
  // Shared memory that was not made for a device counts as the first one's.
  Device* owner = allocation && allocation->device ? allocation->device : &device();
  if (device_handle) *device_handle = on_device ? handle(owner) : nullptr;
  return ZE_RESULT_SUCCESS;
}

ze_result_t mem_get_address_range(ze_context_handle_t context, const void* pointer, void** base,
                                  std::size_t* size) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(pointer);
  const auto allocation = usm().find(pointer);
  if (!allocation) return abi::kAddressNotFound;
  if (base) *base = reinterpret_cast<void*>(allocation->base);
  if (size) *size = allocation->size;
  return ZE_RESULT_SUCCESS;
}

// All memory takes all atomics, from the host and from each device, whatever was said of it.
ze_result_t mem_set_atomic_access_attribute_exp(ze_context_handle_t context, ze_device_handle_t device,
                                                const void* pointer, std::size_t size, std::uint32_t flags) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(pointer);
  if (flags & ~abi::kAtomicAccessFlags) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  return guarded([&] {
    return usm().set_atomics(pointer, size, object<Device>(device), flags) ? ZE_RESULT_SUCCESS
                                                                           : ZE_RESULT_ERROR_INVALID_ARGUMENT;
  });
}

ze_result_t mem_get_atomic_access_attribute_exp(ze_context_handle_t context, ze_device_handle_t device,
                                                const void* pointer, std::size_t size, std::uint32_t* flags) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(pointer);
  KILN_NEED_POINTER(flags);
  const auto found = usm().atomics(pointer, size, object<Device>(device));
  if (!found) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  *flags = *found;
  return ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
