// SPDX-License-Identifier: MIT
// zeVirtualMem* and zePhysicalMem*: reserved addresses, and files without a name that are mapped there.
#include "drivers/cpu/api/virtual_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/memory/usm.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/last_error.hpp"

namespace kiln::cpu {
namespace {

class PhysicalMemory : public Object {
 public:
  using Handle = ze_physical_mem_handle_t;
  PhysicalMemory(Descriptor file, std::size_t size, Device* device, std::uint64_t id)
      : Object(HandleKind::physical_memory),
        file(std::make_shared<ExportedFile>(std::move(file))),
        size(size),
        device(device),
        id(id) {}
  ~PhysicalMemory() { usm().uncount(size); }
  const std::shared_ptr<ExportedFile> file;
  const std::size_t size;
  Device* const device;  ///< null: the host's
  const std::uint64_t id;
};

struct Mapped {
  std::size_t size = 0;
  ze_memory_access_attribute_t access = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
  ze_memory_type_t type = ZE_MEMORY_TYPE_DEVICE;
  Device* device = nullptr;
  std::shared_ptr<ExportedFile> file;
  std::size_t offset = 0;  ///< in the file
};

struct Reservation {
  std::size_t size = 0;
  ze_memory_access_attribute_t access = ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;  ///< as set where nothing is mapped
  std::map<std::uintptr_t, Mapped> mapped;                                ///< by address
};

struct Reservations {
  std::mutex mutex;
  std::map<std::uintptr_t, Reservation> by_base;
  std::uint64_t next_id = 1;
};

// Never destroyed: an application may call until its very end.
Reservations& reservations() {
  static auto* all = new Reservations;
  return *all;
}

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool known_access(ze_memory_access_attribute_t access) {
  return access >= ZE_MEMORY_ACCESS_ATTRIBUTE_NONE && access <= ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY;
}

// Read-only pages can be written here, as on devices that do not enforce it: a store would end the process.
int protection(ze_memory_access_attribute_t access) {
  return access == ZE_MEMORY_ACCESS_ATTRIBUTE_NONE ? PROT_NONE : PROT_READ | PROT_WRITE;
}

/// The reservation that holds the whole range, or null. Under the lock.
Reservation* find_reservation(const void* pointer, std::size_t size) {
  auto& all = reservations().by_base;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto after = all.upper_bound(address);
  if (after == all.begin()) return nullptr;
  auto& [base, reservation] = *std::prev(after);
  const std::uintptr_t offset = address - base;
  return offset < reservation.size && size <= reservation.size - offset ? &reservation : nullptr;
}

/// Kernels take pointers into what can be accessed.
void publish(std::uintptr_t address, const Mapped& mapped) {
  auto* base = reinterpret_cast<void*>(address);
  usm().forget(base);
  if (mapped.access != ZE_MEMORY_ACCESS_ATTRIBUTE_NONE)
    usm().lend({base, mapped.size, mapped.type, mapped.device});
}

bool overlaps(const Reservation& reservation, std::uintptr_t address, std::size_t size) {
  auto after = reservation.mapped.lower_bound(address + size);
  return after != reservation.mapped.begin() &&
         std::prev(after)->first + std::prev(after)->second.size > address;
}

ze_result_t check_range(const void* pointer, std::size_t size) {
  KILN_NEED_POINTER(pointer);
  if (size == 0 || size % page_bytes() != 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  if (reinterpret_cast<std::uintptr_t>(pointer) % page_bytes() != 0)
    return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  return ZE_RESULT_SUCCESS;
}

ze_result_t unknown_range(const char* what) {
  set_last_error(what);
  return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

}  // namespace

std::optional<SharedHandle> share_physical(const void* pointer) {
  if (is_live(pointer, HandleKind::physical_memory)) {
    const auto& memory = *static_cast<const PhysicalMemory*>(pointer);
    return memory.file->give_out(memory.size);
  }
  const std::lock_guard lock(reservations().mutex);
  const Reservation* reservation = find_reservation(pointer, 1);
  if (!reservation) return std::nullopt;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto after = reservation->mapped.upper_bound(address);
  if (after == reservation->mapped.begin()) return std::nullopt;
  const auto& [base, mapped] = *std::prev(after);
  if (address - base >= mapped.size) return std::nullopt;
  return mapped.file->give_out(mapped.size, mapped.offset);
}

ze_result_t virtual_mem_reserve(ze_context_handle_t context, const void* start, std::size_t size,
                                void** pointer) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(pointer);
  if (size == 0 || size % page_bytes() != 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  return guarded([&] {
    void* base =
        mmap(const_cast<void*>(start), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    const std::lock_guard lock(reservations().mutex);
    reservations().by_base[reinterpret_cast<std::uintptr_t>(base)].size = size;
    *pointer = base;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t virtual_mem_free(ze_context_handle_t context, const void* pointer, std::size_t size) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(pointer);
  if (size == 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  const std::lock_guard lock(reservations().mutex);
  const auto found = reservations().by_base.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == reservations().by_base.end() || found->second.size != size)
    return unknown_range("no addresses were reserved there with that size");
  for (const auto& [address, mapped] : found->second.mapped) usm().forget(reinterpret_cast<void*>(address));
  munmap(const_cast<void*>(pointer), size);
  reservations().by_base.erase(found);
  return ZE_RESULT_SUCCESS;
}

ze_result_t virtual_mem_query_page_size(ze_context_handle_t context, ze_device_handle_t device, std::size_t,
                                        std::size_t* page) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(page);
  *page = page_bytes();
  return ZE_RESULT_SUCCESS;
}

ze_result_t virtual_mem_map(ze_context_handle_t context, const void* pointer, std::size_t size,
                            ze_physical_mem_handle_t memory_handle, std::size_t offset,
                            ze_memory_access_attribute_t access) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(memory_handle);
  if (const auto result = check_range(pointer, size); result != ZE_RESULT_SUCCESS) return result;
  if (!known_access(access)) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  const PhysicalMemory& memory = *object<PhysicalMemory>(memory_handle);
  if (offset % page_bytes() != 0) return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  if (offset > memory.size || size > memory.size - offset)
    return unknown_range("the range is longer than what the physical memory has behind the offset");
  return guarded([&] {
    const std::lock_guard lock(reservations().mutex);
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    Reservation* reservation = find_reservation(pointer, size);
    if (!reservation) return unknown_range("the range was not reserved with zeVirtualMemReserve");
    if (overlaps(*reservation, address, size)) return unknown_range("the range is mapped already");
    Mapped& mapped = reservation->mapped[address];
    mapped = {size,          access,      memory.device ? ZE_MEMORY_TYPE_DEVICE : ZE_MEMORY_TYPE_HOST,
              memory.device, memory.file, offset};
    if (mmap(const_cast<void*>(pointer), size, protection(access), MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
             memory.file->file().get(), static_cast<off_t>(offset)) == MAP_FAILED) {
      reservation->mapped.erase(address);
      return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    publish(address, mapped);
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t virtual_mem_unmap(ze_context_handle_t context, const void* pointer, std::size_t size) {
  KILN_NEED_HANDLE(context);
  if (const auto result = check_range(pointer, size); result != ZE_RESULT_SUCCESS) return result;
  const std::lock_guard lock(reservations().mutex);
  Reservation* reservation = find_reservation(pointer, size);
  const auto first = reinterpret_cast<std::uintptr_t>(pointer);
  if (!reservation) return unknown_range("the range was not reserved with zeVirtualMemReserve");
  // Whole mappings: several, one, or none, as the conformance suite unmaps twice.
  auto& mapped = reservation->mapped;
  const auto begin = mapped.lower_bound(first), end = mapped.lower_bound(first + size);
  if ((begin != mapped.begin() && std::prev(begin)->first + std::prev(begin)->second.size > first) ||
      (begin != end && std::prev(end)->first + std::prev(end)->second.size > first + size))
    return unknown_range("the range cuts a mapping in two");
  if (begin == end) return ZE_RESULT_SUCCESS;
  for (auto one = begin; one != end; ++one) usm().forget(reinterpret_cast<void*>(one->first));
  mmap(const_cast<void*>(pointer), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
       -1, 0);
  mapped.erase(begin, end);
  return ZE_RESULT_SUCCESS;
}

ze_result_t virtual_mem_set_access_attribute(ze_context_handle_t context, const void* pointer,
                                             std::size_t size, ze_memory_access_attribute_t access) {
  KILN_NEED_HANDLE(context);
  if (const auto result = check_range(pointer, size); result != ZE_RESULT_SUCCESS) return result;
  if (!known_access(access)) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  return guarded([&] {
    const std::lock_guard lock(reservations().mutex);
    Reservation* reservation = find_reservation(pointer, size);
    const auto first = reinterpret_cast<std::uintptr_t>(pointer);
    if (!reservation) return unknown_range("the range was not reserved with zeVirtualMemReserve");
    bool any = false;
    // Whole mappings change: there is one attribute for each.
    for (auto& [address, mapped] : reservation->mapped) {
      if (address >= first + size || address + mapped.size <= first) continue;
      mapped.access = access;
      mprotect(reinterpret_cast<void*>(address), mapped.size, protection(access));
      publish(address, mapped);
      any = true;
    }
    // Without a mapping it is kept for the reservation, gives nobody access, and comes back.
    if (!any) reservation->access = access;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t virtual_mem_get_access_attribute(ze_context_handle_t context, const void* pointer,
                                             std::size_t size, ze_memory_access_attribute_t* access,
                                             std::size_t* out_size) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(access);
  KILN_NEED_POINTER(out_size);
  if (const auto result = check_range(pointer, size); result != ZE_RESULT_SUCCESS) return result;
  const std::lock_guard lock(reservations().mutex);
  const Reservation* reservation = find_reservation(pointer, size);
  if (!reservation) return unknown_range("the range was not reserved with zeVirtualMemReserve");
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  *access = reservation->access;
  *out_size = size;
  for (const auto& [base, mapped] : reservation->mapped)
    if (address >= base && address - base < mapped.size) {
      *access = mapped.access;
      *out_size = mapped.size - (address - base);
    }
  return ZE_RESULT_SUCCESS;
}

ze_result_t physical_mem_create(ze_context_handle_t context, ze_device_handle_t device_handle,
                                ze_physical_mem_desc_t* desc, ze_physical_mem_handle_t* memory) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(memory);
  constexpr std::uint32_t kOnHost = 2, kKnown = 3;  // ALLOCATE_ON_HOST since 1.7
  if (desc->flags & ~kKnown) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  const bool on_host = desc->flags & kOnHost;
  if (!on_host || device_handle) KILN_NEED_HANDLE(device_handle);
  if (desc->size == 0 || desc->size % page_bytes() != 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  return guarded([&] {
    if (!usm().count(desc->size, device().total_memory))
      return on_host ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    Descriptor file = make_shared_file(desc->size);
    if (!file) {
      usm().uncount(desc->size);
      return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    std::uint64_t id = 0;
    {
      const std::lock_guard lock(reservations().mutex);
      id = reservations().next_id++;
    }
    *memory = handle(new PhysicalMemory(std::move(file), desc->size,
                                        on_host ? nullptr : object<Device>(device_handle), id));
    return ZE_RESULT_SUCCESS;
  });
}

// What is mapped stays, as the mapping keeps the file.
ze_result_t physical_mem_destroy(ze_context_handle_t context, ze_physical_mem_handle_t memory) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(memory);
  delete object<PhysicalMemory>(memory);
  return ZE_RESULT_SUCCESS;
}

ze_result_t physical_mem_get_properties(ze_context_handle_t context, ze_physical_mem_handle_t memory,
                                        abi::PhysicalMemoryProperties* properties) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(memory);
  KILN_NEED_POINTER(properties);
  properties->id = object<PhysicalMemory>(memory)->id;
  properties->size = object<PhysicalMemory>(memory)->size;
  return ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
