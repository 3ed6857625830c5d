// SPDX-License-Identifier: MIT
// Locks between processes, one byte of one file a key, which the kernel releases when their holder dies.
#pragma once

#include <chrono>
#include <functional>

#include "cache/folder.hpp"

namespace kiln::cache {

/// Saves work and is never needed for a right result: where there is no lock, all compile. Thread-safe, but
/// one key is locked by one thread of the process at a time.
class KeyLocks {
 public:
  /// Opens v1/lock; on a network file system a file in $XDG_RUNTIME_DIR, since locks there may be slow,
  /// missing, or outlive their holder.
  static KeyLocks open(const Folder& folder);

  enum class Answer : std::uint8_t { locked, busy, impossible };
  [[nodiscard]] Answer try_lock(const CacheKey& key) const { return try_lock(offset_of(key)); }
  void unlock(const CacheKey& key) const { unlock(offset_of(key)); }

  struct Wait {
    bool locked = false, waited = false;
  };
  /// Waits while another process holds the key, until it is free, `done` says true (asked after every pause),
  /// or `longest` has passed.
  [[nodiscard]] Wait lock(const CacheKey& key, std::chrono::milliseconds longest,
                          const std::function<bool()>& done) const {
    return lock(offset_of(key), longest, done);
  }

  /// For the one that prunes.
  [[nodiscard]] Answer try_lock_pruning() const { return try_lock(kPruning); }
  /// Waits for another process that prunes, at most `longest`.
  [[nodiscard]] Wait lock_pruning(std::chrono::milliseconds longest) const {
    return lock(kPruning, longest, [] { return false; });
  }
  void unlock_pruning() const { unlock(kPruning); }

 private:
  static constexpr off_t kPruning = off_t{1} << 62;
  static off_t offset_of(const CacheKey& key);
  [[nodiscard]] Answer try_lock(off_t offset) const;
  [[nodiscard]] Wait lock(off_t offset, std::chrono::milliseconds longest,
                          const std::function<bool()>& done) const;
  void unlock(off_t offset) const;

  File file_;
};

}  // namespace kiln::cache
