// SPDX-License-Identifier: MIT
// One command of a command list: what it waits for, what it does, what it signals.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "drivers/cpu/api/abi.hpp"
#include "drivers/cpu/program.hpp"
#include "drivers/cpu/streams/event_state.hpp"

namespace kiln::cpu {

class Stream;

/// A kernel launch with everything captured at append time.
struct Launch {
  std::shared_ptr<const Program> program;  ///< keeps the code alive when the module is destroyed early
  const CompiledKernel* kernel = nullptr;
  std::vector<ArgumentValue> arguments;
  std::array<std::uint32_t, 3> groups{};
  std::array<std::uint32_t, 3> group_size{};
  std::array<std::uint64_t, 3> global_offset{};
  ze_kernel_indirect_access_flags_t indirect_access = 0;
  bool cooperative = false;                    ///< all work-groups run at the same time
  const ze_group_count_t* indirect = nullptr;  ///< when set: read instead of `groups` when the command runs
  const std::uint32_t* indirect_limit =
      nullptr;  ///< when set: run only if `indirect_index` is below what it holds
  std::uint32_t indirect_index = 0;
};

/// Reused through a stream's pool: clear() keeps the vectors' memory, so that a steady stream of launches
/// allocates nothing.
struct Command {
  std::vector<EventRef> waits;
  EventRef signal;
  bool counts = false;   ///< the signal is of a counter-based event: each run of the command signals it anew
  bool barrier = false;  ///< runs behind all before it, and before all behind it
  Launch launch;         ///< runs when launch.kernel is set
  std::function<ze_result_t(Stream&)> action;  ///< else this, when set
  Command* next = nullptr;

  void clear() {
    waits.clear();
    signal.reset();
    counts = false;
    barrier = false;
    launch.program.reset();
    launch.kernel = nullptr;
    launch.cooperative = false;
    launch.indirect = nullptr;
    launch.indirect_limit = nullptr;
    action = nullptr;
  }
};

}  // namespace kiln::cpu
