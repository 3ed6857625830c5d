// SPDX-License-Identifier: MIT
// Entry files: reading one, publishing one, setting a damaged one aside.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "cache/folder.hpp"
#include "cache/format/seal.hpp"

namespace kiln::cache {

/// The bytes of an entry and what they say. A value; copies share the bytes.
struct FileBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;  ///< with the seal, where there is one
  Entry entry;
  std::optional<Seal> seal{};  ///< it came from outside; checked then, not when the file is read
};

/// A larger one is neither stored nor read.
constexpr std::uint64_t kLargestEntry = std::uint64_t{1} << 30;

struct ReadFailure {
  enum class Kind : std::uint8_t {
    absent,
    damaged,     ///< whatever lies there is no entry
    unreadable,  ///< a network file system that lost it, a failing disk, no rights
  };
  Kind kind = Kind::absent;
  std::string reason;
  int error = 0;  ///< errno of what is unreadable
};

/// Opens, reads and decodes one entry: no lock, no mapping (a file that shrinks would end the process), and
/// no write but a mark of its use, at most once an hour, when `now` is given.
[[nodiscard]] tl::expected<FileBytes, ReadFailure> read_entry_file(
    const Folder& folder, const CacheKey& key, std::optional<std::chrono::sys_seconds> now = {});

/// Marks an entry as used.
void mark_used(const Folder& folder, const CacheKey& key, std::chrono::sys_seconds now);

/// How much older than a use the mark of it may be.
constexpr std::chrono::hours kMarkAfter{1};

/// Gives 0 or an errno; EEXIST when there is an entry already and it is not to be replaced. Never leaves a
/// part of an entry under its name.
[[nodiscard]] int publish_bytes(const Folder& folder, const CacheKey& key, std::span<const std::byte> bytes,
                                bool replace);

/// The same of another file, in the open folder `place` inside v1.
[[nodiscard]] int publish_file(const Folder& folder, int place, const char* name,
                               std::span<const std::byte> bytes, bool replace);

/// Reads until `size` bytes are there; false with errno 0 when the file ends before.
[[nodiscard]] bool read_all(int file, std::byte* to, std::size_t size);

/// Moves what lies at the place of an entry to v1/damaged, or removes it when that has enough already.
void set_aside(const Folder& folder, const CacheKey& key);

}  // namespace kiln::cache
