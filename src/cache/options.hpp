// SPDX-License-Identifier: MIT
// Sizes as settings and options write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::cache {

/// Bytes: "1048576", or with K, M or G for powers of 1024, "512M". Nothing: no size, or one above 2^64 - 1.
/// Pure; thread-safe.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace kiln::cache
