// SPDX-License-Identifier: MIT
// Locks of open file descriptions, polled.
#include "cache/key_lock.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace kiln::cache {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::microseconds kFirstPause = 100us, kLongestPause = 20ms;

/// File systems of several machines, and those of user space, whose locks cannot be known.
bool is_shared(int folder) {
  struct statfs status {};
  if (fstatfs(folder, &status) != 0) return true;
  constexpr std::uint32_t kSmb2 = 0xfe534d42, kCifs = 0xff534d42, kLustre = 0x0bd00bd0, kGpfs = 0x47504653,
                          kBeeGfs = 0x19830326, kPanFs = 0xaad7aaea, kFuse = 0x65735546, kGfs2 = 0x01161970,
                          kOcfs2 = 0x7461636f, k9p = 0x01021997, kCeph = 0x00c36400, kAfs = 0x6b414653;
  const std::uint32_t shared[] = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC,
                                  AFS_SUPER_MAGIC, CODA_SUPER_MAGIC,
                                  kSmb2,           kCifs,
                                  kLustre,         kGpfs,
                                  kBeeGfs,         kPanFs,
                                  kFuse,           kGfs2,
                                  kOcfs2,          k9p,
                                  kCeph,           kAfs};
  return std::ranges::find(shared, static_cast<std::uint32_t>(status.f_type)) != std::end(shared);
}

bool is_own_file(const File& file) {
  struct stat status {};
  return file && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

File open_lock(int folder, const char* name) {
  File file(openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  return is_own_file(file) ? std::move(file) : File();
}

/// The user's own folder on this machine; nothing when it is not closed to others.
File open_runtime_lock() {
  const char* path = std::getenv("XDG_RUNTIME_DIR");
  if (!path || *path != '/') return {};
  const File folder(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!folder || fstat(folder.get(), &status) != 0) return {};
  if (status.st_uid != geteuid() || (status.st_mode & 077) != 0) return {};
  return open_lock(folder.get(), "kiln-cache.lock");
}

int lock_byte(int file, short type, off_t offset) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  return fcntl(file, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

}  // namespace

KeyLocks KeyLocks::open(const Folder& folder) {
  KeyLocks locks;
  if (folder.access() == Access::write)
    locks.file_ =
        is_shared(folder.descriptor()) ? open_runtime_lock() : open_lock(folder.descriptor(), "lock");
  return locks;
}

off_t KeyLocks::offset_of(const CacheKey& key) {
  std::uint64_t digits = 0;
  std::memcpy(&digits, key.bytes.data(), sizeof digits);
  return static_cast<off_t>(digits % kPruning);
}

KeyLocks::Answer KeyLocks::try_lock(off_t offset) const {
  if (!file_) return Answer::impossible;
  const int error = lock_byte(file_.get(), F_WRLCK, offset);
  if (error == 0) return Answer::locked;
  return error == EAGAIN || error == EACCES ? Answer::busy : Answer::impossible;
}

void KeyLocks::unlock(off_t offset) const { lock_byte(file_.get(), F_UNLCK, offset); }

KeyLocks::Wait KeyLocks::lock(off_t offset, std::chrono::milliseconds longest,
                              const std::function<bool()>& done) const {
  const auto end = std::chrono::steady_clock::now() + longest;
  Wait wait;
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const Answer answer = try_lock(offset);
    wait.locked = answer == Answer::locked;
    if (answer != Answer::busy || std::chrono::steady_clock::now() >= end) return wait;
    wait.waited = true;
    std::this_thread::sleep_for(pause);
    if (done()) return wait;
  }
}

}  // namespace kiln::cache
