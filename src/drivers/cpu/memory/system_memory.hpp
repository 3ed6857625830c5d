// SPDX-License-Identifier: MIT
// Memory that the application got elsewhere, such as from malloc: KILN_CPU_SYSTEM_MEMORY.
#pragma once

#include <optional>

#include "drivers/cpu/program.hpp"

namespace kiln::cpu {

/// The mapping of the process that holds the address and can be read; nothing when there is none, or when the
/// device was not told to take such memory. Reads /proc/self/maps. Thread-safe.
[[nodiscard]] std::optional<MemoryRange> find_system_memory(const void* address);

}  // namespace kiln::cpu
