// SPDX-License-Identifier: MIT
// Waiting for and signalling of events.
#include "event_state.hpp"

namespace kiln::cpu {

void EventState::signal(Times times) {
  {
    const std::lock_guard lock(mutex_);
    times_ = times;
    signalled_.store(true, std::memory_order_release);
  }
  changed_.notify_all();  // the caller holds a reference, so the object outlives this even if a waiter drops
                          // its own
}

void EventState::reset() {
  const std::lock_guard lock(mutex_);
  times_ = {};
  signalled_.store(false, std::memory_order_release);
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
