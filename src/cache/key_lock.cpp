// SPDX-License-Identifier: MIT
// Locks of the process, polled, and the list of those that its threads have.
#include "cache/key_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace kiln::cache {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::microseconds kFirstPause = 100us, kLongestPause = 20ms;

bool is_own_file(const struct stat& status) { return S_ISREG(status.st_mode) && status.st_uid == geteuid(); }

int lock_byte(int file, short type, off_t offset) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  return fcntl(file, F_SETLK, &lock) == 0 ? 0 : errno;
}

using FileName = std::pair<dev_t, ino_t>;

}  // namespace

/// A process loses all its locks on a file when it closes any descriptor of it: so it has one alone, which
/// all that use the file share, and which is closed when nobody does.
struct KeyLocks::LockFile {
  FileName name;
  Descriptor file;
  std::size_t users = 0;  // guarded by the registry's mutex

  std::mutex mutex;  // of what follows
  std::set<off_t> held{};
  pid_t holder = 0;  ///< of `held`: a forked child begins with none

  struct Registry {
    std::mutex mutex;
    std::map<FileName, std::unique_ptr<LockFile>> files;
  };
  static Registry& registry();
};

KeyLocks::LockFile::Registry& KeyLocks::LockFile::registry() {
  static auto* all = new Registry;  // outlives whoever asks while the process ends
  return *all;
}

KeyLocks::LockFile* KeyLocks::open_file(int folder, const char* name) {
  LockFile::Registry& registry = LockFile::registry();
  const std::lock_guard lock(registry.mutex);
  struct stat status {};
  if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
    if (const auto known = registry.files.find({status.st_dev, status.st_ino}); known != registry.files.end())
      return ++known->second->users, known->second.get();
  auto made = std::make_unique<LockFile>();
  made->file = Descriptor(openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!made->file || fstat(made->file.get(), &status) != 0 || !is_own_file(status)) return nullptr;
  made->name = {status.st_dev, status.st_ino};
  const auto [place, is_new] = registry.files.try_emplace(made->name);
  if (is_new) place->second = std::move(made);
  return ++place->second->users, place->second.get();
}

/// The user's own folder on this machine; nothing when it is not closed to others.
KeyLocks::LockFile* KeyLocks::open_runtime_file() {
  const char* path = std::getenv("XDG_RUNTIME_DIR");
  if (!path || *path != '/') return nullptr;
  const Descriptor folder(::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!folder || fstat(folder.get(), &status) != 0) return nullptr;
  if (status.st_uid != geteuid() || (status.st_mode & 077) != 0) return nullptr;
  return open_file(folder.get(), "kiln-cache.lock");
}

KeyLocks KeyLocks::open(const Folder& folder) {
  KeyLocks locks;
  if (folder.access() == Access::write)
    locks.file_ = folder.is_shared() ? open_runtime_file() : open_file(folder.descriptor(), "lock");
  return locks;
}

KeyLocks::~KeyLocks() {
  if (!file_) return;
  LockFile::Registry& registry = LockFile::registry();
  const std::lock_guard lock(registry.mutex);
  if (--file_->users == 0) registry.files.erase(file_->name);
}

off_t KeyLocks::offset_of(const CacheKey& key) {
  std::uint64_t digits = 0;
  std::memcpy(&digits, key.bytes.data(), sizeof digits);
  return static_cast<off_t>(digits % kPruning);
}

KeyLocks::Hold KeyLocks::try_lock(off_t offset) const {
  if (!file_) return Hold(Answer::impossible);
  const std::lock_guard lock(file_->mutex);
  if (std::exchange(file_->holder, getpid()) != getpid()) file_->held.clear();
  const auto [place, is_new] = file_->held.insert(offset);
  if (!is_new) return Hold(Answer::busy);
  const int error = lock_byte(file_->file.get(), F_WRLCK, offset);
  if (error == 0) return {file_, offset};
  file_->held.erase(place);
  return Hold(error == EAGAIN || error == EACCES ? Answer::busy : Answer::impossible);
}

KeyLocks::Hold::~Hold() {
  if (!file_) return;
  const std::lock_guard lock(file_->mutex);
  lock_byte(file_->file.get(), F_UNLCK, offset_);
  file_->held.erase(offset_);
}

KeyLocks::Hold KeyLocks::lock(off_t offset, std::chrono::milliseconds longest,
                              const std::function<bool()>& done) const {
  constexpr std::chrono::milliseconds kForEver = std::chrono::years(100);  // more may not fit the clock
  const auto end = std::chrono::steady_clock::now() + std::min(longest, kForEver);
  bool waited = false;
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    Hold hold = try_lock(offset);
    hold.waited_ = waited;
    if (hold.answer() != Answer::busy || std::chrono::steady_clock::now() >= end) return hold;
    waited = hold.waited_ = true;
    std::this_thread::sleep_for(pause);
    if (done()) return hold;
  }
}

KeyLocks::Hold KeyLocks::try_lock(const CacheKey& key) const { return try_lock(offset_of(key)); }

KeyLocks::Hold KeyLocks::lock(const CacheKey& key, std::chrono::milliseconds longest,
                              const std::function<bool()>& done) const {
  return lock(offset_of(key), longest, done);
}

KeyLocks::Hold KeyLocks::try_lock_pruning() const { return try_lock(kPruning); }

KeyLocks::Hold KeyLocks::lock_pruning(std::chrono::milliseconds longest) const {
  return lock(kPruning, longest, [] { return false; });
}

}  // namespace kiln::cache
