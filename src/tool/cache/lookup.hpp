// SPDX-License-Identifier: MIT
// What a load would find in the cache, in the order in which it looks.
#pragma once

#include "tool/cache/entries.hpp"

namespace kiln::tool {

struct Lookup {
  std::optional<CacheEntry> hit;
  std::string folder;                  ///< that has it
  std::string missed;                  ///< why it is compiled; empty for a hit
  bool absent = false;                 ///< there is no entry of that key, not even a bad one
  std::string damage;                  ///< of the entry that has the key
  std::optional<Error> unusable;       ///< the user's folder cannot be used: K0710
  std::vector<cache::Folder> folders;  ///< those that were looked into
};

/// `question` as cache_question() gives it. Changes nothing; says on stderr which folders of
/// CacheOptions::read_only are passed over.
[[nodiscard]] Lookup look_up(const CacheOptions& options, const CacheQuestion& question);

}  // namespace kiln::tool
