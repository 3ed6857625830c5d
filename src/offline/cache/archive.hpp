// SPDX-License-Identifier: MIT
// Entries in one portable file: an ar archive, as read_archive reads it, with a member for each entry.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cache/format/seal.hpp"
#include "kiln/manifest.hpp"

namespace kiln::offline {

/// Magic and the table of the members' names, which are the keys; then comes each member. Pure.
[[nodiscard]] std::string archive_start(std::span<const CacheKey> keys);
/// Whether a file begins as archive_start() makes it. Pure.
[[nodiscard]] bool is_exported(std::span<const std::byte> file);

/// What goes before the bytes of the member at that place in the table, and, after them, one more newline
/// where their number is odd. Pure.
[[nodiscard]] std::string archive_member_start(std::size_t index, std::size_t size);

/// An entry that was checked: its bytes are one, its manifest's key is its name, it is a native binary, and
/// its facts can be read.
struct ImportedEntry {
  CacheKey key;
  cache::Entry entry;
  std::optional<cache::Seal> seal{};   ///< not checked
  std::span<const std::byte> bytes{};  ///< of the entry alone
};
/// Trusts nothing. The error says why it is refused. Pure.
[[nodiscard]] tl::expected<ImportedEntry, std::string> check_member(const ArchiveMember& member);

}  // namespace kiln::offline
