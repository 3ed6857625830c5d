// SPDX-License-Identifier: MIT
// How far a stream has come: counts of commands submitted and completed, and waiting for a count.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "drivers/cpu/streams/clock.hpp"
#include "drivers/cpu/streams/order.hpp"

namespace kiln::cpu {

/// Thread-safe. Shared, because memory that was freed under running work waits for it even after the stream
/// is gone.
class Progress {
 public:
  [[nodiscard]] std::uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  [[nodiscard]] bool idle() const { return completed() >= submitted(); }

  void add_submitted() { submitted_.fetch_add(1, std::memory_order_release); }
  void add_completed() {
    {
      const std::lock_guard lock(mutex_);
      completed_.fetch_add(1, std::memory_order_release);
    }
    changed_.notify_all();
  }

  /// Nothing more will run: lets go everyone who waits.
  void complete_all() {
    {
      const std::lock_guard lock(mutex_);
      completed_.store(submitted(), std::memory_order_release);
    }
    changed_.notify_all();
  }

  /// Blocks until that many commands are completed; false: the deadline came first.
  bool wait(std::uint64_t count, Clock::time_point deadline) {
    if (completed() >= count) return true;
    Held::release();
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return completed() >= count; };
    if (deadline == Clock::time_point::max()) {
      changed_.wait(lock, ready);
      return true;
    }
    if (changed_.wait_until(lock, sleep_until(Clock::now(), deadline), ready)) return true;
    lock.unlock();
    while (!ready()) {
      if (Clock::now() >= deadline) return false;
      __builtin_ia32_pause();
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::uint64_t> submitted_ = 0;
  std::atomic<std::uint64_t> completed_ = 0;
};

}  // namespace kiln::cpu
