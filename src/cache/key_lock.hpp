// SPDX-License-Identifier: MIT
// Locks between threads and processes, one byte of one file a key, which the kernel releases when their
// process ends.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "cache/folder.hpp"

namespace kiln::cache {

/// Saves work and is never needed for a right result: where there is no lock, all compile. Thread-safe.
///
/// The locks are the process's (F_SETLK): a child that it forks has none of them, and keeps none when it
/// lives longer; and threads of the process, whichever Cache they use, are told apart by a list of their own.
class KeyLocks {
 public:
  /// Opens v1/lock; on a network file system a file in $XDG_RUNTIME_DIR, since locks there may be slow,
  /// missing, or outlive their holder.
  static KeyLocks open(const Folder& folder);
  KeyLocks() = default;
  KeyLocks(KeyLocks&& other) noexcept : file_(std::exchange(other.file_, nullptr)) {}
  KeyLocks& operator=(KeyLocks&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~KeyLocks();

  enum class Answer : std::uint8_t { locked, busy, impossible };
  class Hold;
  /// Empty: another thread or process has it, or nobody can have it.
  [[nodiscard]] Hold try_lock(const CacheKey& key) const;
  /// Waits while another has the key, until it is free, `done` says true (asked after every pause), or
  /// `longest` has passed.
  [[nodiscard]] Hold lock(const CacheKey& key, std::chrono::milliseconds longest,
                          const std::function<bool()>& done) const;

  /// For the one that prunes.
  [[nodiscard]] Hold try_lock_pruning() const;
  /// Waits for another that prunes, at most `longest`.
  [[nodiscard]] Hold lock_pruning(std::chrono::milliseconds longest) const;

 private:
  struct LockFile;
  static constexpr off_t kPruning = off_t{1} << 62;
  static off_t offset_of(const CacheKey& key);
  static LockFile* open_file(int folder, const char* name);
  static LockFile* open_runtime_file();
  [[nodiscard]] Hold try_lock(off_t offset) const;
  [[nodiscard]] Hold lock(off_t offset, std::chrono::milliseconds longest,
                          const std::function<bool()>& done) const;

  LockFile* file_ = nullptr;
};

/// What was answered, and the lock itself, which ends with this. Its KeyLocks must outlive it.
class KeyLocks::Hold {
 public:
  Hold() = default;
  explicit Hold(Answer answer) : answer_(answer) {}
  Hold(LockFile* file, off_t offset) : answer_(Answer::locked), file_(file), offset_(offset) {}
  Hold(Hold&& other) noexcept
      : answer_(other.answer_),
        waited_(other.waited_),
        file_(std::exchange(other.file_, nullptr)),
        offset_(other.offset_) {}
  Hold& operator=(Hold&& other) noexcept {
    std::swap(answer_, other.answer_);
    std::swap(waited_, other.waited_);
    std::swap(file_, other.file_);
    std::swap(offset_, other.offset_);
    return *this;
  }
  ~Hold();

  [[nodiscard]] Answer answer() const { return answer_; }
  [[nodiscard]] bool locked() const { return file_ != nullptr; }
  [[nodiscard]] bool waited() const { return waited_; }

 private:
  friend KeyLocks;
  Answer answer_ = Answer::impossible;
  bool waited_ = false;
  LockFile* file_ = nullptr;
  off_t offset_ = 0;
};

}  // namespace kiln::cache
