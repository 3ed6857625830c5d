// SPDX-License-Identifier: MIT
// `kiln cache prune` and `clear`: what removes entries, whole ones too.

#include "cache/options.hpp"
#include "tool/cache/entries.hpp"
#include "tool/cache/units.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

/// What `clear` could not remove is a failure; `prune` only names the number.
int report(const CacheCommand& command, const CacheOptions& options, const cache::PruneResult& result) {
  const bool clears = command.run == cache_clear;
  std::size_t left = 0;
  Json unusable = Json::array();
  for (const auto& [name, why, removed] : result.unusable) {
    left += removed ? 0 : 1;
    unusable.push_back({{"name", name}, {"reason", why}, {"removed", removed}});
    if (!command.json)
      say("v1/%s  unusable: %s%s\n", name.c_str(), why.c_str(),
          removed  ? "; removed"
          : clears ? "; CANNOT BE REMOVED"
                   : "");
  }
  const int status = clears && left ? kWrongAnswer : kOk;
  if (command.json) {
    print({{"folder", options.folder.string()},
           {"removed", result.removed},
           {"removed_bytes", result.removed_bytes},
           {"kept", result.kept},
           {"kept_bytes", result.kept_bytes},
           {"orphans", result.orphans},
           {"unusable", unusable}});
    return status;
  }
  say("%llu entries removed (%s), %llu kept (%s)", static_cast<unsigned long long>(result.removed),
      size_text(result.removed_bytes).c_str(), static_cast<unsigned long long>(result.kept),
      size_text(result.kept_bytes).c_str());
  if (result.orphans)
    say(", %llu files of dead processes removed", static_cast<unsigned long long>(result.orphans));
  if (left) say(", %zu unusable there%s", left, clears ? "" : " (`kiln cache verify --remove`)");
  say("\n");
  return status;
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

int cache_prune(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  std::optional<std::chrono::seconds> older_than;
  if (!command.older_than.empty() && !(older_than = parse_age(command.older_than)))
    return fail(command, cache_usage("--older-than is no age: `" + command.older_than + "`",
                                     {"give --older-than 30d, 12h, 90m or 45s, at most 100000d"}));
  // Who asks for age alone wants no size.
  std::uint64_t max_size = older_than ? UINT64_MAX : options->max_size;
  if (!command.max_size.empty()) {
    const auto size = cache::parse_size(command.max_size);
    if (!size)
      return fail(command, cache_usage("--max-size is no size: `" + command.max_size + "`",
                                       {"give --max-size bytes, or a number with K, M or G behind"}));
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

}  // namespace kiln::tool
