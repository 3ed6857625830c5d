// SPDX-License-Identifier: MIT
// The device's clock: the host's monotonic clock, counted in ticks of the products' timer.
#pragma once

#include <algorithm>
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

/// Until when a thread that waits for `deadline` may sleep. The rest it must stay awake: a sleeper is late by
/// the timer's slack (50 us unless the application changed it) and by its way back to a core, which is more
/// the busier the machine is. Of the time that is left 2%, 150 us at least and 2 ms at most.
[[nodiscard]] inline Clock::time_point sleep_until(Clock::time_point now, Clock::time_point deadline) {
  using namespace std::chrono_literals;
  const auto awake = std::clamp<Clock::duration>((deadline - now) / 50, 150us, 2ms);
  return deadline - awake;
}

}  // namespace kiln::cpu
