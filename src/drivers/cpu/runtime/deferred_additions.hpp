// SPDX-License-Identifier: MIT
// Atomic additions whose results nobody asks for, summed up by the thread that makes them and made in memory
// when it has done its groups: groups that each add to the same places cost one addition a thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace kiln::cpu {

/// Of one thread.
class DeferredAdditions {
 public:
  static constexpr std::size_t kWords = 16;  ///< of a line: 64 bytes

  /// Adds to a line that begins at a multiple of 64. False: it was not added, and shall be added at once; no
  /// memory, or lines that come once each.
  bool add(std::uint32_t* line, const std::uint32_t* values);
  /// What was added is in memory behind this.
  void make();

 private:
  static constexpr std::size_t kLines = 256, kFew = 64;
  struct alignas(64) Line {
    std::array<std::uint32_t, kWords> sums;
  };

  void make(std::size_t place);

  std::array<std::uint32_t*, kLines> places_{};
  std::unique_ptr<Line[]> lines_;
  std::size_t again_ = 0, gave_way_ = 0;  // additions to lines that were there; lines that gave way
  bool any_ = false, declines_ = false;
};

}  // namespace kiln::cpu
