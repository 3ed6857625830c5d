// SPDX-License-Identifier: MIT
// Memory shared with other processes, and with other interfaces such as Vulkan; memory kept on the device.
#pragma once

#include "kiln/context.hpp"

namespace kiln {

/// As what memory leaves a device, or comes to it: a file descriptor of one of two kinds.
enum class ExternalKind : std::uint8_t {
  opaque_fd,  ///< Vulkan: VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
  dma_buf,    ///< Vulkan: VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
};
[[nodiscard]] const char* to_string(ExternalKind kind);

/// What a device does of it.
struct ExternalMemory {
  bool exports_opaque_fd = false, exports_dma_buf = false, imports_opaque_fd = false, imports_dma_buf = false;
  [[nodiscard]] bool exports(ExternalKind kind) const {
    return kind == ExternalKind::opaque_fd ? exports_opaque_fd : exports_dma_buf;
  }
  [[nodiscard]] bool imports(ExternalKind kind) const {
    return kind == ExternalKind::opaque_fd ? imports_opaque_fd : imports_dma_buf;
  }
};
[[nodiscard]] Result<ExternalMemory> external_memory(DeviceRef device);

/// Memory of the device that export_fd() takes. Errors: UNSUPPORTED_FEATURE (K0234) where the device does not
/// export that kind; then as ContextRef::allocate_device().
[[nodiscard]] Result<Buffer> allocate_exportable(ContextRef, DeviceRef, std::size_t size, ExternalKind,
                                                 AllocationOptions = {});

/// A descriptor of memory that was allocated for that kind; the caller closes it. Asked again before, a
/// driver may give the same one, which is closed once. Errors: INVALID_ARGUMENT (K0235) where the driver
/// gives none; or the driver's.
[[nodiscard]] Result<int> export_fd(ContextRef, const Buffer&, ExternalKind);

/// Memory of another device, process or interface. The driver has its own hold of it: the caller closes `fd`,
/// unless the driver says otherwise. Errors: K0204, K0234; K0238, with the driver's code, for a descriptor
/// that it does not take; K0220, or the driver's where memory runs out.
[[nodiscard]] Result<Buffer> import_fd(ContextRef, DeviceRef, int fd, std::size_t size, ExternalKind);

/// Memory of another process, opened in this one. Its context must outlive it. Movable; one thread at a time.
class IpcMemory {
 public:
  IpcMemory() = default;
  IpcMemory(IpcMemory&& other) noexcept
      : context_(other.context_), data_(std::exchange(other.data_, nullptr)) {}
  IpcMemory& operator=(IpcMemory&& other) noexcept {
    if (this == &other) return *this;
    reset();
    context_ = other.context_;
    data_ = std::exchange(other.data_, nullptr);
    return *this;
  }
  ~IpcMemory() { reset(); }

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] explicit operator bool() const { return data_ != nullptr; }
  void reset();

 private:
  friend Result<IpcMemory> open_ipc(ContextRef, DeviceRef, const ze_ipc_mem_handle_t&);

  ContextRef context_;
  void* data_ = nullptr;
};

/// A handle that another process opens; how its descriptor gets there is the platform's and the driver's. It
/// stays until put_ipc() or the end of the memory.
[[nodiscard]] Result<ze_ipc_mem_handle_t> ipc_handle(ContextRef, const Buffer&);
/// Gives it back. Before Level Zero 1.6 nobody had to, and nothing is done.
[[nodiscard]] Result<void> put_ipc(ContextRef, const ze_ipc_mem_handle_t&);
[[nodiscard]] Result<IpcMemory> open_ipc(ContextRef, DeviceRef, const ze_ipc_mem_handle_t&);

/// Memory of the host that a program has already, such as a mapped file, known to a driver: kernels and
/// copies take its address. It must stay until this goes, and its context and driver until then. Movable; one
/// thread at a time.
class ImportedHost {
 public:
  ImportedHost() = default;
  ImportedHost(ImportedHost&& other) noexcept { *this = std::move(other); }
  ImportedHost& operator=(ImportedHost&& other) noexcept {
    if (this == &other) return *this;
    reset();
    context_ = other.context_;
    driver_ = other.driver_;
    release_ = other.release_;
    size_ = std::exchange(other.size_, 0);
    data_ = std::exchange(other.data_, nullptr);
    return *this;
  }
  ~ImportedHost() { reset(); }

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }  ///< bytes
  [[nodiscard]] explicit operator bool() const { return data_ != nullptr; }
  /// The device must be done with it.
  void reset();

 private:
  friend Result<ImportedHost> import_host(DriverRef, ContextRef, void*, std::size_t);

  ContextRef context_;
  DriverRef driver_;
  abi::IntelReleaseImportedPointer release_ = nullptr;  ///< null: zeMemFree
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// `data` and `size` are whole pages of the host, in no import that is still there. Errors:
/// INVALID_ARGUMENT (K0237) where they are not; UNSUPPORTED_FEATURE (K0230) without Feature::import_host; or
/// the driver's, as for memory that it cannot map.
[[nodiscard]] Result<ImportedHost> import_host(DriverRef driver, ContextRef context, void* data,
                                               std::size_t size);

/// Memory is kept where the device reaches it, or may leave again, for kernels that find it through pointers
/// alone. CheckedKernel does what most need (KernelRef::set_indirect_access).
[[nodiscard]] Result<void> make_resident(ContextRef, DeviceRef, const void* data, std::size_t size);
[[nodiscard]] Result<void> evict(ContextRef, DeviceRef, const void* data, std::size_t size);

}  // namespace kiln
