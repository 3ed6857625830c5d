// SPDX-License-Identifier: MIT
// One program's simulated GPU: what its engines share.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "drivers/simulator/activity.hpp"
#include "drivers/simulator/arrivals.hpp"
#include "drivers/simulator/groups/pool.hpp"
#include "drivers/simulator/memory/memory.hpp"
#include "drivers/simulator/model.hpp"
#include "xe/unit/machine.hpp"

namespace kiln::simulator {

/// What a submission may take before it counts as hanging.
struct Limits {
  std::uint64_t instructions = 0;                 ///< of a thread; 0: xe::kMostInstructions
  std::uint64_t groups = std::uint64_t{1} << 48;  ///< of a walker
  std::uint64_t commands = 50'000'000;            ///< of a submission: more than any list of commands has
  std::chrono::milliseconds wait{std::chrono::minutes(10)};  ///< of a semaphore
};

struct Machine {
  Machine(const Model& of, std::optional<pid_t> process)
      : model(of), memory(process), pool(of.hardware_threads / 128) {}

  const Model& model;
  Limits limits;
  std::uint8_t unwritten_registers = 0;  ///< bytes of registers that nothing has written
  Memory memory;
  Pool pool;
  Activity activity;
  Arrivals arrivals;
  xe::CodeCache codes;
  std::atomic<bool> stop{false};  ///< the program is gone: nobody waits any more
};

}  // namespace kiln::simulator
