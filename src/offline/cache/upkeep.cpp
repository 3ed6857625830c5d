// SPDX-License-Identifier: MIT
// A cache folder made smaller, emptied and checked.
#include <algorithm>
#include <cerrno>

#include "offline/cache/entries.hpp"
#include "offline/parallel.hpp"

namespace kiln {
namespace offline {
namespace {

/// Opens the folder for writing and does it; where there is none, nothing was done.
template <class Act>
Result<CacheRemoval> remove_from(const CacheOptions& options, Act act) {
  KILN_TRY(const auto chosen, with_folder(options));
  KILN_TRY(const auto folder, existing_folder(chosen, cache::Access::write));
  CacheRemoval removal{chosen.folder};
  if (!folder) return removal;
  KILN_TRY(const cache::PruneResult result, act(*folder));
  removal.removed = result.removed;
  removal.removed_bytes = result.removed_bytes;
  removal.kept = result.kept;
  removal.kept_bytes = result.kept_bytes;
  removal.orphans = result.orphans;
  removal.unusable = places(result.unusable);
  return removal;
}

struct Found {
  CacheFinding finding;
  bool removable = true;  ///< a disk that does not answer may do so tomorrow
};

/// Empty: it is gone.
std::string remove_finding(const cache::Folder& folder, const Found& found) {
  if (!found.removable) return "kept, since the disk may answer later";
  if (!found.finding.key) {
    const int error = cache::remove_unusable(folder, found.finding.name.substr(3));
    return error ? cache::error_text(error) : std::string();
  }
  const auto removed = cache::remove(folder, *found.finding.key);
  return removed ? std::string() : removed.error().diagnostic()->message;
}

}  // namespace
}  // namespace offline

Result<CacheRemoval> clear_cache(const CacheOptions& options) {
  return offline::remove_from(options, [](const cache::Folder& folder) { return cache::clear(folder); });
}

Result<CacheRemoval> prune_cache(const CacheOptions& options,
                                 std::optional<std::chrono::seconds> older_than) {
  return offline::remove_from(options, [&](const cache::Folder& folder) {
    return cache::prune(folder, options.max_size, older_than, offline::now());
  });
}

Result<CacheCheck> verify_cache(const CacheOptions& options, bool remove, const LongWork& work) {
  KILN_TRY(const auto chosen, offline::with_folder(options));
  KILN_TRY(const auto folder,
           offline::existing_folder(chosen, remove ? cache::Access::write : cache::Access::read));
  CacheCheck check{chosen.folder, 0, {}};
  if (!folder) return check;
  KILN_TRY(const auto contents, cache::list_contents(*folder));
  std::vector<offline::Found> all;
  for (const cache::Unusable& each : contents.unusable)
    all.push_back({{CacheFault::unusable, "v1/" + each.name, {}, 0, each.why}});
  const auto tell = [&] {
    // There may be more by now.
    const std::size_t count = std::max<std::size_t>(check.entries, contents.entries.size());
    if (work.progress) work.progress(check.entries, count);
  };
  bool stop = work.stop.stop_requested();
  const auto note = [&](const cache::StoredEntry& entry, const std::optional<cache::ReadFailure>& failure) {
    ++check.entries;
    if (failure) {
      const bool read = failure->kind == cache::ReadFailure::Kind::damaged;
      all.push_back({{read ? CacheFault::damaged : CacheFault::unreadable, entry.key.hex(), entry.key,
                      entry.size, failure->reason},
                     read || failure->error == EACCES || failure->error == EPERM});
    }
    tell();
    stop = work.stop.stop_requested();
    return !stop;
  };
  if (!stop) {
    if (!contents.entries.empty()) tell();
    KILN_TRY(cache::verify(*folder, note));
  }
  if (stop) return tl::unexpected(offline::stopped("verify_cache", "checking the cache"));
  std::ranges::sort(all, {}, [](const offline::Found& each) { return each.finding.name; });
  for (offline::Found& each : all) {
    if (remove) each.finding.kept = offline::remove_finding(*folder, each);
    each.finding.removed = remove && each.finding.kept.empty();
    check.findings.push_back(std::move(each.finding));
  }
  return check;
}

}  // namespace kiln
