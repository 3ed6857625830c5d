// SPDX-License-Identifier: MIT
// Atomic operations on host memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xe/unit/message/form.hpp"

namespace kiln::xe {

/// Does it to `bytes` (2, 4, 8) at an address aligned to them, with the old value as the answer. `second` is
/// the new value of a compare and swap, whose expected one is `first`.
std::uint64_t do_atomic(Atomic operation, std::byte* at, std::uint32_t bytes, std::uint64_t first,
                        std::uint64_t second);
/// How many operands it has besides the memory.
std::uint32_t atomic_operands(Atomic operation);

}  // namespace kiln::xe
