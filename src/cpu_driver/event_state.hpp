// SPDX-License-Identifier: MIT
// What an event or a fence is inside: a flag that threads can wait for, with the times of the work behind it.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "clock.hpp"

namespace kiln::cpu {

/// Thread-safe. Shared between its handle and the work that waits for it or signals it, so that either may go
/// first.
class EventState {
 public:
  struct Times {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
  };

  [[nodiscard]] bool signalled() const { return signalled_.load(std::memory_order_acquire); }
  /// `text` says more about a result that is not success.
  void signal(Times times, ze_result_t result = ZE_RESULT_SUCCESS, std::string text = {});
  void reset();

  /// How the work behind a signalled event ended; the text of a failure becomes this thread's last error.
  [[nodiscard]] ze_result_t outcome() const;

  /// When the work ran; zeros before it did.
  [[nodiscard]] Times times() const;

  /// Blocks until signalled or until the deadline; true: signalled.
  bool wait(Clock::time_point deadline);

  /// Blocks until signalled or until `stop` is set and wake() called; true: signalled.
  bool wait(const std::atomic<bool>& stop);

  /// Makes waiting threads look at their stop flag.
  void wake();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> signalled_ = false;
  std::atomic<ze_result_t> result_ = ZE_RESULT_SUCCESS;
  Times times_;
  std::string text_;
};

using EventRef = std::shared_ptr<EventState>;

}  // namespace kiln::cpu
