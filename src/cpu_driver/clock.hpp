// SPDX-License-Identifier: MIT
// The device's clock: the host's monotonic clock, counted in ticks of the products' timer.
#pragma once

#include <chrono>
#include <cstdint>

namespace kiln::cpu {

using Clock = std::chrono::steady_clock;

/// Ticks a second and nanoseconds a tick, as Intel's driver 26.27 reports them for every product without a
/// GPU.
inline constexpr std::uint64_t kTicksPerSecond = 12000048;
inline constexpr std::uint64_t kNanosecondsPerTick = 83;

[[nodiscard]] inline std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

/// Splits off whole seconds first, so that nothing overflows.
[[nodiscard]] constexpr std::uint64_t ns_to_ticks(std::uint64_t ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return ns / kSecond * kTicksPerSecond + ns % kSecond * kTicksPerSecond / kSecond;
}

[[nodiscard]] constexpr std::uint64_t low_bits(std::uint64_t value, std::uint32_t bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

/// The moment when a timeout given in nanoseconds ends; `Clock::time_point::max()` when it never does.
[[nodiscard]] inline Clock::time_point deadline_after(std::uint64_t timeout_ns) {
  const auto now = Clock::now();
  const auto left = static_cast<std::uint64_t>((Clock::time_point::max() - now).count());
  if (timeout_ns >= left) return Clock::time_point::max();
  return now + std::chrono::nanoseconds(timeout_ns);
}

}  // namespace kiln::cpu
