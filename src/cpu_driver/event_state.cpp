// SPDX-License-Identifier: MIT
// Waiting for and signalling of events.
#include "event_state.hpp"

#include <utility>

#include "last_error.hpp"

namespace kiln::cpu {

void EventState::signal(Times times, ze_result_t result, std::string text) {
  {
    const std::lock_guard lock(mutex_);
    times_ = times;
    result_.store(result, std::memory_order_relaxed);
    text_ = std::move(text);
    signalled_.store(true, std::memory_order_release);
  }
  changed_.notify_all();  // the caller holds a reference, so the object outlives this even if a waiter drops
                          // its own
}

void EventState::reset() {
  const std::lock_guard lock(mutex_);
  times_ = {};
  result_.store(ZE_RESULT_SUCCESS, std::memory_order_relaxed);
  signalled_.store(false, std::memory_order_release);
}

ze_result_t EventState::outcome() const {
  const ze_result_t result = result_.load(std::memory_order_relaxed);
  if (result == ZE_RESULT_SUCCESS) return result;
  const std::lock_guard lock(mutex_);
  set_last_error(text_);
  return result;
}

EventState::Times EventState::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

bool EventState::wait(Clock::time_point deadline) {
  if (signalled()) return true;
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return signalled(); };
  if (deadline == Clock::time_point::max()) {
    changed_.wait(lock, ready);
    return true;
  }
  return changed_.wait_until(lock, deadline, ready);
}

bool EventState::wait(const std::atomic<bool>& stop) {
  if (signalled()) return true;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return signalled() || stop.load(std::memory_order_relaxed); });
  return signalled();
}

void EventState::wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace kiln::cpu
