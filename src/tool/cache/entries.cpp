// SPDX-License-Identifier: MIT
// What the commands of `kiln cache` share: the folder that is meant, its entries in brief, errors.
#include "tool/cache/entries.hpp"

#include <algorithm>
#include <cstdlib>

#include "cache/format/facts.hpp"
#include "tool/cache/units.hpp"
#include "tool/common/output.hpp"
#include "tool/common/parallel.hpp"

namespace kiln::tool {
namespace {

constexpr std::size_t kShortKey = 12, kLongestKey = 2 * sizeof(CacheKey);  // digits

}  // namespace

Error cache_usage(std::string message, std::vector<std::string> help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "cache", {"K0407", std::move(message), {}, std::move(help)});
}

Error unreadable_archive(const std::string& path, std::string reason) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "cache",
               {"K0408",
                "archive `" + path + "` cannot be read",
                {{"reason", std::move(reason)}},
                {"name a file that `kiln cache export` wrote"}});
}

Error unwritable_archive(const std::string& path, std::string reason) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "cache",
               {"K0408",
                "archive `" + path + "` cannot be written",
                {{"reason", std::move(reason)}},
                {"name a file on a disk with room, in a folder that may be written to"}});
}

Error nothing_kept(std::string reason) {
  return Error(ZE_RESULT_ERROR_NOT_AVAILABLE, "cache",
               {"K0712",
                "the kernel cache keeps nothing: " + std::move(reason),
                {},
                {"`kiln cache stats` tells more; docs/cache.md lists what the cache is not used for"}});
}

Result<CacheOptions> chosen_options(const CacheCommand& command) {
  auto chosen = cache_options();
  if (!chosen) return chosen;
  CacheOptions options = *std::move(chosen);
  std::error_code error;
  if (!command.folder.empty()) options.folder = std::filesystem::absolute(command.folder, error);
  if (options.folder.empty()) {
    auto folder = cache::default_folder();
    if (!folder) return tl::unexpected(std::move(folder).error());
    options.folder = *std::move(folder);
  }
  return options;
}

Result<std::optional<cache::Folder>> existing_folder(const CacheOptions& options, cache::Access access) {
  // First without making it: whoever only looks leaves nothing behind.
  auto folder = cache::open_folder(options.folder, cache::Access::read);
  if (!folder && folder.error().code() == ZE_RESULT_ERROR_NOT_AVAILABLE) return std::nullopt;
  if (folder)
    if (auto writable = cache::open_folder(options.folder, cache::Access::write);
        writable || access == cache::Access::write)
      folder = std::move(writable);
  if (!folder) return tl::unexpected(std::move(folder).error());
  return std::optional(*std::move(folder));
}

EntrySummary summarize(const cache::Folder& folder, const cache::StoredEntry& stored, bool with_log) {
  EntrySummary summary;
  summary.stored = stored;
  auto checked = cache::read_checked(folder, stored.key);
  if (!checked) {
    summary.gone = checked.error().kind == cache::ReadFailure::Kind::absent;
    summary.unreadable = checked.error().kind == cache::ReadFailure::Kind::unreadable;
    summary.damage = checked.error().reason;
    return summary;
  }
  const cache::Entry& entry = checked->file.entry;
  summary.kind = entry.kind;
  summary.code = entry.code;
  summary.attempts = entry.attempts;
  const auto latest = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31).time_since_epoch();
  summary.created = std::chrono::sys_seconds(std::min<std::chrono::seconds>(
      std::chrono::seconds(static_cast<std::int64_t>(entry.created & INT64_MAX)), latest));
  summary.payload = entry.payload.size();
  summary.manifest = std::move(checked->manifest);
  if (auto facts = cache::decode_facts(entry.facts)) summary.facts = *std::move(facts);
  if (with_log) summary.log = entry.log;
  return summary;
}

Result<Summaries> summarize_all(const cache::Folder& folder) {
  auto contents = cache::list_contents(folder);
  if (!contents) return tl::unexpected(std::move(contents).error());
  std::vector<cache::StoredEntry>& entries = contents->entries;
  std::ranges::sort(entries, [](const cache::StoredEntry& left, const cache::StoredEntry& right) {
    return std::pair(right.last_used, left.key) < std::pair(left.last_used, right.key);
  });
  Summaries all{std::vector<EntrySummary>(entries.size()), contents->unusable.size()};
  in_parallel(entries.size(), "reading entries",
              [&](std::size_t i) { all.entries[i] = summarize(folder, entries[i]); });
  std::erase_if(all.entries, [](const EntrySummary& each) { return each.gone; });
  return all;
}

bool may_be_key(const std::string& text) {
  return !text.empty() && text.size() <= kLongestKey &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

Result<cache::StoredEntry> find_entry(const cache::Folder& folder, const std::string& digits) {
  auto entries = cache::list_entries(folder);
  if (!entries) return tl::unexpected(std::move(entries).error());
  std::vector<cache::StoredEntry> found;
  for (const cache::StoredEntry& entry : *entries)
    if (entry.key.hex().starts_with(digits)) found.push_back(entry);
  if (found.size() == 1) return found.front();
  if (found.empty())
    return tl::unexpected(cache_usage("no entry has a key that begins with `" + digits + "`",
                                      {"`kiln cache list` names them"}));
  return tl::unexpected(
      cache_usage(std::to_string(found.size()) + " entries have keys that begin with `" + digits + "`",
                  {"give more digits; `kiln cache list` names them"}));
}

const char* kind_text(cache::EntryKind kind) {
  switch (kind) {
    case cache::EntryKind::binary:
      return "binary";
    case cache::EntryKind::failure:
      return "failure";
    case cache::EntryKind::crash:
      return "crash";
  }
  return "?";
}

std::string short_key(const CacheKey& key) { return key.hex().substr(0, kShortKey); }

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

int fail(const CacheCommand& command, const Error& error) {
  complain("%s", error.text().c_str());
  if (command.json) print({{"error", to_json(error)}});
  return exit_code(error);
}

}  // namespace kiln::tool
