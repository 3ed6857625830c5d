// SPDX-License-Identifier: MIT
// `kiln cache verify`, `prune` and `clear`: what removes entries.
#include <algorithm>
#include <cstdio>

#include "cache/options.hpp"
#include "cli/cache_entries.hpp"
#include "cli/cache_units.hpp"
#include "cli/progress.hpp"

namespace kiln::cli {
namespace {

struct Damaged {
  cache::StoredEntry entry;
  std::string why;
};

int report(const CacheCommand& command, const CacheOptions& options, const cache::PruneResult& result) {
  if (command.json) {
    print({{"folder", options.folder.string()},
           {"removed", result.removed},
           {"removed_bytes", result.removed_bytes},
           {"kept", result.kept},
           {"kept_bytes", result.kept_bytes},
           {"orphans", result.orphans}});
    return kOk;
  }
  std::printf("%llu entries removed (%s), %llu kept (%s)", static_cast<unsigned long long>(result.removed),
              size_text(result.removed_bytes).c_str(), static_cast<unsigned long long>(result.kept),
              size_text(result.kept_bytes).c_str());
  if (result.orphans)
    std::printf(", %llu files of dead processes removed", static_cast<unsigned long long>(result.orphans));
  std::printf("\n");
  return kOk;
}

/// Opens the folder for writing and reports what `act` did; where there is none, nothing was done.
template <class Act>
int change(const CacheCommand& command, const CacheOptions& options, Act act) {
  const auto folder = existing_folder(options, cache::Access::write);
  if (!folder) return fail(command, folder.error());
  if (!*folder) return report(command, options, {});
  const Result<cache::PruneResult> result = act(**folder);
  return result ? report(command, options, *result) : fail(command, result.error());
}

}  // namespace

int cache_verify(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto folder = existing_folder(*options, command.remove ? cache::Access::write : cache::Access::read);
  if (!folder) return fail(command, folder.error());
  std::size_t count = 0;
  std::vector<Damaged> damaged;
  if (*folder) {
    const auto entries = cache::list_entries(**folder);
    if (!entries) return fail(command, entries.error());
    Progress progress(entries->size());
    const auto checked =
        cache::verify(**folder, [&](const cache::StoredEntry& entry, const std::string& why) {
          progress.next("entries checked");
          ++count;
          if (!why.empty()) damaged.push_back({entry, why});
          return true;
        });
    if (!checked) return fail(command, checked.error());
  }
  std::ranges::sort(damaged, {}, [](const Damaged& each) { return each.entry.key; });
  ordered_json list = ordered_json::array();
  for (const auto& [entry, why] : damaged) {
    if (command.remove)
      if (const auto removed = cache::remove(**folder, entry.key); !removed)
        return fail(command, removed.error());
    list.push_back(
        {{"key", entry.key.hex()}, {"size", entry.size}, {"damage", why}, {"removed", command.remove}});
    if (!command.json)
      std::printf("%s  %s%s\n", entry.key.hex().c_str(), why.c_str(), command.remove ? "; removed" : "");
  }
  if (command.json)
    print({{"folder", options->folder.string()}, {"entries", count}, {"damaged", list}});
  else
    std::printf("%zu entries read, %zu damaged\n", count, damaged.size());
  return damaged.empty() ? kOk : kWrongAnswer;
}

int cache_prune(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  std::optional<std::chrono::seconds> older_than;
  if (!command.older_than.empty() && !(older_than = parse_age(command.older_than)))
    return fail(command,
                cache_usage("`" + command.older_than + "` is no age", {"give 30d, 12h, 90m or 45s"}));
  // Who asks for age alone wants no size.
  std::uint64_t max_size = older_than ? UINT64_MAX : options->max_size;
  if (!command.max_size.empty()) {
    const auto size = cache::parse_size(command.max_size);
    if (!size)
      return fail(command, cache_usage("`" + command.max_size + "` is no size",
                                       {"give bytes, or a number with K, M or G behind"}));
    max_size = *size;
  }
  return change(command, *options, [&](const cache::Folder& folder) {
    return cache::prune(folder, max_size, older_than, now());
  });
}

int cache_clear(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  return change(command, *options, [](const cache::Folder& folder) { return cache::clear(folder); });
}

}  // namespace kiln::cli
