// SPDX-License-Identifier: MIT
// The registers of a hardware thread as bytes in one place, so that an operand is an offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kiln::xe {

inline constexpr std::uint32_t kMostLanes = 32;

/// What they begin with, start() in run.cpp says.
struct alignas(64) Registers {
  static constexpr std::uint32_t kGeneral = 256, kAccumulators = 16, kMostBytes = 64;
  std::byte general[kGeneral * kMostBytes];
  std::byte accumulator[kAccumulators * kMostBytes];
  /// Bits 32 to 63 of the accumulator's integers, by the place of their low halves.
  std::int32_t high[kAccumulators * kMostBytes / 4];
  std::uint32_t flag[8];
  std::uint16_t address[32];
  std::uint32_t control[4];
  std::uint32_t state[8];
  std::uint32_t time[8];
  std::uint32_t enabled[4];
  std::uint32_t instruction[4];
  std::uint32_t debug[4];
  std::byte end[64];  // an instruction's last lanes may be loaded in one piece

  [[nodiscard]] const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(this); }
  [[nodiscard]] std::byte* bytes() { return reinterpret_cast<std::byte*>(this); }
};

}  // namespace kiln::xe
