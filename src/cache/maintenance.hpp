// SPDX-License-Identifier: MIT
// What the command `kiln cache` does to a folder: list, read, check, prune, clear, publish.
#pragma once

#include "cache/entry_file.hpp"
#include "cache/folder.hpp"

namespace kiln::cache {

struct StoredEntry {
  CacheKey key;
  std::uint64_t size = 0;              ///< bytes of the file
  std::chrono::sys_seconds last_used;  ///< right within an hour
};

/// What lies where Kiln looks for an entry or for a folder of its own, and will not be used: a link, a FIFO,
/// somebody else's file, one that others may write to.
struct Unusable {
  std::string name;  ///< below v1
  std::string why;
  bool removed = false;
};

struct Contents {
  std::vector<StoredEntry> entries;
  std::vector<Unusable> unusable;
};

/// In no order. What has no name that Kiln gives is left out. Error: K0711.
[[nodiscard]] Result<Contents> list_contents(const Folder& folder);
/// The entries alone.
[[nodiscard]] Result<std::vector<StoredEntry>> list_entries(const Folder& folder);

/// Removes it with all that is in it, as far as this user may: through no link and into no other file system.
/// Gives 0, also when it is gone, or an errno.
[[nodiscard]] int remove_unusable(const Folder& folder, const std::string& name);

/// Why what is kept under a key, or the folder it would be in, will not be used, without reading it; empty:
/// it is usable, or there is none.
[[nodiscard]] std::string why_unusable(const Folder& folder, const CacheKey& key);

/// Entries that were set aside since the folder was cleared last; 16 are kept at most.
[[nodiscard]] std::uint64_t count_damaged(const Folder& folder);

struct PruneResult {
  std::uint64_t removed = 0, removed_bytes = 0, kept = 0, kept_bytes = 0;
  std::uint64_t orphans = 0;       ///< files whose writers died
  std::vector<Unusable> unusable;  ///< removed by clear() alone
};

/// Removes entries that were last used longer ago than `older_than`, then the longest unused until the others
/// take at most `max_size` bytes on disk (every file in whole blocks of 4 KiB); and orphans. Error: K0711.
[[nodiscard]] Result<PruneResult> prune(const Folder& folder, std::uint64_t max_size,
                                        std::optional<std::chrono::seconds> older_than,
                                        std::chrono::sys_seconds now);

/// The same for a cache's own pruning: when entries take more than `above` bytes, until they take at most
/// `to`.
struct Shrinking {
  std::uint64_t above = 0, to = 0;
  std::optional<std::chrono::seconds> older_than;
};
[[nodiscard]] Result<PruneResult> shrink(const Folder& folder, const Shrinking& wanted,
                                         std::chrono::sys_seconds now);

/// Removes entries, what is unusable, what was set aside, and orphans. Follows no links, and leaves files
/// whose names are not Kiln's.
[[nodiscard]] Result<PruneResult> clear(const Folder& folder);

/// An entry that is whole and has the key of its manifest.
struct CheckedEntry {
  FileBytes file;
  Manifest manifest;
};
[[nodiscard]] tl::expected<CheckedEntry, ReadFailure> read_checked(const Folder& folder, const CacheKey& key);

/// Reads every entry, calls `each` with what is wrong with it, if anything is, until that says false, and
/// gives the number of damaged and unreadable ones. Removes nothing.
[[nodiscard]] Result<std::uint64_t> verify(
    const Folder& folder,
    const std::function<bool(const StoredEntry&, const std::optional<ReadFailure>&)>& each);

/// Without effect when there is no such entry.
[[nodiscard]] Result<void> remove(const Folder& folder, const CacheKey& key);

/// Success also when the entry is there already and `replace` is false. The bytes are not looked into.
[[nodiscard]] Result<void> publish(const Folder& folder, const CacheKey& key,
                                   std::span<const std::byte> encoded, bool replace);

}  // namespace kiln::cache
