// SPDX-License-Identifier: MIT
// What a run costs by its counters, in steps of 64 bytes; docs/advise.md says why, and what is left out.
#pragma once

#include "kiln/counters.hpp"
#include "kiln/occupancy.hpp"

namespace kiln::tool {

struct CountedCost {
  std::uint64_t lines = 0;     ///< cache lines of global and constant memory
  std::uint64_t turns = 0;     ///< of the banks of SLM
  std::uint64_t barriers = 0;  ///< arrivals of hardware threads
  std::uint64_t spilled = 0;   ///< cache lines of registers in scratch, by native code
  std::optional<Occupancy> occupancy{};
  /// Hardware threads with work of those that a core has with 128 registers each: 256 leave half of them.
  std::uint32_t threads_percent = 100;

  /// The sum, and as much more as hardware threads without work are too many; below 75 % at work that is.
  [[nodiscard]] double total() const;
};

/// Of one launch of so many work-items a group; `native`: code for the product, with its limits. Pure.
struct NativeUse {
  KernelFacts facts;
  CoreLimits limits;
};
[[nodiscard]] CountedCost cost_of(const Counters& counters, std::uint64_t group_size, std::uint64_t slm,
                                  const std::optional<NativeUse>& native);

}  // namespace kiln::tool
