// SPDX-License-Identifier: MIT
// `kiln cache list`.

#include "tool/cache/compare.hpp"
#include "tool/cache/entries.hpp"
#include "tool/cache/units.hpp"
#include "tool/common/output.hpp"
#include "tool/common/parallel.hpp"
#include "tool/common/table.hpp"

namespace kiln::tool {
namespace {

std::int64_t seconds(std::chrono::sys_seconds time) { return time.time_since_epoch().count(); }

std::vector<std::string> kernel_names(const CacheEntry& entry) {
  std::vector<std::string> names;
  if (entry.facts)
    for (const KernelFacts& kernel : entry.facts->kernels) names.push_back(kernel.name);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

Json summary_json(const CacheEntry& entry) {
  Json json{{"key", entry.key.hex()},
            {"short", short_key(entry.key)},
            {"size", entry.size},
            {"last_used", seconds(entry.last_used)}};
  if (!entry.damage.empty()) {
    json[entry.unreadable ? "unreadable" : "damage"] = entry.damage;
    return json;
  }
  json["kind"] = to_string(entry.kind);
  json["created"] = seconds(entry.created);
  json["kernels"] = kernel_names(entry);
  json["device"] = brief_device(entry.manifest);
  json["compiler"] = brief_compiler(entry.manifest);
  json["flags"] = brief_flags(entry.manifest);
  return json;
}

void print_unusable(std::size_t count) {
  if (count) say("and %zu at places of entries that are none: `kiln cache verify` names them\n", count);
}

void print_entries(const std::vector<CacheEntry>& entries) {
  if (entries.empty()) {
    say("no entries\n");
    return;
  }
  const auto at = now();
  std::vector<std::vector<std::string>> table{
      {"KEY", "KIND", "DEVICE", "COMPILER", "KERNELS", "FLAGS", "SIZE", "USED"}};
  for (const CacheEntry& entry : entries) {
    const bool whole = entry.damage.empty();
    table.push_back({short_key(entry.key),
                     whole              ? to_string(entry.kind)
                     : entry.unreadable ? "unreadable"
                                        : "damaged",
                     whole ? brief_device(entry.manifest) : "", whole ? brief_compiler(entry.manifest) : "",
                     shortened(joined(kernel_names(entry))), shortened(brief_flags(entry.manifest)),
                     size_text(entry.size), age_text(at - entry.last_used)});
  }
  print_table(std::move(table), 6);
}

}  // namespace

int cache_list(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto all = list_cache(*options, shown_work("reading entries"));
  if (!all) return fail(command, all.error());
  if (!command.json) {
    print_entries(all->entries);
    print_unusable(all->unusable.size());
    return kOk;
  }
  Json list = Json::array();
  for (const CacheEntry& entry : all->entries) list.push_back(summary_json(entry));
  print({{"folder", all->folder.string()}, {"entries", list}, {"unusable_entries", all->unusable.size()}});
  return kOk;
}

}  // namespace kiln::tool
