// SPDX-License-Identifier: MIT
// One cache entry as bytes: docs/cache-format.md.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kiln/binary.hpp"

namespace kiln::cache {

enum class EntryKind : std::uint32_t {
  binary = 1,   ///< `payload` is a native binary
  failure = 2,  ///< the compiler refused; `code` and `log` say why
  crash = 3,    ///< the compiler's process ended by itself, `attempts` times
};

/// Views into the bytes that were read, or are to be written.
struct Entry {
  EntryKind kind = EntryKind::binary;
  std::uint32_t code = 0;      ///< ze_result_t
  std::uint32_t attempts = 1;  ///< compilations that this entry stands for
  std::uint64_t created = 0;   ///< seconds since 1970
  std::string_view manifest;   ///< encode(Manifest)
  std::string_view log;
  std::span<const std::byte> facts;  ///< encode_facts()
  std::span<const std::byte> payload;
};

/// Pure.
[[nodiscard]] std::vector<std::byte> encode_entry(const Entry& entry);

/// Magic, version, sizes that add up to the whole, checksum over everything. Reads nothing outside of
/// `bytes`, which must outlive the views. The manifest and the facts are not looked into. Pure; thread-safe.
[[nodiscard]] tl::expected<Entry, BinaryError> decode_entry(std::span<const std::byte> bytes);

}  // namespace kiln::cache
