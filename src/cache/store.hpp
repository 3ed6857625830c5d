// SPDX-License-Identifier: MIT
// The store behind Cache, with time and chance from outside.
#pragma once

#include <atomic>
#include <set>

#include "cache/background.hpp"
#include "cache/key_lock.hpp"
#include "cache/memory_tier.hpp"
#include "cache/remote/tier.hpp"
#include "cache/single_flight.hpp"

namespace kiln::cache {

/// What a test chooses.
struct StoreOptions {
  std::function<std::chrono::sys_seconds()> now;  ///< empty: the system's clock
  std::function<double()> chance;                 ///< 0 to 1, below 1; empty: at random
  std::chrono::milliseconds silent_wait =
      std::chrono::seconds(2);  ///< for another process, before it is told
  bool prune_here = false;      ///< on the thread that stores, so that it is done when that returns
};

/// Thread-safe. What its functions do stands at class Cache.
class Store {
 public:
  Store(const CacheOptions& options, StoreOptions edge = {});

  CacheAnswer get(const Manifest& manifest, bool storable, const std::function<Compilation()>& compile);
  CacheAnswer replace(const Manifest& manifest, const std::function<Compilation()>& compile,
                      std::string_view reason);
  [[nodiscard]] CacheCounts counts() const;
  [[nodiscard]] const std::filesystem::path& folder() const { return path_; }
  [[nodiscard]] const std::string& unusable() const { return unusable_; }
  [[nodiscard]] bool is_off() const { return options_.mode == CacheMode::off; }

 private:
  using Compile = std::function<Compilation()>;
  struct Request;  // one call of get or replace

  void open_user_folder();
  void open_read_only_folders();
  CacheAnswer answer(Request& request);
  CacheAnswer lead(Request& request);
  std::optional<CacheAnswer> from_memory(Request& request);
  std::optional<CacheAnswer> from_folders(Request& request);
  std::optional<CacheAnswer> from_stores(Request& request);
  std::optional<CacheAnswer> from_folder(Request& request, const Folder& folder, CacheSource source);
  std::optional<CacheAnswer> answer_of(Request& request, const FileBytes& file, CacheSource source);
  std::string why_not_used(const Folder& folder, const Request& request, FileBytes& file);
  CacheAnswer compile(Request& request);
  CacheAnswer compile_unstored(const Compile& compile, std::string missed);
  void keep(Request& request, const FileBytes& file);
  void keep_later(Request& request, const FileBytes& file);
  void publish(const CacheKey& key, std::chrono::sys_seconds now, bool supersede, const FileBytes& file);
  void keep_inputs(const Compilation& made);
  void hand_on(Request& request, const FileBytes& file);
  CacheAnswer keep_result(Request& request, Compilation result);
  std::optional<CacheAnswer> verify(Request& request, const FileBytes& file, CacheSource source);
  void prune_when_full();
  void prune(std::chrono::sys_seconds now);

  void count(std::uint64_t CacheCounts::*number);
  void say_once(const std::string& text);

  const CacheOptions options_;
  const StoreOptions edge_;
  std::filesystem::path path_;
  std::string unusable_;
  std::optional<Folder> user_;
  std::vector<Folder> read_only_;
  KeyLocks locks_;
  MemoryTier memory_;
  TrustFiles trust_;
  std::optional<RemoteTier> remote_;
  SingleFlight single_flight_;
  /// Cleared while the folder takes nothing: then nobody waits for entries that will not come.
  std::atomic<bool> storing_{true};
  std::atomic<bool> counted_{false};

  mutable std::mutex mutex_;  // of what follows
  CacheCounts counts_;
  std::set<std::string> said_;
  std::set<CacheKey> distrusted_;  // replaced, where the false entry could not be removed

  Background prunes_, writes_;  // go first: they use the others
};

}  // namespace kiln::cache
