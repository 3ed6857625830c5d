// SPDX-License-Identifier: MIT
// Lists, checks and publishes entries of a folder.
#include "cache/maintenance.hpp"

#include <cerrno>

#include "cache/usage.hpp"

namespace kiln::cache {

Result<std::vector<StoredEntry>> list_entries(const Folder& folder) {
  std::vector<StoredEntry> entries;
  const auto look_into = [&](const char* name) {
    const std::string digits = name;
    if (digits.size() != 2) return;
    const auto inside = folder.subfolder(name, false);
    if (!inside) return;
    each_name(inside->get(), [&](const char* rest) {
      const auto key = CacheKey::parse(digits + rest);
      struct stat status {};
      if (!key || fstatat(inside->get(), rest, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
      if (!S_ISREG(status.st_mode) || !folder.trusts(status)) return;
      entries.push_back({*key, static_cast<std::uint64_t>(status.st_size),
                         std::chrono::sys_seconds(std::chrono::seconds(status.st_mtime))});
    });
  };
  if (!each_name(folder.descriptor(), look_into))
    return tl::unexpected(failed_operation(folder, "list entries", errno));
  return entries;
}

std::uint64_t count_damaged(const Folder& folder) {
  std::uint64_t count = 0;
  if (const auto damaged = folder.subfolder("damaged", false))
    each_name(damaged->get(), [&](const char*) { ++count; });
  return count;
}

Result<std::uint64_t> verify(const Folder& folder,
                             const std::function<bool(const StoredEntry&, const std::string& damage)>& each) {
  const auto entries = list_entries(folder);
  if (!entries) return tl::unexpected(entries.error());
  std::uint64_t damaged = 0;
  for (const StoredEntry& stored : *entries) {
    std::string damage;
    if (const auto file = read_entry_file(folder, stored.key); !file) {
      if (file.error().kind == ReadFailure::Kind::absent) continue;  // removed meanwhile
      damage = file.error().reason;
    } else if (const auto manifest = decode_manifest(file->entry.manifest); !manifest) {
      damage = manifest.error().message;
    } else if (key_of(file->entry.manifest) != stored.key) {
      damage = "it is the entry of another key";
    }
    damaged += damage.empty() ? 0 : 1;
    if (!each(stored, damage)) break;
  }
  return damaged;
}

Result<void> remove(const Folder& folder, const CacheKey& key) {
  if (unlinkat(folder.descriptor(), EntryName(key).path(), 0) != 0 && errno != ENOENT)
    return tl::unexpected(failed_operation(folder, "remove an entry", errno));
  return {};
}

Result<void> publish(const Folder& folder, const CacheKey& key, std::span<const std::byte> encoded,
                     bool replace) {
  const int error = publish_bytes(folder, key, encoded, replace);
  if (error != 0 && error != EEXIST) return tl::unexpected(failed_operation(folder, "store an entry", error));
  if (error == 0) add_usage(folder, encoded.size());
  return {};
}

}  // namespace kiln::cache
