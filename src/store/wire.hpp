// SPDX-License-Identifier: MIT
// An entry as stores keep it: compressed, and with its seal before it. docs/cache-format.md.
#pragma once

#include <string>
#include <vector>

#include "cache/format/seal.hpp"
#include "cache/remote/frame.hpp"
#include "kiln/result.hpp"

namespace kiln::store {

/// `entry` without a seal. Pure; thread-safe.
[[nodiscard]] std::vector<std::byte> encode_wire(std::span<const std::byte> entry,
                                                 const std::optional<cache::Seal>& seal);

/// The entry with its seal behind it, as folders keep it; neither is looked into. The error says what is
/// wrong. Takes memory for what the bytes say, at most cache::kLargestOnWire. Pure; thread-safe.
[[nodiscard]] tl::expected<cache::FrameBytes, std::string> decode_wire(std::span<const std::byte> bytes);

}  // namespace kiln::store
