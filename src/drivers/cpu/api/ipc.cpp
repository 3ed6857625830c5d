// SPDX-License-Identifier: MIT
// zeMem*IpcHandle and zeEventPool*IpcHandle: memory and events of one process in another.
#include "drivers/cpu/api/ipc.hpp"

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/api/virtual_memory.hpp"
#include "drivers/cpu/memory/usm.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/event.hpp"
#include "drivers/cpu/objects/last_error.hpp"

namespace kiln::cpu {
namespace {

constexpr std::uint32_t kOpenFlags = 0x3;  // cached, uncached

ze_result_t not_found() {
  set_last_error(
      "the IPC handle names nothing that this process can open: it was put back, its process has "
      "ended or belongs to another user, or it is of another kind");
  return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

}  // namespace

ze_result_t share_memory(const void* pointer, SharedHandle& handle) {
  if (const auto physical = share_physical(pointer)) {
    handle = *physical;
    return ZE_RESULT_SUCCESS;
  }
  const ze_result_t result = usm().share(pointer, handle);
  if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT)
    set_last_error(
        "only memory that was allocated here can be exported: give imported memory on by the descriptor or "
        "the handle that it came by");
  return result;
}

ze_result_t mem_get_ipc_handle(ze_context_handle_t context, const void* pointer, ze_ipc_mem_handle_t* to) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(pointer);
  KILN_NEED_POINTER(to);
  return guarded([&] {
    SharedHandle shared;
    const ze_result_t result = share_memory(pointer, shared);
    if (result == ZE_RESULT_SUCCESS) write_handle(shared, *to);
    if (result == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
      set_last_error(
          "memory is shared with other processes once the work submitted before is done, and it did "
          "not end in 10 seconds");
    return result;
  });
}

ze_result_t mem_get_ipc_handle_with_properties(ze_context_handle_t context, const void* pointer, void* chain,
                                               ze_ipc_mem_handle_t* to) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(pointer);
  KILN_NEED_POINTER(to);
  if (const auto* type = find_chained<abi::Flags>(chain, abi::kIpcHandleType)) {
    if (type->flags & ~abi::kIpcHandleTypes) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (type->flags & ~abi::kIpcHandleDefault) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;  // no fabric
  }
  return mem_get_ipc_handle(context, pointer, to);
}

ze_result_t mem_open_ipc_handle(ze_context_handle_t context, ze_device_handle_t device,
                                ze_ipc_mem_handle_t from, ze_ipc_memory_flags_t flags, void** pointer) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(pointer);
  if (flags & ~kOpenFlags) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  return guarded([&] {
    const SharedHandle shared = read_handle(from);
    const Descriptor file = open_shared(shared, SharedKind::memory);
    if (!file) return not_found();
    Mapping mapping = map_shared(file, shared.bytes, shared.offset);
    if (!mapping) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    void* base = mapping.get();
    usm().import(std::move(mapping), shared.bytes, object<Device>(device));
    *pointer = base;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t mem_close_ipc_handle(ze_context_handle_t context, const void* pointer) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(pointer);
  return guarded([&] {
    return usm().close_imported(const_cast<void*>(pointer)) ? ZE_RESULT_SUCCESS
                                                            : ZE_RESULT_ERROR_INVALID_ARGUMENT;
  });
}

ze_result_t mem_put_ipc_handle(ze_context_handle_t context, ze_ipc_mem_handle_t handle) {
  KILN_NEED_HANDLE(context);
  // A descriptor that came from another process is the application's own and stays.
  const SharedHandle shared = read_handle(handle);
  return ExportedFile::take_back(shared) || is_file_of(shared.fd, shared) ? ZE_RESULT_SUCCESS
                                                                          : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t mem_get_ipc_handle_from_file_descriptor_exp(ze_context_handle_t context, std::uint64_t descriptor,
                                                        ze_ipc_mem_handle_t* to) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(to);
  const auto shared = handle_of_descriptor(static_cast<int>(descriptor), SharedKind::memory);
  if (!shared) return not_found();
  write_handle(*shared, *to);
  return ZE_RESULT_SUCCESS;
}

ze_result_t mem_get_file_descriptor_from_ipc_handle_exp(ze_context_handle_t context, ze_ipc_mem_handle_t from,
                                                        std::uint64_t* descriptor) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(descriptor);
  const SharedHandle shared = read_handle(from);
  if (!is_file_of(shared.fd, shared)) return not_found();
  *descriptor = static_cast<std::uint64_t>(shared.fd);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_pool_get_ipc_handle(ze_event_pool_handle_t pool_handle, ze_ipc_event_pool_handle_t* to) {
  KILN_NEED_HANDLE(pool_handle);
  KILN_NEED_POINTER(to);
  const EventPool& pool = *object<EventPool>(pool_handle);
  EventPlaces& places = *pool.places;
  if (!places.file) {
    set_last_error("the event pool was made without ZE_EVENT_POOL_FLAG_IPC");
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  auto shared =
      shared_handle(places.file.get(), SharedKind::event_pool, std::uint64_t{pool.count} * sizeof(EventCell));
  if (!shared) return not_found();
  shared->count = pool.count;
  shared->flags = pool.flags;
  write_handle(*shared, *to);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_pool_open_ipc_handle(ze_context_handle_t context, ze_ipc_event_pool_handle_t from,
                                       ze_event_pool_handle_t* pool) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(pool);
  return guarded([&] {
    const SharedHandle shared = read_handle(from);
    if (shared.count == 0 || shared.bytes / sizeof(EventCell) < shared.count) return not_found();
    auto created = std::make_unique<EventPool>(context);
    created->flags = shared.flags;
    created->count = shared.count;
    created->opened = true;
    created->places = std::make_shared<EventPlaces>(shared.count);
    created->places->file = open_shared(shared, SharedKind::event_pool);
    if (!created->places->file) return not_found();
    if (!map_cells(*created->places, shared.bytes)) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *pool = handle(created.release());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t event_pool_close_ipc_handle(ze_event_pool_handle_t pool) {
  KILN_NEED_HANDLE(pool);
  if (!object<EventPool>(pool)->opened) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  delete object<EventPool>(pool);
  return ZE_RESULT_SUCCESS;
}

// The descriptor in the handle is the pool's own.
ze_result_t event_pool_put_ipc_handle(ze_context_handle_t context, ze_ipc_event_pool_handle_t handle) {
  KILN_NEED_HANDLE(context);
  const SharedHandle shared = read_handle(handle);
  return is_file_of(shared.fd, shared) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

}  // namespace kiln::cpu
