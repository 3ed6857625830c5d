// SPDX-License-Identifier: MIT
// The registers of a command streamer, and its arithmetic (MI_MATH).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

namespace kiln::simulator {

/// Ticks of the simulated GPU's clock: they grow with each call. Thread-safe.
[[nodiscard]] std::uint64_t ticks();

/// Of one engine; offsets as the render engine has them (0x2000 on), whichever engine it is. Bound to a
/// thread.
class Registers {
 public:
  /// `base`: where the engine's own block starts, such as 0x1a000.
  explicit Registers(std::uint32_t base) : base_(base) {}

  [[nodiscard]] std::uint32_t read(std::uint32_t offset) const;
  void write(std::uint32_t offset, std::uint32_t value);
  /// The instructions of MI_MATH. False: one that is not known, in `unknown`.
  [[nodiscard]] bool compute(std::span<const std::uint32_t> instructions, std::uint32_t& unknown);

  [[nodiscard]] std::uint64_t general(unsigned index) const;
  void set_general(unsigned index, std::uint64_t value);

 private:
  [[nodiscard]] std::uint32_t own(std::uint32_t offset) const;

  std::uint32_t base_;
  std::unordered_map<std::uint32_t, std::uint32_t> values_;
};

// Source: register_offsets.h of driver 22.43.
inline constexpr std::uint32_t kTimestamp = 0x2358, kThreadTime = 0x23a8, kPredicateResult = 0x2418,
                               kDispatchDimension = 0x2500, kGeneral = 0x2600;

}  // namespace kiln::simulator
