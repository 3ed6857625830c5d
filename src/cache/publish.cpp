// SPDX-License-Identifier: MIT
// Publishes entries: written whole without a name, or under another one, then given theirs at once.
#include <sys/file.h>

#include <cerrno>
#include <cstdio>

#include "cache/entry_file.hpp"
#include "support/limits.hpp"

namespace kiln::cache {
namespace {

/// No fsync: what a power failure tears has a wrong checksum. close() of a second descriptor makes network
/// file systems write now and say whether they could, and keeps the first one and its lock.
int write_all(int file, std::span<const std::byte> bytes) {
  const detail::NoFileSizeSignal guard;
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  const int second = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (second < 0) return errno;
  return close(second) == 0 ? 0 : errno;
}

/// Needs no name and so leaves nothing behind. nullopt: this file system cannot do it.
std::optional<int> publish_nameless(const Folder& folder, const char* name, int place,
                                    std::span<const std::byte> bytes) {
  const Descriptor file(openat(place, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file) {
    const bool impossible = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT;
    if (!impossible) return errno;
    folder.nameless_files() = false;
    return std::nullopt;
  }
  if (const int error = write_all(file.get(), bytes)) return error;
  const std::string own = "/proc/self/fd/" + std::to_string(file.get());
  if (linkat(AT_FDCWD, own.c_str(), place, name, AT_SYMLINK_FOLLOW) == 0) return 0;
  if (errno == EEXIST || errno == ENOSPC || errno == EDQUOT || errno == EIO || errno == EROFS) return errno;
  folder.nameless_files() = false;  // no /proc, no links
  return std::nullopt;
}

struct Temporary {
  std::string name = random_name();
  Descriptor file{};
};

/// The writer holds a lock on its file: one without it has lost its writer. sweep() in prune.cpp may meet the
/// file between its creation and its lock; then another one is made.
tl::expected<Temporary, int> create_temporary(int folder, bool locks) {
  for (int tries = 0; tries < 10; ++tries) {
    Temporary made;
    made.file = Descriptor(
        openat(folder, made.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!made.file && errno != EEXIST) return tl::unexpected(errno);
    struct stat status {};
    const bool locked =
        made.file && (!locks || flock(made.file.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
    if (locked && fstat(made.file.get(), &status) == 0 && status.st_nlink > 0) return made;
  }
  return tl::unexpected(EAGAIN);
}

int publish_named(const Folder& folder, const char* name, int place, std::span<const std::byte> bytes,
                  bool replace) {
  const auto temporary = folder.subfolder("temporary", true);
  if (!temporary) return temporary.error();
  const auto made = create_temporary(temporary->get(), !folder.is_shared());
  if (!made) return made.error();
  const char* own = made->name.c_str();
  int error = write_all(made->file.get(), bytes);
  if (error == 0) {
    const auto rename_with = [&](unsigned flags) {
      return renameat2(temporary->get(), own, place, name, flags) == 0 ? 0 : errno;
    };
    error = rename_with(replace ? 0 : RENAME_NOREPLACE);
    if (error == EINVAL || error == ENOSYS)  // replaces what is there, which is as good
      error = renameat(temporary->get(), own, place, name) == 0 ? 0 : errno;
  }
  if (error != 0) unlinkat(temporary->get(), own, 0);
  return error;
}

}  // namespace

int publish_bytes(const Folder& folder, const CacheKey& key, std::span<const std::byte> bytes, bool replace) {
  if (bytes.size() > kLargestEntry) return EFBIG;
  const EntryName name(key);
  const auto place = folder.subfolder(name.folder().c_str(), true);
  if (!place) return place.error();
  return publish_file(folder, place->get(), name.file(), bytes, replace);
}

int publish_file(const Folder& folder, int place, const char* name, std::span<const std::byte> bytes,
                 bool replace) {
  if (!replace && folder.nameless_files())
    if (const auto error = publish_nameless(folder, name, place, bytes)) return *error;
  return publish_named(folder, name, place, bytes, replace);
}

}  // namespace kiln::cache
