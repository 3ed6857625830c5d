// SPDX-License-Identifier: MIT
// What walkers executed, while somebody wants to know.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "xe/unit/machine.hpp"

namespace kiln::simulator {

/// Of one code of one product, all launches together.
struct CountedCode {
  std::string_view target;      ///< as find_target() knows it
  std::vector<std::byte> code;  ///< from its entry to the last instruction that was executed
  std::uint64_t launches = 0, groups = 0, threads = 0;
  xe::Counts counts{};
};

/// Of the process. Thread-safe.
class Counting {
 public:
  /// Forgets what was counted, and counts from now on.
  void begin();
  [[nodiscard]] bool is_on() const { return on_.load(std::memory_order_relaxed); }
  /// `code`: from its entry on; what lies behind it may follow. The target's text lives for ever.
  void add(std::string_view target, std::span<const std::byte> code, std::uint64_t groups,
           std::uint64_t threads, const xe::Counts& counts);
  [[nodiscard]] std::vector<CountedCode> read() const;

 private:
  std::atomic<bool> on_{false};
  mutable std::mutex mutex_;
  std::vector<CountedCode> codes_;
};

/// The one that all machines of the process add to.
[[nodiscard]] Counting& counting();

}  // namespace kiln::simulator
