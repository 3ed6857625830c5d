// SPDX-License-Identifier: MIT
// Another order than that of the appends, for what no barrier and no event orders: KILN_CPU_ORDER.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>

namespace kiln::cpu {

/// What KILN_CPU_ORDER asks for: nothing, `shuffle`, or `shuffle:SEED`.
struct Order {
  bool shuffle = false;
  std::optional<std::uint64_t>
      seed;  ///< none: what was appended last runs first, so that each pair changes places
};

/// Nothing when the text asks for something else. Pure.
[[nodiscard]] std::optional<Order> parse_order(std::string_view text);

/// That of the process. Set once, before the first driver handle is given out.
[[nodiscard]] const Order& order();
void set_order(const Order& order);

/// Draws the next command. Each list has its own, made from the seed and from how many were made before. One
/// thread at a time.
class Shuffle {
 public:
  Shuffle();
  /// Below `count`, which is not 0.
  [[nodiscard]] std::size_t pick(std::size_t count);

 private:
  std::mt19937_64 random_;
};

/// A shuffled immediate list holds its commands back until the program waits or asks for anything, so that
/// not the host's speed decides which of them can change places. Thread-safe.
class Held {
 public:
  using Moment = std::uint64_t;

  /// The program waits or asks: all that is held starts. Costs nothing without shuffling.
  static void release();

  /// To be taken when the first command arrives.
  [[nodiscard]] static Moment now();
  /// Blocks until the first release after that moment, or for `kLongest`: a program may look at memory alone.
  static void wait_since(Moment moment);

  static constexpr std::chrono::milliseconds kLongest{50};
};

}  // namespace kiln::cpu
