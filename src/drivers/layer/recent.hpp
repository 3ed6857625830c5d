// SPDX-License-Identifier: MIT
// The launches that came last, for what is told of a lost device.
#pragma once

#include <level_zero/ze_api.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/diagnostic.hpp"

namespace kiln::layer {

/// A ring without a lock: of launches that come at the same time one may be missing, or be half another's,
/// which a text can bear. Nothing is allocated.
class RecentLaunches {
 public:
  /// `kernel` is a name that stays until the process ends.
  void add(const char* kernel, const ze_group_count_t& groups) {
    const std::uint64_t number = next_.load(std::memory_order_relaxed);
    next_.store(number + 1, std::memory_order_relaxed);
    Launch& launch = launches_[number % kMost];
    launch.kernel.store(kernel, std::memory_order_relaxed);
    launch.groups = groups;
  }

  /// The last one was refused.
  void take_back() {
    const std::uint64_t number = next_.load(std::memory_order_relaxed);
    if (number) next_.store(number - 1, std::memory_order_relaxed);
  }

  /// A row for each, the last one first.
  void add_rows(Diagnostic& diagnostic) const;

 private:
  static constexpr std::uint64_t kMost = 8;
  struct Launch {
    std::atomic<const char*> kernel = nullptr;
    ze_group_count_t groups{0, 0, 0};
  };
  std::array<Launch, kMost> launches_{};
  std::atomic<std::uint64_t> next_ = 0;
};

inline constinit RecentLaunches recent_launches;

/// The same text for the same name, which stays until the process ends. Thread-safe.
[[nodiscard]] const char* lasting(const std::string& name);

}  // namespace kiln::layer
