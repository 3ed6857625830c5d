// SPDX-License-Identifier: MIT
// What CompiledKernel::entry points to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "drivers/cpu/counting/counters.hpp"
#include "drivers/cpu/runtime/work_item.hpp"

namespace kiln::cpu {

struct LoadedKernel {
  GroupEntry run_group = nullptr;  ///< a work-group in one call
  ItemEntry run_item = nullptr;    ///< else: a fiber for each work-item
  std::vector<std::size_t> argument_offsets;
  std::size_t stack_bytes = 0;  ///< stack that one call needs
  std::uint32_t sub_group_size = 0;
  bool calls_pointers = false;
  std::unique_ptr<KernelCounters> counters;  ///< null: not instrumented
  std::span<const std::byte> variables;      ///< memory of the program's own variables
};

}  // namespace kiln::cpu
