// SPDX-License-Identifier: MIT
// `kiln cache stats`: what is in the folder, and why it is not used.
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cache/disk/inputs.hpp"
#include "identity/variables.hpp"
#include "support/printable.hpp"
#include "tool/cache/entries.hpp"
#include "tool/cache/units.hpp"
#include "tool/common/output.hpp"
#include "tool/common/parallel.hpp"

namespace kiln::tool {
namespace {

std::int64_t seconds(std::chrono::sys_seconds time) { return time.time_since_epoch().count(); }

struct FolderTotals {
  std::uint64_t bytes = 0, binaries = 0, failures = 0, crashes = 0, damaged = 0, unreadable = 0;
};

FolderTotals add_up(const std::vector<CacheEntry>& entries) {
  FolderTotals totals;
  for (const CacheEntry& entry : entries) {
    totals.bytes += entry.size;
    ++(entry.unreadable                        ? totals.unreadable
       : !entry.damage.empty()                 ? totals.damaged
       : entry.kind == CacheEntryKind::binary  ? totals.binaries
       : entry.kind == CacheEntryKind::failure ? totals.failures
                                               : totals.crashes);
  }
  return totals;
}

void print_stats(const Json& stats) {
  const auto number = [&](const char* key) {
    return static_cast<unsigned long long>(stats[key].get<std::uint64_t>());
  };
  const auto text = [](const Json& value) { return detail::printable(value.get<std::string>()); };
  say("folder      %s%s\n", text(stats["folder"]).c_str(),
      stats["exists"].get<bool>() ? "" : " (not there yet)");
  if (stats.contains("file_system"))
    say("shared      on %s, which several machines may share: no lock there is relied on\n",
        text(stats["file_system"]).c_str());
  if (stats.contains("unused")) say("not used    %s\n", text(stats["unused"]).c_str());
  for (const Json& each : stats["bypassed"])
    say("bypassed    with %s: %s\n", each["driver"] == "intel" ? "Intel's driver" : "the CPU device",
        text(each["reason"]).c_str());
  for (const Json& each : stats["read_only"])
    say("read before %s: %s\n", text(each["folder"]).c_str(),
        each.contains("entries") ? (std::to_string(each["entries"].get<std::uint64_t>()) + " entries").c_str()
                                 : text(each["unusable"]["message"]).c_str());
  say("entries     %llu: %llu binaries, %llu failures, %llu crashes", number("entries"), number("binaries"),
      number("failures"), number("crashes"));
  if (number("damaged")) say(", %llu DAMAGED (`kiln cache verify`)", number("damaged"));
  if (number("unreadable")) say(", %llu UNREADABLE (`kiln cache verify`)", number("unreadable"));
  if (number("unusable_entries"))
    say("\nunusable    %llu at places of entries: `kiln cache verify` names them",
        number("unusable_entries"));
  say("\nsize        %s of %s\n", size_text(number("bytes")).c_str(), size_text(number("max_size")).c_str());
  if (number("inputs") || number("keep_inputs"))
    say("inputs      %llu for `kiln cache rewarm`, %s of %s\n", number("inputs"),
        size_text(number("input_bytes")).c_str(), size_text(number("keep_inputs")).c_str());
  if (number("set_aside")) say("set aside   %llu damaged\n", number("set_aside"));
  if (number("entries") == 0) return;
  const auto age = [&](const char* key) {
    return age_text(std::chrono::seconds(seconds(now()) - stats[key].get<std::int64_t>()));
  };
  say("last used   %s, the one longest unused %s\n", age("newest_use").c_str(), age("oldest_use").c_str());
}

/// Why the folder, which is not there, could not be made: K0710.
std::optional<Error> cannot_be_made(const std::filesystem::path& folder) {
  std::filesystem::path above = folder;
  while (above.has_relative_path() && access(above.c_str(), F_OK) != 0 && errno == ENOENT)
    above = above.parent_path();
  if (faccessat(AT_FDCWD, above.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return std::nullopt;
  return cache::unusable_folder(folder, "it cannot be made: " + detail::error_text(errno), errno);
}

/// Why a load that misses leaves nothing here.
std::optional<Error> unwritable(const CacheOptions& options,
                                const Result<std::optional<cache::Folder>>& folder) {
  if (!folder) return folder.error();
  if (!*folder) return cannot_be_made(options.folder);
  auto writable = existing_folder(options, cache::Access::write);
  return writable ? std::nullopt : std::optional(std::move(writable).error());
}

Json read_only_json(const CacheOptions& options) {
  Json list = Json::array();
  for (const std::filesystem::path& each : options.read_only) {
    const auto [path, access] = cache::read_only_folder(each);
    Json json{{"folder", each.string()}};
    const auto folder = cache::open_folder(path, access);
    const auto entries = folder ? cache::list_entries(*folder)
                                : Result<std::vector<cache::StoredEntry>>(tl::unexpected(folder.error()));
    if (entries)
      json["entries"] = entries->size();
    else
      json["unusable"] = to_json(entries.error());
    list.push_back(std::move(json));
  }
  return list;
}

/// With which drivers a program of this environment does without the cache. Only what the variables say: a
/// driver, which is not loaded here, may find settings files too.
Json bypassed_json() {
  std::vector<std::string> variables;
  for (char** each = environ; each && *each; ++each) variables.emplace_back(*each);
  const detail::EnvironmentInputs inputs = detail::environment_inputs(variables);
  Json list = Json::array();
  const auto add = [&](const char* driver, const std::string& reason) {
    if (!reason.empty()) list.push_back({{"driver", driver}, {"reason", reason}});
  };
  const std::string& intel = inputs.bypass.empty() ? inputs.unknown : inputs.bypass;
  add("intel", intel.empty() ? inputs.cpu_bypass : intel);
  add("cpu", inputs.cpu_bypass);
  return list;
}

}  // namespace

int cache_stats(const CacheCommand& command) {
  if (command.fleet || command.prometheus) return cache_fleet_stats(command);
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto folder = existing_folder(*options, cache::Access::read);
  // What may be read is not always to be written; a cache says so once in its log, and here.
  std::optional<Error> reason;
  if (!folder || options->mode == CacheMode::on) reason = unwritable(*options, folder);
  CacheList all;
  if (folder && *folder) {
    auto read = offline::summarize_all(**folder, shown_work("reading entries"));
    if (!read) return fail(command, read.error());
    all = *std::move(read);
  }
  const FolderTotals totals = add_up(all.entries);
  Json stats{{"folder", options->folder.string()}, {"exists", !folder || *folder}};
  if (folder && *folder && (*folder)->is_shared()) stats["file_system"] = (*folder)->file_system();
  if (options->mode == CacheMode::off)
    stats["unused"] = "it is off: KILN_CACHE";
  else if (reason)
    stats["unused"] = reason->diagnostic()->message;
  else if (options->mode == CacheMode::read)
    stats["unused"] = "it is only read, nothing is stored: KILN_CACHE";
  else if (options->max_size == 0)
    stats["unused"] = "nothing is stored, since it may have no size: KILN_CACHE_MAX_SIZE";
  stats["bypassed"] = bypassed_json();
  stats["read_only"] = read_only_json(*options);
  stats["entries"] = all.entries.size();
  stats["binaries"] = totals.binaries;
  stats["failures"] = totals.failures;
  stats["crashes"] = totals.crashes;
  stats["damaged"] = totals.damaged;
  stats["unreadable"] = totals.unreadable;
  stats["unusable_entries"] = all.unusable.size();
  stats["bytes"] = totals.bytes;
  stats["max_size"] = options->max_size;
  stats["set_aside"] = folder && *folder ? cache::count_damaged(**folder) : 0;
  const cache::InputsSize inputs = folder && *folder ? cache::inputs_size(**folder) : cache::InputsSize();
  stats["inputs"] = inputs.count;
  stats["input_bytes"] = inputs.bytes;
  stats["keep_inputs"] = options->keep_inputs;
  if (!all.entries.empty()) {
    stats["newest_use"] = seconds(all.entries.front().last_used);
    stats["oldest_use"] = seconds(all.entries.back().last_used);
  }
  if (reason) stats["unusable"] = to_json(*reason);
  if (command.json)
    print(stats);
  else
    print_stats(stats);
  if (reason && !command.json) complain("%s", reason->text().c_str());
  return reason ? exit_code(*reason) : kOk;
}

}  // namespace kiln::tool
