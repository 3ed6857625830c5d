// SPDX-License-Identifier: MIT
// A store that fails is left alone for a while, and then tried by one.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "cache/remote/frame.hpp"

namespace kiln::store {

/// Thread-safe.
class Breaker {
 public:
  /// Whether it may be asked now. After a while of rest one may, and the others when that one had an answer.
  bool allows(cache::Moment now) {
    const std::lock_guard lock(mutex_);
    if (failures_ == 0) return true;
    if (now < closed_until_) return false;
    closed_until_ = now + kTrial;
    return true;
  }
  /// True: it failed for the first time.
  bool failed(cache::Moment now) {
    const std::lock_guard lock(mutex_);
    constexpr int kMost = 6;  // 64 s
    closed_until_ = now + std::chrono::seconds(1 << std::min(failures_, kMost));
    return failures_++ == 0;
  }
  /// True: it had failed before.
  bool worked() {
    const std::lock_guard lock(mutex_);
    return std::exchange(failures_, 0) != 0;
  }

 private:
  static constexpr std::chrono::seconds kTrial{1};
  std::mutex mutex_;
  int failures_ = 0;
  cache::Moment closed_until_{};
};

}  // namespace kiln::store
