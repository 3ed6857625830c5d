// SPDX-License-Identifier: MIT
// The signature behind an entry that came from outside: docs/cache-format.md.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cache/format/entry.hpp"
#include "kiln/manifest.hpp"

namespace kiln::cache {

/// Of Ed25519 (RFC 8032). It names its owner, too.
using PublicKey = std::array<std::uint8_t, 32>;

struct Seal {
  PublicKey signer{};
  std::uint64_t signed_at = 0;  ///< seconds since 1970, as the signer says
  std::array<std::uint8_t, 64> signature{};

  [[nodiscard]] std::chrono::sys_seconds time() const;  ///< never above the year 9999
};

constexpr std::size_t kSealSize = 112;  // bytes

/// Pure.
[[nodiscard]] std::array<std::byte, kSealSize> encode_seal(const Seal& seal);

/// An entry, and the seal behind it where there is one, which is not checked. As decode_entry(). Pure.
struct SealedEntry {
  Entry entry;
  std::span<const std::byte> bytes;  ///< of the entry alone
  std::optional<Seal> seal;
};
[[nodiscard]] tl::expected<SealedEntry, BinaryError> decode_sealed(std::span<const std::byte> bytes);

/// What is signed: the key, the time, and the SHA-256 of the whole entry, which is manifest, log, facts and
/// payload. Pure.
[[nodiscard]] std::array<std::uint8_t, 84> signed_message(const CacheKey& key, std::uint64_t signed_at,
                                                          std::span<const std::byte> entry);

/// Whether the signer named in the seal signed this. Thread-safe.
[[nodiscard]] bool is_signed(const Seal& seal, const CacheKey& key, std::span<const std::byte> entry);

}  // namespace kiln::cache
