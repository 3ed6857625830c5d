// SPDX-License-Identifier: MIT
// What the commands of `kiln cache` do with stores of several machines.
#pragma once

#include <memory>

#include "cache/remote/tier.hpp"
#include "tool/cache/entries.hpp"

namespace kiln::tool {

/// The stores of the settings, asked one by one.
class Fleet {
 public:
  explicit Fleet(const CacheOptions& options);

  [[nodiscard]] const std::vector<cache::RemoteUrl>& stores() const { return stores_; }
  /// The error is in words.
  [[nodiscard]] tl::expected<cache::StoreLink::Reply, std::string> ask(cache::StoreVerb verb,
                                                                       std::size_t store,
                                                                       const CacheKey& key = {},
                                                                       std::span<const std::byte> entry = {},
                                                                       bool replace = false);
  /// What a store has under a key, checked as a load checks it.
  struct Held {
    std::optional<cache::FileBytes> file{};  ///< would be used
    bool absent = false;
    std::string why{};  ///< not
  };
  [[nodiscard]] Held get(std::size_t store, const CacheKey& key);

 private:
  std::vector<cache::RemoteUrl> stores_;
  cache::TrustFiles trust_;
  cache::StoreLink link_;
};

/// K0714: no store is named.
[[nodiscard]] Error no_store();

/// Whether an entry is for one of the products that --for names, all where it names none.
[[nodiscard]] bool is_for(const Manifest& manifest, const std::string& products);

/// What each store has under a key, for `explain`; a line each where `text`.
[[nodiscard]] Json stores_json(const CacheOptions& options, const CacheKey& key, bool text, bool& hit);

}  // namespace kiln::tool
