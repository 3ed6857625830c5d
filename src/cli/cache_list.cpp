// SPDX-License-Identifier: MIT
// `kiln cache stats` and `kiln cache list`.
#include <algorithm>
#include <cstdio>

#include "cli/cache_compare.hpp"
#include "cli/cache_entries.hpp"
#include "cli/cache_units.hpp"
#include "cli/table.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t kLongestCell = 40;  // bytes

std::int64_t seconds(std::chrono::sys_seconds time) { return time.time_since_epoch().count(); }

/// Cut between characters, not within one.
std::string shortened(std::string text) {
  if (text.size() <= kLongestCell) return text;
  std::size_t end = kLongestCell;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::vector<std::string> kernel_names(const EntrySummary& entry) {
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

ordered_json as_json(const EntrySummary& entry) {
  ordered_json json{{"key", entry.stored.key.hex()},
                    {"short", short_key(entry.stored.key)},
                    {"size", entry.stored.size},
                    {"last_used", seconds(entry.stored.last_used)}};
  if (!entry.damage.empty()) {
    json["damage"] = entry.damage;
    return json;
  }
  json["kind"] = kind_text(entry.kind);
  json["created"] = seconds(entry.created);
  json["kernels"] = kernel_names(entry);
  json["device"] = brief_device(entry.manifest);
  json["compiler"] = brief_compiler(entry.manifest);
  json["flags"] = brief_flags(entry.manifest);
  return json;
}

void print_entries(const std::vector<EntrySummary>& entries) {
  if (entries.empty()) {
    std::printf("no entries\n");
    return;
  }
  const auto at = now();
  std::vector<std::vector<std::string>> table{
      {"KEY", "KIND", "DEVICE", "COMPILER", "KERNELS", "FLAGS", "SIZE", "USED"}};
  for (const EntrySummary& entry : entries) {
    const bool whole = entry.damage.empty();
    table.push_back({short_key(entry.stored.key), whole ? kind_text(entry.kind) : "damaged",
                     whole ? brief_device(entry.manifest) : "", whole ? brief_compiler(entry.manifest) : "",
                     shortened(joined(kernel_names(entry))), shortened(brief_flags(entry.manifest)),
                     size_text(entry.stored.size), age_text(at - entry.stored.last_used)});
  }
  print_table(std::move(table), 6);
}

struct Totals {
  std::uint64_t bytes = 0, binaries = 0, failures = 0, crashes = 0, damaged = 0;
};

Totals add_up(const std::vector<EntrySummary>& entries) {
  Totals totals;
  for (const EntrySummary& entry : entries) {
    totals.bytes += entry.stored.size;
    ++(!entry.damage.empty()                     ? totals.damaged
       : entry.kind == cache::EntryKind::binary  ? totals.binaries
       : entry.kind == cache::EntryKind::failure ? totals.failures
                                                 : totals.crashes);
  }
  return totals;
}

void print_stats(const ordered_json& stats) {
  const auto number = [&](const char* key) {
    return static_cast<unsigned long long>(stats[key].get<std::uint64_t>());
  };
  std::printf("folder      %s%s\n", stats["folder"].get<std::string>().c_str(),
              stats["exists"] ? "" : " (not there yet)");
  if (stats.contains("unusable"))
    std::printf("unusable    %s\n", stats["unusable"]["message"].get<std::string>().c_str());
  std::printf("entries     %llu: %llu binaries, %llu failures, %llu crashes", number("entries"),
              number("binaries"), number("failures"), number("crashes"));
  if (number("damaged")) std::printf(", %llu DAMAGED (`kiln cache verify`)", number("damaged"));
  std::printf("\nsize        %s of %s\n", size_text(number("bytes")).c_str(),
              size_text(number("max_size")).c_str());
  if (number("set_aside")) std::printf("set aside   %llu damaged\n", number("set_aside"));
  if (number("entries") == 0) return;
  const auto age = [&](const char* key) {
    return age_text(std::chrono::seconds(seconds(now()) - stats[key].get<std::int64_t>()));
  };
  std::printf("last used   %s, the one longest unused %s\n", age("newest_use").c_str(),
              age("oldest_use").c_str());
}

}  // namespace

int cache_list(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto folder = existing_folder(*options, cache::Access::read);
  if (!folder) return fail(command, folder.error());
  Result<std::vector<EntrySummary>> entries;
  if (*folder) entries = summarize_all(**folder);
  if (!entries) return fail(command, entries.error());
  if (!command.json) {
    print_entries(*entries);
    return kOk;
  }
  ordered_json list = ordered_json::array();
  for (const EntrySummary& entry : *entries) list.push_back(as_json(entry));
  print({{"folder", options->folder.string()}, {"entries", list}});
  return kOk;
}

int cache_stats(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  ordered_json stats{{"folder", options->folder.string()}};
  const auto folder = existing_folder(*options, cache::Access::read);
  // What may be read is not always to be written; a cache says so once in its log, and here.
  auto reason = folder ? std::optional<Error>() : std::optional(folder.error());
  if (folder && *folder)
    if (auto writable = existing_folder(*options, cache::Access::write); !writable) reason = writable.error();
  std::vector<EntrySummary> entries;
  stats["exists"] = !folder || *folder;
  if (folder && *folder) {
    auto read = summarize_all(**folder);
    if (!read) return fail(command, read.error());
    entries = *std::move(read);
  }
  const Totals totals = add_up(entries);
  stats["entries"] = entries.size();
  stats["binaries"] = totals.binaries;
  stats["failures"] = totals.failures;
  stats["crashes"] = totals.crashes;
  stats["damaged"] = totals.damaged;
  stats["bytes"] = totals.bytes;
  stats["max_size"] = options->max_size;
  stats["set_aside"] = folder && *folder ? cache::count_damaged(**folder) : 0;
  if (!entries.empty()) {
    stats["newest_use"] = seconds(entries.front().stored.last_used);
    stats["oldest_use"] = seconds(entries.back().stored.last_used);
  }
  if (reason) stats["unusable"] = to_json(*reason);
  if (command.json)
    print(stats);
  else
    print_stats(stats);
  if (reason && !command.json) std::fputs(reason->text().c_str(), stderr);
  return reason ? exit_code(*reason) : kOk;
}

}  // namespace kiln::cli
