// SPDX-License-Identifier: MIT
// Memory that processes can share: an unnamed file, its mappings, and the 64 bytes by which another process
// finds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "support/descriptor.hpp"

namespace kiln::cpu {

using detail::Descriptor;

/// A file without a name of that many zero bytes; empty when the system gives none.
[[nodiscard]] Descriptor make_shared_file(std::size_t bytes);

/// Owner of pages.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* base, std::size_t bytes) : base_(base), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();
  [[nodiscard]] void* get() const { return base_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  explicit operator bool() const { return base_ != nullptr; }
  void* release() { return std::exchange(base_, nullptr); }

 private:
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A part of the file, readable and writable; empty when it cannot be mapped.
[[nodiscard]] Mapping map_shared(const Descriptor& file, std::size_t bytes, std::uint64_t offset = 0);

enum class SharedKind : std::uint32_t { memory = 1, event_pool, event };

/// What stands in the 64 bytes of an IPC handle. The descriptor comes first, as in the handles of Intel's
/// driver: programs send those four bytes as a descriptor (SCM_RIGHTS) and put what arrives in their place.
struct SharedHandle {
  std::int32_t fd = -1;
  std::uint32_t magic = 0;
  SharedKind kind = SharedKind::memory;
  std::int32_t process = 0;             ///< that made it; 0: not known
  std::uint64_t device = 0, inode = 0;  ///< of the file
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint32_t count = 0;   ///< of events
  std::uint32_t flags = 0;   ///< of the events' pool
};
static_assert(sizeof(SharedHandle) <= 64);

/// The handle of a file, with `fd` as the descriptor to send. Nothing when the file is not there.
[[nodiscard]] std::optional<SharedHandle> shared_handle(int fd, SharedKind kind, std::uint64_t bytes);

/// The same of a descriptor that came from elsewhere, for the whole file; nothing when it is no such file.
[[nodiscard]] std::optional<SharedHandle> handle_of_descriptor(int fd, SharedKind kind);

/// The file behind a handle: the descriptor in it where it is that file in this process, else that of the
/// process that made it. Empty: not a handle of that kind, or the file is gone or not this user's.
[[nodiscard]] Descriptor open_shared(const SharedHandle& handle, SharedKind kind);

/// Whether the descriptor still is that file: applications close descriptors that they have sent.
[[nodiscard]] bool is_file_of(int fd, const SharedHandle& handle);

}  // namespace kiln::cpu
