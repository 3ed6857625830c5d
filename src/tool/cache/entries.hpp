// SPDX-License-Identifier: MIT
// What the commands of `kiln cache` share: the folder that is meant, its entries in brief, errors.
#pragma once

#include <optional>
#include <vector>

#include "cache/maintenance.hpp"
#include "tool/cache/command.hpp"

namespace kiln::tool {

/// The settings: the folder is never empty. Errors: K0701, K0710.
[[nodiscard]] Result<CacheOptions> chosen_options(const CacheCommand& command);

/// The folder as a cache would open it, or nothing when there is none yet: for writing, or else, where it was
/// asked for reading alone, for reading. Makes nothing. Error: K0710.
[[nodiscard]] Result<std::optional<cache::Folder>> existing_folder(const CacheOptions& options,
                                                                   cache::Access access);

/// One entry in brief; its bytes are not kept.
struct EntrySummary {
  cache::StoredEntry stored;
  bool gone = false;        ///< removed by somebody meanwhile
  std::string damage;       ///< empty: whole; else nothing below is known
  bool unreadable = false;  ///< `damage` is why it could not be read: nothing is known of its bytes
  cache::EntryKind kind = cache::EntryKind::binary;
  std::uint32_t code = 0, attempts = 0;
  std::chrono::sys_seconds created;
  std::uint64_t payload = 0;  ///< bytes
  Manifest manifest;
  std::optional<ModuleFacts> facts;
  std::string log;  ///< only where it was asked for
};

[[nodiscard]] EntrySummary summarize(const cache::Folder& folder, const cache::StoredEntry& stored,
                                     bool with_log = false);

struct Summaries {
  std::vector<EntrySummary> entries;  ///< the last used first
  std::size_t unusable = 0;           ///< things at places of entries that are none
};
/// All of them. Progress on a terminal. Error: K0711.
[[nodiscard]] Result<Summaries> summarize_all(const cache::Folder& folder);

/// The one entry whose key begins like that. Errors: K0407 when there is none, or several.
[[nodiscard]] Result<cache::StoredEntry> find_entry(const cache::Folder& folder, const std::string& digits);
/// Lower-case hexadecimal digits, as many as a key has at most. Pure.
[[nodiscard]] bool may_be_key(const std::string& text);

[[nodiscard]] const char* kind_text(cache::EntryKind kind);
[[nodiscard]] std::string short_key(const CacheKey& key);
[[nodiscard]] std::chrono::sys_seconds now();

/// K0407.
[[nodiscard]] Error cache_usage(std::string message, std::vector<std::string> help);
/// K0408.
[[nodiscard]] Error unreadable_archive(const std::string& path, std::string reason);
[[nodiscard]] Error unwritable_archive(const std::string& path, std::string reason);
/// K0712.
[[nodiscard]] Error nothing_kept(std::string reason);
/// Tells an error on stderr, and as JSON on stdout when that was asked for.
int fail(const CacheCommand& command, const Error& error);

}  // namespace kiln::tool
