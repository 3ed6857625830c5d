// SPDX-License-Identifier: MIT
// Memory that leaves a device or comes to it: file descriptors, IPC handles, residency.
#include "kiln/sharing.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "kiln/structures.hpp"
#include "level_zero/call.hpp"
#include "level_zero/newer.hpp"
#include "level_zero/observe.hpp"
#include "level_zero/survey.hpp"

namespace kiln {
namespace {

ze_external_memory_type_flags_t external_flag(ExternalKind kind) {
  return kind == ExternalKind::opaque_fd ? ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD
                                         : ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
}

/// Drivers leave alone an extension that they do not know, and would give other memory in silence.
Error no_sharing(const char* verb, ExternalKind kind, const ExternalMemory& known) {
  const auto list = [](bool opaque_fd, bool dma_buf) {
    if (!opaque_fd && !dma_buf) return "nothing";
    return opaque_fd && dma_buf ? "opaque_fd, dma_buf" : opaque_fd ? "opaque_fd" : "dma_buf";
  };
  return Error(
      ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "zeMemAllocDevice",
      {"K0234",
       std::string("the device ") + verb + " no memory as " + to_string(kind),
       {{"exports", list(known.exports_opaque_fd, known.exports_dma_buf)},
        {"imports", list(known.imports_opaque_fd, known.imports_dma_buf)}},
       {"ask external_memory() and take a kind that both sides have, or copy through memory of the host"}});
}

Error not_pages(const void* data, std::size_t size, std::size_t page) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", data);
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "import_host",
               {"K0237",
                "memory to be imported must be whole pages of the host",
                {{"address", address}, {"size", {}, size, "B"}, {"page", {}, page, "B"}},
                {"import from the page's begin to the next page's, or allocate with mmap or "
                 "std::aligned_alloc"}});
}

Result<Buffer> take_exportable(ContextRef context, DeviceRef device, std::size_t size, ExternalKind kind,
                               AllocationOptions options) {
  KILN_TRY(const auto known, external_memory(device));
  if (!known.exports(kind)) return tl::unexpected(no_sharing("exports", kind, known));
  auto exported = make<ze_external_memory_export_desc_t>();
  exported.flags = external_flag(kind);
  return detail::take_device(context, device, size, options, &exported);
}

/// What a descriptor is that no driver takes.
std::string kind_of(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return "not open";
  if (S_ISREG(status.st_mode)) return "a file of " + std::to_string(status.st_size) + " bytes";
  if (S_ISDIR(status.st_mode)) return "a folder";
  if (S_ISFIFO(status.st_mode)) return "a pipe";
  if (S_ISSOCK(status.st_mode)) return "a socket";
  return S_ISCHR(status.st_mode) ? "a device file" : "something else";
}

Error not_taken(Error error, int fd, std::size_t size, ExternalKind kind) {
  const ze_result_t code = error.code();
  if (error.diagnostic() || code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY ||
      code == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
    return error;
  return Error(
      code, error.call(),
      {"K0238",
       "the driver takes no memory from this file descriptor",
       {{"descriptor", std::to_string(fd)},
        {"it is", kind_of(fd)},
        {"asked for as", to_string(kind)},
        {"size", {}, size, "B"}},
       {"give one that export_fd(), or Vulkan by vkGetMemoryFdKHR, gave as the same kind, of memory of "
        "at least that size, and that is still open"},
       Severity::error,
       Answer{AnsweredBy::driver}});
}

Result<Buffer> take_imported(ContextRef context, DeviceRef device, int fd, std::size_t size,
                             ExternalKind kind) {
  KILN_TRY(const auto known, external_memory(device));
  if (!known.imports(kind)) return tl::unexpected(no_sharing("imports", kind, known));
  // How much there may be is the exporter's; of the request nothing but an empty one can be wrong.
  const AllocationRequest request{MemoryKind::device, size, 0, true};
  if (const auto verdict = check_allocation({}, request); verdict != AllocationVerdict::fits)
    return tl::unexpected(
        Error(code_of(verdict), "zeMemAllocDevice", explain_allocation(verdict, {}, request)));
  auto imported = make<ze_external_memory_import_fd_t>();
  imported.flags = external_flag(kind);
  imported.fd = fd;
  auto description = make<ze_device_mem_alloc_desc_t>();
  chain(description, imported);
  void* data = nullptr;
  if (auto taken = KILN_CALL(zeMemAllocDevice, context, &description, size, 0, device, &data); !taken)
    return tl::unexpected(not_taken(std::move(taken).error(), fd, size, kind));
  detail::tell_allocation({data, size, MemoryKind::device, false, context.raw()});
  return Buffer::adopt(context, data, size, MemoryKind::device);
}

}  // namespace

const char* to_string(ExternalKind kind) { return kind == ExternalKind::opaque_fd ? "opaque_fd" : "dma_buf"; }

Result<ExternalMemory> external_memory(DeviceRef device) {
  auto properties = make<ze_device_external_memory_properties_t>();
  KILN_TRY(KILN_CALL(zeDeviceGetExternalMemoryProperties, device, &properties));
  const auto exports = properties.memoryAllocationExportTypes,
             imports = properties.memoryAllocationImportTypes;
  const auto opaque_fd = external_flag(ExternalKind::opaque_fd),
             dma_buf = external_flag(ExternalKind::dma_buf);
  return ExternalMemory{(exports & opaque_fd) != 0, (exports & dma_buf) != 0, (imports & opaque_fd) != 0,
                        (imports & dma_buf) != 0};
}

Result<Buffer> allocate_exportable(ContextRef context, DeviceRef device, std::size_t size, ExternalKind kind,
                                   AllocationOptions options) {
  return detail::told(Refused::allocation, take_exportable(context, device, size, kind, options));
}

Result<int> export_fd(ContextRef context, const Buffer& buffer, ExternalKind kind) {
  constexpr const char* kGet = "zeMemGetAllocProperties";
  if (!buffer) return tl::unexpected(detail::null_pointer(kGet, "buffer"));
  auto properties = make<ze_memory_allocation_properties_t>();
  auto exported = make<ze_external_memory_export_fd_t>();
  exported.flags = external_flag(kind);
  exported.fd = -1;
  chain(properties, exported);
  const bool has_zero = fcntl(0, F_GETFD) != -1;
  KILN_TRY(KILN_CALL(zeMemGetAllocProperties, context, buffer.data(), &properties, nullptr));
  // Without a GPU, Intel's driver leaves a zero (22.43), which is the program's own and not to be closed.
  if (exported.fd > 0 || (exported.fd == 0 && !has_zero)) return exported.fd;
  return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, kGet,
                              {"K0235",
                               "the driver gives no file descriptor for this memory",
                               {{"asked for", to_string(kind)}},
                               {"allocate it with allocate_exportable() and the same kind"}}));
}

Result<Buffer> import_fd(ContextRef context, DeviceRef device, int fd, std::size_t size, ExternalKind kind) {
  return detail::told(Refused::allocation, take_imported(context, device, fd, size, kind));
}

void IpcMemory::reset() {
  if (void* data = std::exchange(data_, nullptr)) KILN_DESTROY(zeMemCloseIpcHandle, context_, data);
}

Result<ze_ipc_mem_handle_t> ipc_handle(ContextRef context, const Buffer& buffer) {
  if (!buffer) return tl::unexpected(detail::null_pointer("zeMemGetIpcHandle", "buffer"));
  ze_ipc_mem_handle_t handle{};
  KILN_TRY(KILN_CALL(zeMemGetIpcHandle, context, buffer.data(), &handle));
  return handle;
}

Result<void> put_ipc(ContextRef context, const ze_ipc_mem_handle_t& handle) {
  if (!context) return tl::unexpected(detail::empty_handle("zeMemPutIpcHandle"));
  if (!context.api().zeMemPutIpcHandle) return {};
  return KILN_CALL(zeMemPutIpcHandle, context, handle);
}

Result<IpcMemory> open_ipc(ContextRef context, DeviceRef device, const ze_ipc_mem_handle_t& handle) {
  IpcMemory memory;
  KILN_TRY(KILN_CALL(zeMemOpenIpcHandle, context, device, handle, ze_ipc_memory_flags_t{0}, &memory.data_));
  memory.context_ = context;
  return memory;
}

void ImportedHost::reset() {
  size_ = 0;
  void* const data = std::exchange(data_, nullptr);
  if (!data || detail::tearing_down) return;
  if (!release_) {
    KILN_DESTROY(zeMemFree, context_, data);
  } else if (const ze_result_t code = release_(driver_.raw(), data); code != ZE_RESULT_SUCCESS) {
    log(LogLevel::warning, "zexDriverReleaseImportedPointer failed: " + result_name(code));
  }
}

Result<ImportedHost> import_host(DriverRef driver, ContextRef context, void* data, std::size_t size) {
  constexpr const char* kCall = "import_host";
  if (!driver || !context) return tl::unexpected(detail::empty_handle(kCall));
  if (&driver.api() != &context.api()) return tl::unexpected(detail::foreign_handle(kCall));
  if (!data) return tl::unexpected(detail::null_pointer(kCall, "data"));
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (size == 0 || size % page != 0 || reinterpret_cast<std::uintptr_t>(data) % page != 0)
    return tl::unexpected(not_pages(data, size, page));
  if (!driver.has(Feature::import_host)) return tl::unexpected(detail::lacking(Feature::import_host, kCall));
  ImportedHost imported;
  const auto extensions = driver.extensions();
  KILN_TRY(extensions);
  if (std::ranges::find(*extensions, detail::kSystemMemoryExtension) != extensions->end()) {
    auto description = make<ze_host_mem_alloc_desc_t>();
    auto memory = make<abi::ExternalSystemMemory>();
    memory.pSystemMemory = data;
    memory.size = size;
    chain(description, memory);
    void* mapped = nullptr;
    KILN_TRY(KILN_CALL(zeMemAllocHost, context, &description, size, std::size_t{0}, &mapped));
    imported.data_ = mapped;
  } else {
    KILN_TRY(const auto import, driver.entry_point<abi::IntelImportExternalPointer>(detail::kImportPointer));
    KILN_TRY(imported.release_,
             driver.entry_point<abi::IntelReleaseImportedPointer>("zexDriverReleaseImportedPointer"));
    if (const ze_result_t code = import(driver.raw(), data, size); code != ZE_RESULT_SUCCESS)
      return tl::unexpected(code == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
                                ? detail::lacking(Feature::import_host, detail::kImportPointer, code)
                                : detail::refused(code, detail::kImportPointer));
    imported.data_ = data;
  }
  imported.driver_ = driver;
  imported.context_ = context;
  imported.size_ = size;
  return imported;
}

Result<void> make_resident(ContextRef context, DeviceRef device, const void* data, std::size_t size) {
  if (!data) return tl::unexpected(detail::null_pointer("zeContextMakeMemoryResident", "memory"));
  return KILN_CALL(zeContextMakeMemoryResident, context, device, const_cast<void*>(data), size);
}

Result<void> evict(ContextRef context, DeviceRef device, const void* data, std::size_t size) {
  if (!data) return tl::unexpected(detail::null_pointer("zeContextEvictMemory", "memory"));
  return KILN_CALL(zeContextEvictMemory, context, device, const_cast<void*>(data), size);
}

}  // namespace kiln
