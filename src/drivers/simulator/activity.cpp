// SPDX-License-Identifier: MIT
// Counts submissions, and wakes the engines that wait when somebody asks.
#include "drivers/simulator/activity.hpp"

namespace kiln::simulator {

void Activity::change(std::int64_t submissions) {
  {
    const std::scoped_lock lock(mutex_);
    submissions_ += submissions;
    ++asked_;
  }
  changed_.notify_all();
}

Activity::Wait::Wait(Activity& activity) : activity_(activity) {
  {
    const std::scoped_lock lock(activity_.mutex_);
    // It has done something before, and has not looked yet.
    seen_ = activity_.seen_.insert(activity_.asked_);
    looks_at_ = ++activity_.asked_;
  }
  activity_.changed_.notify_all();
}

Activity::Wait::~Wait() {
  {
    const std::scoped_lock lock(activity_.mutex_);
    activity_.seen_.erase(seen_);
  }
  activity_.changed_.notify_all();
}

void Activity::Wait::pause(std::chrono::microseconds most) {
  std::unique_lock lock(activity_.mutex_);
  activity_.seen_.erase(seen_);
  seen_ = activity_.seen_.insert(looks_at_);
  activity_.changed_.notify_all();
  activity_.changed_.wait_for(lock, most, [&] { return activity_.asked_ != looks_at_; });
  looks_at_ = activity_.asked_;
}

void Activity::settle(const std::atomic<bool>& stop) {
  std::unique_lock lock(mutex_);
  if (submissions_ == 0) return;
  ++asked_;
  changed_.notify_all();
  const auto settled = [&] {
    return submissions_ <= static_cast<std::int64_t>(seen_.size()) &&
           (seen_.empty() || *seen_.begin() >= asked_);
  };
  while (!stop.load(std::memory_order_relaxed) &&
         !changed_.wait_for(lock, std::chrono::milliseconds(50), settled)) {
  }
}

}  // namespace kiln::simulator
