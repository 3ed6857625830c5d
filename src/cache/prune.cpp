// SPDX-License-Identifier: MIT
// Removes the longest unused entries, and what dead writers left.
#include <sys/file.h>

#include <algorithm>
#include <cerrno>

#include "cache/maintenance.hpp"
#include "cache/usage.hpp"

namespace kiln::cache {
namespace {

constexpr std::time_t kOldOrphan = 3600;  // seconds; for file systems without locks

/// A live writer holds a lock on its file.
std::uint64_t sweep(const Folder& folder, std::chrono::sys_seconds now) {
  const auto temporary = folder.subfolder("temporary", false);
  if (!temporary) return 0;
  std::uint64_t orphans = 0;
  each_name(temporary->get(), [&](const char* name) {
    const File file(openat(temporary->get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || !folder.trusts(status))
      return;
    const bool left = flock(file.get(), LOCK_EX | LOCK_NB) == 0 ||
                      (errno != EWOULDBLOCK && status.st_mtime + kOldOrphan < now.time_since_epoch().count());
    if (left && unlinkat(temporary->get(), name, 0) == 0) ++orphans;
  });
  return orphans;
}

/// Every file and link; folders when they are empty.
void remove_all(int folder) {
  each_name(folder, [&](const char* name) {
    if (unlinkat(folder, name, 0) != 0) unlinkat(folder, name, AT_REMOVEDIR);
  });
}

}  // namespace

Result<PruneResult> shrink(const Folder& folder, const Shrinking& wanted, std::chrono::sys_seconds now) {
  const auto before = estimated_usage(folder);
  auto entries = list_entries(folder);
  if (!entries) return tl::unexpected(entries.error());
  std::ranges::sort(*entries, {}, &StoredEntry::last_used);
  std::uint64_t blocks = 0;
  for (const StoredEntry& entry : *entries) blocks += blocks_of(entry.size);
  const bool full = blocks * kBlock > wanted.above;
  PruneResult result;
  int failure = 0;
  for (const StoredEntry& entry : *entries) {
    const bool old = wanted.older_than && now - entry.last_used > *wanted.older_than;
    if (old || (full && blocks * kBlock > wanted.to)) {
      if (unlinkat(folder.descriptor(), EntryName(entry.key).path(), 0) == 0 || errno == ENOENT) {
        ++result.removed;
        result.removed_bytes += entry.size;
        blocks -= blocks_of(entry.size);
        continue;
      }
      failure = errno;
    }
    ++result.kept;
    result.kept_bytes += entry.size;
  }
  result.orphans = sweep(folder, now);
  set_usage(folder, before, blocks);
  if (failure != 0) return tl::unexpected(failed_operation(folder, "remove entries", failure));
  return result;
}

Result<PruneResult> prune(const Folder& folder, std::uint64_t max_size,
                          std::optional<std::chrono::seconds> older_than, std::chrono::sys_seconds now) {
  return shrink(folder, {max_size, max_size, older_than}, now);
}

Result<PruneResult> clear(const Folder& folder) {
  auto result = shrink(folder, {}, std::chrono::sys_seconds::max());
  if (const auto damaged = folder.subfolder("damaged", false)) remove_all(damaged->get());
  return result;
}

}  // namespace kiln::cache
