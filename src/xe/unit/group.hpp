// SPDX-License-Identifier: MIT
// What the threads of a work-group share besides memory.
#pragma once

#include <array>
#include <cstdint>

#include "xe/unit/machine.hpp"

namespace kiln::xe {

struct Range;
struct Thread;

struct Barrier {
  std::uint32_t arrived = 0, generation = 0;
};

struct GroupState {
  std::array<Barrier, 32> barriers{};
  std::uint32_t threads = 0;
  bool older = false;  ///< Xe-LP
  const Code::Body* code = nullptr;
};

/// Adds a block's cache lines to the instruction's counts.
void count_block(Thread& thread, const Range& range, std::uint64_t at, std::uint32_t size);
/// Those of lanes: `mask` says which, `at` where.
void count_lanes(Thread& thread, const Range& range, const std::uint64_t* at, std::uint32_t mask,
                 std::uint32_t size, bool atomic);

}  // namespace kiln::xe
