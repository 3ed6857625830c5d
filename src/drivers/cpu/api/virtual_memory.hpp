// SPDX-License-Identifier: MIT
// What other parts ask about physical memory.
#pragma once

#include <optional>

#include "drivers/cpu/memory/shared_file.hpp"

namespace kiln::cpu {

/// The file behind an address that zeVirtualMemMap mapped, or behind the handle of a physical memory;
/// nothing: it is neither. Thread-safe.
[[nodiscard]] std::optional<SharedHandle> share_physical(const void* pointer);

}  // namespace kiln::cpu
