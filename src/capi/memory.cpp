// SPDX-License-Identifier: MIT
// Of the C interface: memory, and what of it is shared with other processes and interfaces.
#include "capi/boundary.hpp"

namespace kiln_c {
namespace {

Result<Buffer> allocate(const char* call, const DeviceObject& device, std::uint32_t kind, std::size_t size,
                        const kiln_buffer_options* given) {
  AllocationOptions options;
  std::uint32_t exported = 0;
  if (given) {
    Input<kiln_buffer_options> input;
    KILN_TRY(Input<kiln_buffer_options>::read(call, "kiln_buffer_options", given, input));
    constexpr std::uint32_t kExports = KILN_ALLOCATE_EXPORT_OPAQUE_FD | KILN_ALLOCATE_EXPORT_DMA_BUF;
    if (input->flags & ~(kExports | KILN_ALLOCATE_RELAXED_LIMITS))
      return tl::unexpected(unknown_bits(call, "flags", input->flags));
    exported = input->flags & kExports;
    if (exported && (kind != KILN_MEMORY_DEVICE || exported == kExports))
      return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, "flags",
                                          "has an export that goes with nothing else here",
                                          {"export memory of the device, as one kind"}));
    if (input->alignment) options.alignment = input->alignment;
    options.relaxed_limits = input->flags & KILN_ALLOCATE_RELAXED_LIMITS;
  }
  const ContextRef context = device.open.context.get();
  switch (kind) {
    case KILN_MEMORY_DEVICE:
      if (exported)
        return allocate_exportable(
            context, device.open.device, size,
            exported == KILN_ALLOCATE_EXPORT_DMA_BUF ? ExternalKind::dma_buf : ExternalKind::opaque_fd,
            options);
      return context.allocate_device(device.open.device, size, options);
    case KILN_MEMORY_HOST:
      return context.allocate_host(size, options);
    case KILN_MEMORY_SHARED:
      return context.allocate_shared(device.open.device, size, options);
    default:
      return tl::unexpected(unknown_bits(call, "kind", kind));
  }
}

Result<ExternalKind> external_kind(const char* call, std::uint32_t kind) {
  if (kind > KILN_EXTERNAL_DMA_BUF) return tl::unexpected(unknown_bits(call, "kind", kind));
  return kind == KILN_EXTERNAL_DMA_BUF ? ExternalKind::dma_buf : ExternalKind::opaque_fd;
}

static_assert(sizeof(kiln_ipc_handle) == sizeof(ze_ipc_mem_handle_t));

Result<ze_ipc_mem_handle_t> ipc_of(const char* call, const kiln_ipc_handle* given) {
  if (!given) return tl::unexpected(null_parameter(call, "ipc"));
  ze_ipc_mem_handle_t handle;
  std::memcpy(&handle, given, sizeof handle);
  return handle;
}

}  // namespace
}  // namespace kiln_c

using namespace kiln_c;

kiln_result kiln_buffer_allocate(kiln_device device, uint32_t kind, size_t size,
                                 const kiln_buffer_options* options, kiln_buffer* buffer, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "buffer", buffer));
    auto object = std::make_shared<BufferObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    KILN_TRY(object->buffer, allocate(call, *object->device, kind, size, options));
    return give(call, std::move(object), buffer);
  });
}

void* kiln_buffer_data(kiln_buffer buffer) {
  const auto* const object = find<BufferObject>(buffer);
  return object ? object->buffer.data() : nullptr;
}

size_t kiln_buffer_size(kiln_buffer buffer) {
  const auto* const object = find<BufferObject>(buffer);
  return object ? object->buffer.size() : 0;
}

void kiln_buffer_destroy(kiln_buffer buffer) { destroy<BufferObject>(buffer); }

kiln_result kiln_device_get_external_memory(kiln_device device, uint32_t* flags, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    if (!flags) return tl::unexpected(null_parameter(call, "flags"));
    KILN_TRY(const ExternalMemory known, external_memory(object->open.device));
    *flags = (known.exports_opaque_fd ? std::uint32_t{KILN_EXPORTS_OPAQUE_FD} : 0) |
             (known.exports_dma_buf ? std::uint32_t{KILN_EXPORTS_DMA_BUF} : 0) |
             (known.imports_opaque_fd ? std::uint32_t{KILN_IMPORTS_OPAQUE_FD} : 0) |
             (known.imports_dma_buf ? std::uint32_t{KILN_IMPORTS_DMA_BUF} : 0);
    return {};
  });
}

kiln_result kiln_buffer_export_fd(kiln_buffer buffer, uint32_t kind, int* fd, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const BufferObject* object, get<BufferObject>(call, buffer));
    if (!fd) return tl::unexpected(null_parameter(call, "fd"));
    KILN_TRY(const ExternalKind as, external_kind(call, kind));
    KILN_TRY(*fd, export_fd(object->device->open.context.get(), object->buffer, as));
    return {};
  });
}

kiln_result kiln_buffer_import_fd(kiln_device device, int fd, size_t size, uint32_t kind, kiln_buffer* buffer,
                                  kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "buffer", buffer));
    auto object = std::make_shared<BufferObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    KILN_TRY(const ExternalKind as, external_kind(call, kind));
    if (fd < 0)
      return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, "fd",
                                          "is " + std::to_string(fd) + ", which is no descriptor"));
    const OpenDevice& open = object->device->open;
    KILN_TRY(object->buffer, import_fd(open.context.get(), open.device, fd, size, as));
    return give(call, std::move(object), buffer);
  });
}

kiln_result kiln_buffer_get_ipc(kiln_buffer buffer, kiln_ipc_handle* ipc, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const BufferObject* object, get<BufferObject>(call, buffer));
    if (!ipc) return tl::unexpected(null_parameter(call, "ipc"));
    KILN_TRY(const ze_ipc_mem_handle_t handle,
             ipc_handle(object->device->open.context.get(), object->buffer));
    std::memcpy(ipc, &handle, sizeof handle);
    return {};
  });
}

kiln_result kiln_buffer_put_ipc(kiln_buffer buffer, const kiln_ipc_handle* ipc, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const BufferObject* object, get<BufferObject>(call, buffer));
    KILN_TRY(const ze_ipc_mem_handle_t handle, ipc_of(call, ipc));
    return put_ipc(object->device->open.context.get(), handle);
  });
}

kiln_result kiln_buffer_open_ipc(kiln_device device, const kiln_ipc_handle* ipc, size_t size,
                                 kiln_buffer* buffer, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "buffer", buffer));
    auto object = std::make_shared<BufferObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    KILN_TRY(const ze_ipc_mem_handle_t handle, ipc_of(call, ipc));
    if (size == 0) return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_SIZE, call, "size", "is 0"));
    const OpenDevice& open = object->device->open;
    KILN_TRY(object->ipc, open_ipc(open.context.get(), open.device, handle));
    object->buffer = Buffer::adopt(open.context.get(), object->ipc.data(), size, MemoryKind::device);
    return give(call, std::move(object), buffer);
  });
}

kiln_result kiln_buffer_import_host(kiln_device device, void* data, size_t size, kiln_buffer* buffer,
                                    kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "buffer", buffer));
    auto object = std::make_shared<BufferObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    if (!data) return tl::unexpected(null_parameter(call, "data"));
    const OpenDevice& open = object->device->open;
    const ContextRef context = open.context.get();
    KILN_TRY(object->host, import_host(open.driver, context, data, size));
    object->buffer = Buffer::adopt(context, data, size, MemoryKind::host);
    return give(call, std::move(object), buffer);
  });
}

kiln_result kiln_device_make_resident(kiln_device device, const void* data, size_t size, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    return make_resident(object->open.context.get(), object->open.device, data, size);
  });
}

kiln_result kiln_device_evict(kiln_device device, const void* data, size_t size, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const DeviceObject* object, get<DeviceObject>(call, device));
    return evict(object->open.context.get(), object->open.device, data, size);
  });
}
