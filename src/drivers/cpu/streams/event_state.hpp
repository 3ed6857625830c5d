// SPDX-License-Identifier: MIT
// What an event or a fence is inside: a flag that threads, of other processes too, can wait for, with the
// times of the work behind it.
#pragma once

#include <level_zero/ze_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "drivers/cpu/streams/clock.hpp"

namespace kiln::cpu {

/// The part of an event that processes share when its pool does. Zero bytes are an event before its signal.
struct EventCell {
  std::atomic<std::uint32_t> word = 0;  ///< bit 0: signalled; above: counts changes, and waiters sleep on it
  std::atomic<std::uint32_t> waiters = 0;
  std::atomic<std::uint32_t> signals = 0;  ///< how often it was signalled
  std::atomic<ze_result_t> result = ZE_RESULT_SUCCESS;
  std::atomic<std::uint64_t> start_ns = 0, end_ns = 0;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(EventCell) == 32);

/// Thread-safe. Shared between its handle and the work that waits for it or signals it, so that either may go
/// first.
class EventState {
 public:
  struct Times {
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
  };

  EventState() : cell_(&own_) {}
  /// An event whose cell lies in memory that processes share, and that `memory` keeps.
  EventState(std::shared_ptr<void> memory, EventCell& cell) : memory_(std::move(memory)), cell_(&cell) {}
  EventState(const EventState&) = delete;
  EventState& operator=(const EventState&) = delete;

  [[nodiscard]] bool signalled() const { return cell_->word.load(std::memory_order_acquire) & 1; }
  /// `text` says more about a result that is not success; other processes do not see it.
  void signal(Times times, ze_result_t result = ZE_RESULT_SUCCESS, std::string text = {});
  void reset();

  /// How the work behind a signalled event ended; the text of a failure becomes this thread's last error.
  [[nodiscard]] ze_result_t outcome() const;

  /// When the work ran; zeros before it did.
  [[nodiscard]] Times times() const;

  /// Blocks until signalled or until the deadline; true: signalled. A signal during the wait ends it, also
  /// when the event was reset again before this thread ran.
  bool wait(Clock::time_point deadline);

  /// Blocks until signalled or until `stop` is set and wake() called; true: signalled. When that takes longer
  /// than `patience`, `tell` is called with how often the event was signalled before, and again after as long
  /// until it gives true.
  bool wait(const std::atomic<bool>& stop, std::chrono::nanoseconds patience,
            bool (*tell)(std::uint32_t signals));

  /// Makes waiting threads look at their stop flag.
  void wake();

  [[nodiscard]] EventCell& cell() { return *cell_; }

 private:
  void change(std::uint32_t signalled);

  EventCell own_;
  std::shared_ptr<void> memory_;
  EventCell* cell_;
  mutable std::mutex text_mutex_;
  std::string text_;
};

using EventRef = std::shared_ptr<EventState>;

}  // namespace kiln::cpu
