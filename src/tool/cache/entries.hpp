// SPDX-License-Identifier: MIT
// What the commands of `kiln cache` share: the folder that is meant, entries by their first digits, errors.
#pragma once

#include <string>

#include "offline/cache/entries.hpp"
#include "tool/cache/command.hpp"

namespace kiln::tool {

using offline::existing_folder;
using offline::now;
using offline::summarize;

/// The settings: the folder is never empty. Errors: K0701, K0710.
[[nodiscard]] Result<CacheOptions> chosen_options(const CacheCommand& command);

/// The one entry whose key begins like that. Errors: K0407 when there is none, or several.
[[nodiscard]] Result<cache::StoredEntry> find_entry(const cache::Folder& folder, const std::string& digits);
/// Lower-case hexadecimal digits, as many as a key has at most. Pure.
[[nodiscard]] bool may_be_key(const std::string& text);
[[nodiscard]] std::string short_key(const CacheKey& key);

/// K0407.
[[nodiscard]] Error cache_usage(std::string message, std::vector<std::string> help);
/// K0713.
[[nodiscard]] Error trust_error(std::string message, std::vector<std::string> help = {});
/// Tells an error on stderr, and as JSON on stdout when that was asked for.
int fail(const CacheCommand& command, const Error& error);

}  // namespace kiln::tool
