// SPDX-License-Identifier: MIT
// `kiln cache export` and `import`: entries in one file.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include "cache/key_lock.hpp"
#include "support/printable.hpp"
#include "support/whole_file.hpp"
#include "tool/cache/archive.hpp"
#include "tool/cache/entries.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

Result<std::vector<cache::StoredEntry>> chosen_entries(const cache::Folder& folder,
                                                       const std::vector<std::string>& keys) {
  if (keys.empty()) return cache::list_entries(folder);
  std::vector<cache::StoredEntry> entries;
  for (const std::string& key : keys) {
    auto entry = find_entry(folder, key);
    if (!entry) return tl::unexpected(std::move(entry).error());
    entries.push_back(*entry);
  }
  return entries;
}

struct Refused {
  std::string name, why;
};

/// What an import found there, and what had to go.
struct Imported {
  std::size_t there_already = 0, pruned = 0, imported_pruned = 0;
};

/// Whether a path, such as /dev/stdout, is what standard output leads to.
bool is_stdout(const std::string& path) {
  struct stat file {
  }, output{};
  return stat(path.c_str(), &file) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
         file.st_dev == output.st_dev && file.st_ino == output.st_ino;
}

/// What the two commands did, as text and as JSON.
int report(const CacheCommand& command, std::FILE* out, const char* verb, std::size_t done,
           const std::optional<Imported>& imported, const std::vector<Refused>& refused) {
  Json list = Json::array();
  for (const auto& [name, why] : refused) {
    list.push_back({{"name", name}, {"reason", why}});
    if (!command.json) say_to(out, "%s  refused: %s\n", detail::printable(name).c_str(), why.c_str());
  }
  Json answer{{"archive", command.archive}, {verb, done}};
  std::string text = std::to_string(done) + " entries " + verb;
  if (imported) {
    answer["there_already"] = imported->there_already;
    answer["pruned"] = imported->pruned;
    answer["imported_pruned"] = imported->imported_pruned;
    text += ", " + std::to_string(imported->there_already) + " there already";
    if (imported->pruned)
      text += ", " + std::to_string(imported->pruned) + " pruned for the size (" +
              std::to_string(imported->imported_pruned) + " of the archive)";
  }
  answer["refused"] = std::move(list);
  if (command.json)
    print(answer, out);
  else
    say_to(out, "%s, %zu refused\n", text.c_str(), refused.size());
  return refused.empty() && (!imported || !imported->imported_pruned) ? kOk : kWrongAnswer;
}

/// For another process that prunes, and may have counted before the import. Behind one that hangs this one
/// prunes all the same: two at a time only do some of the work twice.
constexpr std::chrono::seconds kLongestWait{10};

/// As after any other store: above the cap the longest unused go.
Result<Imported> prune_after(const cache::Folder& folder, const CacheOptions& options,
                             const std::vector<CacheKey>& imported) {
  const auto locks = cache::KeyLocks::open(folder);
  const auto turn = locks.lock_pruning(kLongestWait);
  const auto pruned =
      cache::shrink(folder, {options.max_size, options.max_size - options.max_size / 5, {}}, now());
  if (!pruned) return tl::unexpected(pruned.error());
  Imported result{0, pruned->removed, 0};
  for (const CacheKey& key : imported) {
    const auto file = cache::read_entry_file(folder, key);
    if (!file && file.error().kind == cache::ReadFailure::Kind::absent) ++result.imported_pruned;
  }
  return result;
}

}  // namespace

int cache_export(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto folder = existing_folder(*options, cache::Access::read);
  if (!folder) return fail(command, folder.error());
  std::vector<cache::StoredEntry> chosen;
  if (*folder) {
    auto entries = chosen_entries(**folder, command.keys);
    if (!entries) return fail(command, entries.error());
    chosen = *std::move(entries);
  } else if (!command.keys.empty()) {
    return fail(command, cache_usage("there is no cache yet", {}));
  }
  std::ranges::sort(chosen, {}, &cache::StoredEntry::key);
  const auto [first, last] = std::ranges::unique(chosen, {}, &cache::StoredEntry::key);
  chosen.erase(first, last);
  std::vector<CacheKey> keys;
  for (const cache::StoredEntry& entry : chosen) keys.push_back(entry.key);

  // Of an archive that goes to standard output nothing else may be a part.
  std::FILE* const report_to = is_stdout(command.archive) ? stderr : stdout;
  // Entries name variables and libraries of this machine.
  detail::WholeFile archive(command.archive, detail::WholeFile::Readers::owner);
  archive.write(archive_start(keys));
  std::size_t written = 0;
  std::vector<Refused> refused;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto file = cache::read_entry_file(**folder, keys[i]);
    if (!file) {
      if (file.error().kind != cache::ReadFailure::Kind::absent)
        refused.push_back({keys[i].hex(), file.error().reason});
      continue;
    }
    // Failures are remembered for a while and for this machine: nothing to hand on.
    if (file->entry.kind != cache::EntryKind::binary && command.keys.empty()) continue;
    if (const auto checked = check_member({keys[i].hex(), file->bytes}); !checked) {
      refused.push_back({keys[i].hex(), checked.error()});
      continue;
    }
    archive.write(archive_member_start(i, file->bytes.size()));
    archive.write(file->bytes);
    if (file->bytes.size() % 2) archive.write("\n");
    ++written;
  }
  if (const int error = archive.finish())
    return fail(command, unwritable_archive(command.archive, std::strerror(error)));
  return report(command, report_to, "exported", written, {}, refused);
}

int cache_import(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  if (options->mode != CacheMode::on)
    return fail(command, nothing_kept(options->mode == CacheMode::off ? "it is off (KILN_CACHE)"
                                                                      : "it is only read (KILN_CACHE)"));
  const auto file = read_kernel_file(command.archive);
  if (!file) {
    std::string reason = "there is no such file";
    if (const Diagnostic* why = file.error().diagnostic(); why && !why->rows.empty())
      reason = why->rows[0].text;
    return fail(command, unreadable_archive(command.archive, std::move(reason)));
  }
  const auto members = read_archive(file->bytes);
  if (!members) return fail(command, unreadable_archive(command.archive, members.error().message));
  if (!is_exported(file->bytes))
    return fail(command, unreadable_archive(command.archive, "it is an archive of something else"));
  const auto folder = cache::open_folder(options->folder, cache::Access::write);
  if (!folder) return fail(command, folder.error());
  std::vector<CacheKey> imported;
  std::size_t there_already = 0;
  std::vector<Refused> refused;
  for (const ArchiveMember& member : *members) {
    const auto checked = check_member(member);
    if (!checked) {
      refused.push_back({member.name, checked.error()});
      continue;
    }
    const auto present = cache::read_entry_file(*folder, checked->key);
    // A failure that is remembered here, or a damaged entry, gives way to a binary.
    if (present && present->entry.kind == cache::EntryKind::binary) {
      ++there_already;
      continue;
    }
    if (member.content.size() > options->max_size) {
      refused.push_back({member.name, "it is larger than the cache may be (KILN_CACHE_MAX_SIZE)"});
      continue;
    }
    const bool absent = !present && present.error().kind == cache::ReadFailure::Kind::absent;
    if (const auto stored = cache::publish(*folder, checked->key, member.content, !absent); !stored)
      return fail(command, stored.error());
    imported.push_back(checked->key);
  }
  auto pruned = imported.empty() ? Result<Imported>(Imported{}) : prune_after(*folder, *options, imported);
  if (!pruned) return fail(command, pruned.error());
  pruned->there_already = there_already;
  return report(command, stdout, "imported", imported.size(), *pruned, refused);
}

}  // namespace kiln::tool
