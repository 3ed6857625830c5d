// SPDX-License-Identifier: MIT
// Removes the longest unused entries, and what dead writers left.
#include <sys/file.h>

#include <algorithm>
#include <cerrno>

#include "cache/disk/inputs.hpp"
#include "cache/maintenance.hpp"
#include "cache/usage.hpp"

namespace kiln::cache {
namespace {

constexpr std::time_t kOldOrphan = 3600;  // seconds; for file systems without locks

/// A live writer holds a lock on its file. Where other machines do not see that, age alone counts.
std::uint64_t sweep(const Folder& folder, std::chrono::sys_seconds now) {
  const auto temporary = folder.subfolder("temporary", false);
  if (!temporary) return 0;
  std::uint64_t orphans = 0;
  each_name(temporary->get(), [&](const char* name) {
    const Descriptor file(openat(temporary->get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || !folder.trusts(status))
      return;
    const bool old = status.st_mtime + kOldOrphan < now.time_since_epoch().count();
    const bool left =
        folder.is_shared() ? old : flock(file.get(), LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && old);
    if (left && unlinkat(temporary->get(), name, 0) == 0) ++orphans;
  });
  return orphans;
}

/// A file, a link, or a folder with all that is in it on the same file system. 0 or an errno.
int remove_tree(int folder, const char* name) {
  if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR) return errno;
  const Descriptor inside(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  int failure = inside ? 0 : errno;
  struct stat outer {
  }, inner{};
  if (inside &&
      (fstat(folder, &outer) != 0 || fstat(inside.get(), &inner) != 0 || outer.st_dev != inner.st_dev))
    return EXDEV;
  if (inside)
    each_name(inside.get(), [&](const char* below) {
      if (const int error = remove_tree(inside.get(), below)) failure = error;
    });
  if (unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
  return failure ? failure : errno;
}

}  // namespace

Result<PruneResult> shrink(const Folder& folder, const Shrinking& wanted, std::chrono::sys_seconds now) {
  const std::uint64_t before = start_count(folder);
  auto contents = list_contents(folder);
  if (!contents) return tl::unexpected(contents.error());
  std::vector<StoredEntry>& entries = contents->entries;
  std::ranges::sort(entries, {}, &StoredEntry::last_used);
  std::uint64_t blocks = 0;
  for (const StoredEntry& entry : entries) blocks += blocks_of(entry.size);
  const bool full = blocks * kBlock > wanted.above;
  PruneResult result;
  int failure = 0;
  for (const StoredEntry& entry : entries) {
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
  result.unusable = std::move(contents->unusable);
  set_usage(folder, before, blocks);
  if (failure != 0) return tl::unexpected(failed_operation(folder, "remove entries", failure));
  return result;
}

Result<PruneResult> prune(const Folder& folder, std::uint64_t max_size,
                          std::optional<std::chrono::seconds> older_than, std::chrono::sys_seconds now) {
  return shrink(folder, {max_size, max_size, older_than}, now);
}

int remove_unusable(const Folder& folder, const std::string& name) {
  // Where it made way for an entry meanwhile, that one goes, and is compiled again.
  const auto slash = name.find('/');
  if (slash == name.npos) return remove_tree(folder.descriptor(), name.c_str());
  const auto inside = folder.subfolder(name.substr(0, slash).c_str(), false);
  return inside ? remove_tree(inside->get(), name.c_str() + slash + 1) : inside.error();
}

Result<PruneResult> clear(const Folder& folder) {
  auto contents = list_contents(folder);
  auto result = shrink(folder, {}, std::chrono::sys_seconds::max());
  std::vector<Unusable> unusable;
  if (contents) unusable = std::move(contents->unusable);
  for (Unusable& each : unusable) each.removed = remove_unusable(folder, each.name) == 0;
  if (const int error = clear_inputs(folder)) unusable.push_back({kInputsFolder, error_text(error)});
  if (const auto damaged = folder.subfolder("damaged", false))
    each_name(damaged->get(), [&](const char* name) {
      if (const int error = remove_tree(damaged->get(), name))
        unusable.push_back({std::string("damaged/") + name, error_text(error)});
    });
  if (result) result->unusable = std::move(unusable);
  return result;
}

}  // namespace kiln::cache
