// SPDX-License-Identifier: MIT
// `kiln cache export` and `import`: entries in one file.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include "cli/cache_archive.hpp"
#include "cli/cache_entries.hpp"
#include "cli/whole_file.hpp"
#include "diagnose/printable.hpp"

namespace kiln::cli {
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

/// What the two commands did, as text and as JSON.
int report(const CacheCommand& command, const char* verb, std::size_t done,
           std::optional<std::size_t> there_already, const std::vector<Refused>& refused) {
  ordered_json list = ordered_json::array();
  for (const auto& [name, why] : refused) {
    list.push_back({{"name", name}, {"reason", why}});
    if (!command.json) std::printf("%s  refused: %s\n", detail::printable(name).c_str(), why.c_str());
  }
  ordered_json answer{{"archive", command.archive}, {verb, done}};
  std::string text = std::to_string(done) + " entries " + verb;
  if (there_already) {
    answer["there_already"] = *there_already;
    text += ", " + std::to_string(*there_already) + " there already";
  }
  answer["refused"] = std::move(list);
  if (command.json)
    print(answer);
  else
    std::printf("%s, %zu refused\n", text.c_str(), refused.size());
  return refused.empty() ? kOk : kWrongAnswer;
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

  WholeFile archive(command.archive);
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
  return report(command, "exported", written, {}, refused);
}

int cache_import(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto file = read_kernel_file(command.archive);
  if (!file) {
    std::string reason = "there is no such file";
    if (const Diagnostic* why = file.error().diagnostic(); why && !why->rows.empty())
      reason = why->rows[0].text;
    return fail(command, unreadable_archive(command.archive, std::move(reason)));
  }
  const auto members = read_archive(file->bytes);
  if (!members) return fail(command, unreadable_archive(command.archive, members.error().message));
  const auto folder = cache::open_folder(options->folder, cache::Access::write);
  if (!folder) return fail(command, folder.error());
  std::size_t imported = 0, there_already = 0;
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
    const bool absent = !present && present.error().kind == cache::ReadFailure::Kind::absent;
    if (const auto stored = cache::publish(*folder, checked->key, member.content, !absent); !stored)
      return fail(command, stored.error());
    ++imported;
  }
  return report(command, "imported", imported, there_already, refused);
}

}  // namespace kiln::cli
