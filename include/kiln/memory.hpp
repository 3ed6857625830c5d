// SPDX-License-Identifier: MIT
// USM allocations: a movable Buffer, and a HostBuffer that the host may read and write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "kiln/allocation.hpp"
#include "kiln/handle.hpp"

namespace kiln {

/// Owns one USM allocation. The context must outlive it. Movable; one thread at a time.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer() { reset(); }

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }  ///< bytes asked for
  [[nodiscard]] MemoryKind kind() const { return kind_; }
  [[nodiscard]] explicit operator bool() const { return data_ != nullptr; }

  /// Takes over an allocation made elsewhere in `context`.
  [[nodiscard]] static Buffer adopt(Ref<ze_context_handle_t> context, void* data, std::size_t size,
                                    MemoryKind kind);
  /// Gives the allocation away without freeing it.
  [[nodiscard]] void* release();
  /// Frees the allocation. The device must be done with it.
  void reset();

 private:
  Ref<ze_context_handle_t> context_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
  MemoryKind kind_ = MemoryKind::device;
};

/// The kinds that the host may touch.
enum class HostMemoryKind : std::uint8_t { host, shared };

/// A host or shared allocation: the only kind that the host may touch, so the only one with spans.
class HostBuffer : public Buffer {
 public:
  HostBuffer() = default;

  /// Takes over an allocation made elsewhere in `context`.
  [[nodiscard]] static HostBuffer adopt(Ref<ze_context_handle_t> context, void* data, std::size_t size,
                                        HostMemoryKind kind) {
    return HostBuffer(Buffer::adopt(context, data, size,
                                    kind == HostMemoryKind::host ? MemoryKind::host : MemoryKind::shared));
  }

  /// The allocation as whole elements of T; a rest smaller than T is left out. Empty when a Buffer of device
  /// memory was assigned through a reference to the base.
  template <class T>
  [[nodiscard]] std::span<T> span() const {
    static_assert(std::is_trivially_copyable_v<T>, "the device knows no constructors");
    if (kind() == MemoryKind::device) return {};
    return {static_cast<T*>(data()), size() / sizeof(T)};
  }

 private:
  friend class ContextRef;
  explicit HostBuffer(Buffer&& buffer) : Buffer(std::move(buffer)) {}
};

}  // namespace kiln
