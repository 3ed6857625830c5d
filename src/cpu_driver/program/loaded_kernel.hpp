// SPDX-License-Identifier: MIT
// What CompiledKernel::entry points to.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cpu_driver/program/work_item.hpp"

namespace kiln::cpu {

struct LoadedKernel {
  GroupEntry run_group = nullptr;  ///< kernels without barriers
  ItemEntry run_item = nullptr;    ///< kernels with barriers
  std::vector<std::size_t> argument_offsets;
  std::size_t stack_bytes = 0;  ///< stack that one call needs
  std::string name;
};

}  // namespace kiln::cpu
