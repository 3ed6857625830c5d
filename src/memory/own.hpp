// SPDX-License-Identifier: MIT
// How much memory the Buffers of this process own, by kind.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/memory_account.hpp"

namespace kiln::detail {

/// Two atomic additions. Thread-safe.
void own_memory_taken(MemoryKind kind, std::size_t bytes);
void own_memory_given(MemoryKind kind, std::size_t bytes);

/// What is owned at the moment; its numbers may be of moments side by side. Thread-safe.
[[nodiscard]] OwnMemory own_memory();

}  // namespace kiln::detail
