// SPDX-License-Identifier: MIT
// Lists, checks and publishes entries of a folder.
#include "cache/maintenance.hpp"

#include <cerrno>

#include "cache/disk/inputs.hpp"
#include "cache/usage.hpp"

namespace kiln::cache {

namespace {

std::string kind_of(mode_t mode) {
  return S_ISREG(mode)    ? "it is a file"
         : S_ISDIR(mode)  ? "it is a folder"
         : S_ISLNK(mode)  ? "it is a link"
         : S_ISFIFO(mode) ? "it is a FIFO"
                          : "it is a socket or a device";
}

/// Empty: usable.
std::string fault_of(const Folder& folder, const struct stat& status, mode_t wanted) {
  return (status.st_mode & S_IFMT) == wanted ? folder.distrusts(status) : kind_of(status.st_mode);
}

bool is_folder_name(const std::string& name) {
  const bool digits = name.size() == 2 && name.find_first_not_of("0123456789abcdef") == name.npos;
  return digits || name == "damaged" || name == "temporary" || name == kInputsFolder;
}

void look_into(const Folder& folder, const std::string& digits, Contents& contents) {
  const auto inside = folder.subfolder(digits.c_str(), false);
  if (!inside) {
    if (inside.error() != ENOENT) contents.unusable.push_back({digits, error_text(inside.error())});
    return;
  }
  each_name(inside->get(), [&](const char* rest) {
    const auto key = CacheKey::parse(digits + rest);
    struct stat status {};
    if (!key || fstatat(inside->get(), rest, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (std::string why = fault_of(folder, status, S_IFREG); !why.empty())
      contents.unusable.push_back({digits + "/" + rest, std::move(why)});
    else
      contents.entries.push_back({*key, static_cast<std::uint64_t>(status.st_size),
                                  std::chrono::sys_seconds(std::chrono::seconds(status.st_mtime))});
  });
}

}  // namespace

Result<Contents> list_contents(const Folder& folder) {
  Contents contents;
  const bool read = each_name(folder.descriptor(), [&](const char* name) {
    struct stat status {};
    if (!is_folder_name(name) || fstatat(folder.descriptor(), name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      return;
    if (std::string why = fault_of(folder, status, S_IFDIR); !why.empty())
      contents.unusable.push_back({name, std::move(why)});
    else if (std::string_view(name).size() == 2)
      look_into(folder, name, contents);
  });
  if (!read) return tl::unexpected(failed_operation(folder, "list entries", errno));
  return contents;
}

Result<std::vector<StoredEntry>> list_entries(const Folder& folder) {
  auto contents = list_contents(folder);
  if (!contents) return tl::unexpected(std::move(contents).error());
  return std::move(contents->entries);
}

std::string why_unusable(const Folder& folder, const CacheKey& key) {
  const EntryName name(key);
  struct stat status {};
  if (fstatat(folder.descriptor(), name.folder().c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (const std::string why = fault_of(folder, status, S_IFDIR); !why.empty())
    return "v1/" + name.folder() + ": " + why;
  if (fstatat(folder.descriptor(), name.path(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
  return fault_of(folder, status, S_IFREG);
}

std::uint64_t count_damaged(const Folder& folder) {
  std::uint64_t count = 0;
  if (const auto damaged = folder.subfolder("damaged", false))
    each_name(damaged->get(), [&](const char*) { ++count; });
  return count;
}

tl::expected<CheckedEntry, ReadFailure> read_checked(const Folder& folder, const CacheKey& key) {
  using Kind = ReadFailure::Kind;
  auto file = read_entry_file(folder, key);
  if (!file) return tl::unexpected(std::move(file).error());
  auto manifest = decode_manifest(file->entry.manifest);
  if (!manifest) return tl::unexpected(ReadFailure{Kind::damaged, manifest.error().message});
  if (key_of(file->entry.manifest) != key)
    return tl::unexpected(ReadFailure{Kind::damaged, "it is the entry of another key"});
  return CheckedEntry{*std::move(file), *std::move(manifest)};
}

Result<std::uint64_t> verify(
    const Folder& folder,
    const std::function<bool(const StoredEntry&, const std::optional<ReadFailure>&)>& each) {
  const auto entries = list_entries(folder);
  if (!entries) return tl::unexpected(entries.error());
  std::uint64_t faulty = 0;
  for (const StoredEntry& stored : *entries) {
    const auto checked = read_checked(folder, stored.key);
    const auto fault = checked ? std::nullopt : std::optional(checked.error());
    if (fault && fault->kind == ReadFailure::Kind::absent) continue;  // removed meanwhile
    faulty += fault ? 1 : 0;
    if (!each(stored, fault)) break;
  }
  return faulty;
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
