// SPDX-License-Identifier: MIT
// Entries of a cache folder, read and listed.
#include "offline/cache/entries.hpp"

#include <algorithm>

#include "cache/format/facts.hpp"
#include "offline/parallel.hpp"

namespace kiln::offline {
namespace {

CacheEntryKind kind_of(cache::EntryKind kind) {
  switch (kind) {
    case cache::EntryKind::failure:
      return CacheEntryKind::failure;
    case cache::EntryKind::crash:
      return CacheEntryKind::crash;
    case cache::EntryKind::binary:
      break;
  }
  return CacheEntryKind::binary;
}

Error archive_error(std::string message, std::string reason, const char* help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "cache",
               {"K0408", std::move(message), {{"reason", std::move(reason)}}, {help}});
}

}  // namespace

Error no_such(std::string message, std::vector<std::string> help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "cache", {"K0407", std::move(message), {}, std::move(help)});
}

Error unreadable_archive(const std::string& path, std::string reason) {
  return archive_error("archive `" + path + "` cannot be read", std::move(reason),
                       "name a file that `kiln cache export` wrote");
}

Error unwritable_archive(const std::string& path, std::string reason) {
  return archive_error("archive `" + path + "` cannot be written", std::move(reason),
                       "name a file on a disk with room, in a folder that may be written to");
}

Error nothing_kept(std::string reason) {
  return Error(ZE_RESULT_ERROR_NOT_AVAILABLE, "cache",
               {"K0712",
                "the kernel cache keeps nothing: " + std::move(reason),
                {},
                {"`kiln cache stats` tells more; docs/cache.md lists what the cache is not used for"}});
}

Result<CacheOptions> with_folder(CacheOptions options) {
  if (options.folder.empty()) {
    KILN_TRY(auto folder, cache::default_folder());
    options.folder = std::move(folder);
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

CacheEntry summarize(const cache::Folder& folder, const cache::StoredEntry& stored, bool with_log,
                     bool* gone) {
  CacheEntry summary;
  summary.key = stored.key;
  summary.size = stored.size;
  summary.last_used = stored.last_used;
  auto checked = cache::read_checked(folder, stored.key);
  if (!checked) {
    if (gone) *gone = checked.error().kind == cache::ReadFailure::Kind::absent;
    summary.unreadable = checked.error().kind == cache::ReadFailure::Kind::unreadable;
    summary.damage = checked.error().reason;
    return summary;
  }
  const cache::Entry& entry = checked->file.entry;
  summary.kind = kind_of(entry.kind);
  summary.code = static_cast<ze_result_t>(entry.code);
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

std::vector<UnusablePlace> places(const std::vector<cache::Unusable>& found) {
  std::vector<UnusablePlace> all;
  for (const auto& [name, why, removed] : found) all.push_back({name, why, removed});
  return all;
}

Result<CacheList> summarize_all(const cache::Folder& folder, const LongWork& work) {
  KILN_TRY(auto contents, cache::list_contents(folder));
  std::vector<cache::StoredEntry>& entries = contents.entries;
  std::ranges::sort(entries, [](const cache::StoredEntry& left, const cache::StoredEntry& right) {
    return std::pair(right.last_used, left.key) < std::pair(left.last_used, right.key);
  });
  struct Read {
    CacheEntry entry;
    bool gone = false;
  };
  std::vector<Read> read(entries.size());
  in_parallel(entries.size(), 0, work,
              [&](std::size_t i) { read[i].entry = summarize(folder, entries[i], false, &read[i].gone); });
  if (work.stop.stop_requested()) return tl::unexpected(stopped("list_cache", "reading the cache"));
  CacheList all{folder.path(), true, {}, places(contents.unusable)};
  for (Read& each : read)
    if (!each.gone) all.entries.push_back(std::move(each.entry));
  return all;
}

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace kiln::offline

namespace kiln {

const char* to_string(CacheEntryKind kind) {
  switch (kind) {
    case CacheEntryKind::binary:
      return "binary";
    case CacheEntryKind::failure:
      return "failure";
    case CacheEntryKind::crash:
      return "crash";
  }
  return "?";
}

Result<CacheList> list_cache(const CacheOptions& options, const LongWork& work) {
  KILN_TRY(const auto chosen, offline::with_folder(options));
  KILN_TRY(const auto folder, offline::existing_folder(chosen, cache::Access::read));
  if (!folder) return CacheList{chosen.folder, false, {}, {}};
  KILN_TRY(auto all, offline::summarize_all(*folder, work));
  all.folder = chosen.folder;
  return all;
}

Result<CacheSize> cache_size(const CacheOptions& options) {
  KILN_TRY(const auto chosen, offline::with_folder(options));
  KILN_TRY(const auto folder, offline::existing_folder(chosen, cache::Access::read));
  CacheSize size{chosen.folder};
  if (!folder) return size;
  KILN_TRY(const auto entries, cache::list_entries(*folder));
  size.exists = true;
  size.entries = entries.size();
  for (const cache::StoredEntry& each : entries) size.bytes += each.size;
  size.set_aside = cache::count_damaged(*folder);
  return size;
}

Result<CacheEntry> read_cache_entry(const CacheKey& key, const CacheOptions& options) {
  KILN_TRY(const auto chosen, offline::with_folder(options));
  KILN_TRY(const auto folder, offline::existing_folder(chosen, cache::Access::read));
  if (folder) {
    KILN_TRY(const auto entries, cache::list_entries(*folder));
    const auto found = std::ranges::find(entries, key, &cache::StoredEntry::key);
    bool gone = found == entries.end();
    if (!gone)
      if (CacheEntry entry = offline::summarize(*folder, *found, true, &gone); !gone) return entry;
  }
  return tl::unexpected(offline::no_such("no entry has the key " + key.hex(),
                                         {"`kiln cache list` names those that there are"}));
}

}  // namespace kiln
