// SPDX-License-Identifier: MIT
// The counting rules for the memory accesses that the work-items of a sub-group make together. Pure.
#pragma once

#include <cstdint>
#include <span>

namespace kiln::cpu {

inline constexpr std::uint64_t kLineBytes = 64;              ///< of a cache line
inline constexpr std::uint64_t kBanks = 16, kBankBytes = 4;  ///< of SLM
inline constexpr std::size_t kServedTogether = 16;  ///< work-items whose SLM accesses meet in the banks
inline constexpr std::size_t kCountedLanes = 16;    ///< work-items that may tell of their accesses together
inline constexpr std::uint64_t kUneven =
    ~std::uint64_t{0};  ///< bytes from access to access, where they differ

/// What one work-item touches.
struct Touch {
  std::uint64_t address = 0;  ///< of global memory, or the offset in SLM
  std::uint32_t bytes = 0;
};

/// Different cache lines that the accesses lie in.
[[nodiscard]] std::uint32_t lines_of(std::span<const Touch> touches);

struct Turns {
  std::uint64_t taken = 0;
  std::uint64_t least = 0;  ///< were all words spread evenly over the banks
};

/// How often the banks of SLM have to serve for one access. Each bank serves one of its words at a time, to
/// all work-items that want it; words of different banks are served together. Atomics are served one by one,
/// also on the same word. Accesses of more than 16 work-items go 16 by 16.
[[nodiscard]] Turns slm_turns(std::span<const Touch> touches, bool atomic);

}  // namespace kiln::cpu
