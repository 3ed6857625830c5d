// SPDX-License-Identifier: MIT
// Entries that this process has in memory, the last used first.
#pragma once

#include <list>
#include <mutex>
#include <unordered_map>

#include "cache/entry_file.hpp"

namespace kiln::cache {

/// Bounded by bytes; what is dropped lives on while somebody holds it. Thread-safe.
class MemoryTier {
 public:
  explicit MemoryTier(std::uint64_t size) : size_(size) {}

  struct Found {
    FileBytes file;
    bool mark = false;  ///< the mark of use on disk is due
  };
  [[nodiscard]] std::optional<Found> find(const CacheKey& key, std::chrono::sys_seconds now);
  /// What was there under that key goes, also where the new one does not fit.
  void put(const CacheKey& key, FileBytes file, std::chrono::sys_seconds now);
  void drop(const CacheKey& key);

 private:
  struct Item {
    CacheKey key;
    FileBytes file;
    std::chrono::sys_seconds marked;
  };
  struct Hash {  // the key is a hash itself
    std::size_t operator()(const CacheKey& key) const;
  };
  void remove(std::list<Item>::iterator item);

  const std::uint64_t size_;
  std::mutex mutex_;
  std::uint64_t used_ = 0;
  std::list<Item> items_;
  std::unordered_map<CacheKey, std::list<Item>::iterator, Hash> places_;
};

}  // namespace kiln::cache
