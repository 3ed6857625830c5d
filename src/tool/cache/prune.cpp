// SPDX-License-Identifier: MIT
// `kiln cache prune` and `clear`: what removes entries, whole ones too.

#include "cache/options.hpp"
#include "tool/cache/entries.hpp"
#include "tool/cache/units.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

/// What `clear` could not remove is a failure; `prune` only names the number.
int report(const CacheCommand& command, const Result<CacheRemoval>& done) {
  if (!done) return fail(command, done.error());
  const CacheRemoval& result = *done;
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
    print({{"folder", result.folder.string()},
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

}  // namespace

int cache_prune(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  std::optional<std::chrono::seconds> older_than;
  if (!command.older_than.empty() && !(older_than = parse_age(command.older_than)))
    return fail(command, cache_usage("--older-than is no age: `" + command.older_than + "`",
                                     {"give --older-than 30d, 12h, 90m or 45s, at most 100000d"}));
  CacheOptions chosen = *options;
  // Who asks for age alone wants no size.
  if (older_than) chosen.max_size = UINT64_MAX;
  if (!command.max_size.empty()) {
    const auto size = cache::parse_size(command.max_size);
    if (!size)
      return fail(command, cache_usage("--max-size is no size: `" + command.max_size + "`",
                                       {"give --max-size bytes, or a number with K, M or G behind"}));
    chosen.max_size = *size;
  }
  return report(command, prune_cache(chosen, older_than));
}

int cache_clear(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  return report(command, clear_cache(*options));
}

}  // namespace kiln::tool
