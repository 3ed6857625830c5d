// SPDX-License-Identifier: MIT
// The facts of a module as bytes, so that a hit need not read them from the binary: docs/cache-format.md.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kiln/binary.hpp"

namespace kiln::cache {

/// Pure; thread-safe.
[[nodiscard]] std::vector<std::byte> encode_facts(const ModuleFacts& facts);

/// Refuses what encode_facts() would not have written, and what no reader of files gives: an alignment that
/// is no power of two, 256 GiB of scratch memory a thread. Bounded by the bytes' size, its allocations too.
/// Pure; thread-safe.
[[nodiscard]] tl::expected<ModuleFacts, BinaryError> decode_facts(std::span<const std::byte> bytes);

}  // namespace kiln::cache
