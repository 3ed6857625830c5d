// SPDX-License-Identifier: MIT
// What the upkeep of a cache folder shares: the folder that is meant, its entries in brief, errors.
#pragma once

#include <optional>

#include "cache/maintenance.hpp"
#include "kiln/cache_folder.hpp"

namespace kiln::offline {

/// The settings with a folder that is not empty. Error: K0710.
[[nodiscard]] Result<CacheOptions> with_folder(CacheOptions options);

/// The folder as a cache would open it, or nothing when there is none yet: for writing, or else, where it was
/// asked for reading alone, for reading. Makes nothing. Error: K0710.
[[nodiscard]] Result<std::optional<cache::Folder>> existing_folder(const CacheOptions& options,
                                                                   cache::Access access);

/// One entry in brief; its bytes are not kept. `gone`: it was removed by somebody meanwhile.
[[nodiscard]] CacheEntry summarize(const cache::Folder& folder, const cache::StoredEntry& stored,
                                   bool with_log, bool* gone = nullptr);

/// All of them, the last used first. Errors: K0711, K0423.
[[nodiscard]] Result<CacheList> summarize_all(const cache::Folder& folder, const LongWork& work);

[[nodiscard]] std::vector<UnusablePlace> places(const std::vector<cache::Unusable>& found);
[[nodiscard]] std::chrono::sys_seconds now();

/// K0407.
[[nodiscard]] Error no_such(std::string message, std::vector<std::string> help);
/// K0408.
[[nodiscard]] Error unreadable_archive(const std::string& path, std::string reason);
[[nodiscard]] Error unwritable_archive(const std::string& path, std::string reason);
/// K0712.
[[nodiscard]] Error nothing_kept(std::string reason);

}  // namespace kiln::offline
