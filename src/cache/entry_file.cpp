// SPDX-License-Identifier: MIT
// Reads entry files and sets damaged ones aside.
#include "cache/entry_file.hpp"

#include <cerrno>
#include <cstdio>
#include <new>

namespace kiln::cache {
namespace {

constexpr off_t kLargestKept = 4 << 20;  // bytes of one damaged entry
constexpr int kMostKept = 16;            // damaged entries

using Kind = ReadFailure::Kind;

tl::unexpected<ReadFailure> fail(Kind kind, std::string reason) {
  return tl::unexpected(ReadFailure{kind, std::move(reason)});
}

tl::unexpected<ReadFailure> unreadable(int error) {
  return tl::unexpected(ReadFailure{Kind::unreadable, error_text(error), error});
}

void mark(int file, std::chrono::sys_seconds used, std::chrono::sys_seconds now) {
  if (used + kMarkAfter > now && used < now + kMarkAfter) return;
  const struct timespec times[2] = {{0, UTIME_OMIT}, {now.time_since_epoch().count(), 0}};
  futimens(file, times);  // not a reason to miss: somebody else's file system may refuse
}

}  // namespace

bool read_all(int file, std::byte* to, std::size_t size) {
  while (size > 0) {
    const ssize_t count = read(file, to, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) {
      errno = 0;
      return false;
    }
    to += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

tl::expected<FileBytes, ReadFailure> read_entry_file(const Folder& folder, const CacheKey& key,
                                                     std::optional<std::chrono::sys_seconds> now) {
  if (!folder.may_read(key)) return fail(Kind::absent, "not there");
  // A FIFO must not block; a link is not ours.
  const Descriptor file(
      openat(folder.descriptor(), EntryName(key).path(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return fail(Kind::absent, "not there");
    if (errno == ELOOP || errno == ENXIO) return fail(Kind::damaged, "not a regular file");
    return unreadable(errno);
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return unreadable(errno);
  if (!S_ISREG(status.st_mode)) return fail(Kind::damaged, "not a regular file");
  if (!folder.trusts(status)) return fail(Kind::damaged, "others own it or may write to it");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kLargestEntry) return fail(Kind::damaged, "it is too large");
  std::byte* bytes = new (std::nothrow) std::byte[size];  // not initialised: read() fills it
  if (!bytes) return unreadable(ENOMEM);
  FileBytes result{{bytes, [](const std::byte* all) { delete[] all; }}, {bytes, size}, {}, {}};
  if (!read_all(file.get(), bytes, size))
    return errno == 0 ? fail(Kind::damaged, "it became shorter") : unreadable(errno);
  auto entry = decode_sealed(result.bytes);
  if (!entry) return fail(Kind::damaged, entry.error().message);
  result.entry = entry->entry;
  result.seal = entry->seal;
  if (now) mark(file.get(), std::chrono::sys_seconds(std::chrono::seconds(status.st_mtime)), *now);
  return result;
}

void mark_used(const Folder& folder, const CacheKey& key, std::chrono::sys_seconds now) {
  const struct timespec times[2] = {{0, UTIME_OMIT}, {now.time_since_epoch().count(), 0}};
  utimensat(folder.descriptor(), EntryName(key).path(), times, AT_SYMLINK_NOFOLLOW);
}

void set_aside(const Folder& folder, const CacheKey& key) {
  const EntryName name(key);
  struct stat status {};
  if (fstatat(folder.descriptor(), name.path(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (const auto damaged = folder.subfolder("damaged", true); damaged && status.st_size <= kLargestKept) {
    int kept = 0;
    each_name(damaged->get(), [&](const char*) { ++kept; });
    // One of a key is enough.
    if (kept < kMostKept &&
        renameat2(folder.descriptor(), name.path(), damaged->get(), key.hex().c_str(), RENAME_NOREPLACE) == 0)
      return;
  }
  // A folder goes only when it is empty: nobody's files are lost here.
  unlinkat(folder.descriptor(), name.path(), S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
}

}  // namespace kiln::cache
