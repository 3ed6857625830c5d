// SPDX-License-Identifier: MIT
// Entries in one file, out of a folder and into another.
#include <algorithm>
#include <cstring>

#include "cache/key_lock.hpp"
#include "cache/remote/trust.hpp"
#include "kiln/bundle.hpp"
#include "offline/cache/archive.hpp"
#include "offline/cache/entries.hpp"
#include "offline/parallel.hpp"
#include "support/whole_file.hpp"

namespace kiln {
namespace offline {
namespace {

/// For another process that prunes, and may have counted before the import. Behind one that hangs this one
/// prunes all the same: two at a time only do some of the work twice.
constexpr std::chrono::seconds kLongestWait{10};

/// As after any other store: above the cap the longest unused go.
Result<void> prune_after(const cache::Folder& folder, const CacheOptions& options,
                         const std::vector<CacheKey>& imported, CacheImport& result) {
  const auto locks = cache::KeyLocks::open(folder);
  const auto turn = locks.lock_pruning(kLongestWait);
  KILN_TRY(const auto pruned,
           cache::shrink(folder, {options.max_size, options.max_size - options.max_size / 5, {}}, now()));
  result.pruned = pruned.removed;
  for (const CacheKey& key : imported) {
    const auto file = cache::read_entry_file(folder, key);
    if (!file && file.error().kind == cache::ReadFailure::Kind::absent) ++result.imported_pruned;
  }
  return {};
}

/// Revoked is revoked, also where nobody asks for signatures.
std::string why_not_signed(const ImportedEntry& entry, cache::TrustFiles& trust, bool only_signed) {
  if (!entry.seal) return only_signed ? "it is not signed" : "";
  if (!only_signed) return trust.why_revoked(*entry.seal);
  if (std::string why = trust.why_not_trusted(*entry.seal, now()); !why.empty()) return why;
  return cache::is_signed(*entry.seal, entry.key, entry.bytes) ? "" : "its signature is wrong";
}

/// Sorted, each once.
Result<std::vector<CacheKey>> keys_of(const std::optional<cache::Folder>& folder,
                                      std::span<const CacheKey> chosen) {
  std::vector<CacheKey> keys(chosen.begin(), chosen.end());
  if (!folder && !keys.empty()) return tl::unexpected(no_such("there is no cache yet", {}));
  if (folder && keys.empty()) {
    KILN_TRY(const auto entries, cache::list_entries(*folder));
    for (const cache::StoredEntry& entry : entries) keys.push_back(entry.key);
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

/// What goes into the archive; nothing: the entry is left out.
std::optional<cache::FileBytes> exportable(const cache::Folder& folder, const CacheKey& key, bool chosen,
                                           std::vector<RefusedEntry>& refused) {
  auto file = cache::read_entry_file(folder, key);
  if (!file) {
    if (chosen || file.error().kind != cache::ReadFailure::Kind::absent)
      refused.push_back({key.hex(), file.error().reason.empty() ? "there is none" : file.error().reason});
    return std::nullopt;
  }
  // Failures are remembered for a while and for this machine: nothing to hand on.
  if (file->entry.kind != cache::EntryKind::binary && !chosen) return std::nullopt;
  if (const auto checked = check_member({key.hex(), file->bytes}); !checked) {
    refused.push_back({key.hex(), checked.error()});
    return std::nullopt;
  }
  return *std::move(file);
}

}  // namespace
}  // namespace offline

Result<CacheExport> export_cache(const std::filesystem::path& path, const CacheOptions& options,
                                 std::span<const CacheKey> chosen_keys, const LongWork& work) {
  KILN_TRY(const auto chosen, offline::with_folder(options));
  KILN_TRY(const auto folder, offline::existing_folder(chosen, cache::Access::read));
  KILN_TRY(const auto keys, offline::keys_of(folder, chosen_keys));
  // Entries name variables and libraries of this machine.
  detail::WholeFile archive(path.string(), detail::WholeFile::Readers::owner);
  archive.write(offline::archive_start(keys));
  CacheExport result;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (work.progress) work.progress(i, keys.size());
    if (work.stop.stop_requested()) return tl::unexpected(offline::stopped("export_cache", "the export"));
    const auto file = offline::exportable(*folder, keys[i], !chosen_keys.empty(), result.refused);
    if (!file) continue;
    archive.write(offline::archive_member_start(i, file->bytes.size()));
    archive.write(file->bytes);
    if (file->bytes.size() % 2) archive.write("\n");
    ++result.exported;
  }
  if (work.progress && !keys.empty()) work.progress(keys.size(), keys.size());
  if (const int error = archive.finish())
    return tl::unexpected(offline::unwritable_archive(path.string(), std::strerror(error)));
  return result;
}

Result<CacheImport> import_cache(const std::filesystem::path& path, const CacheOptions& options,
                                 const LongWork& work, bool only_signed) {
  using offline::unreadable_archive;
  KILN_TRY(const auto chosen, offline::with_folder(options));
  if (chosen.mode != CacheMode::on)
    return tl::unexpected(offline::nothing_kept(
        chosen.mode == CacheMode::off ? "it is off (KILN_CACHE)" : "it is only read (KILN_CACHE)"));
  const auto file = read_kernel_file(path);
  if (!file) {
    std::string reason = "there is no such file";
    if (const Diagnostic* why = file.error().diagnostic(); why && !why->rows.empty())
      reason = why->rows[0].text;
    return tl::unexpected(unreadable_archive(path.string(), std::move(reason)));
  }
  const auto members = read_archive(file->bytes);
  if (!members) return tl::unexpected(unreadable_archive(path.string(), members.error().message));
  if (!offline::is_exported(file->bytes))
    return tl::unexpected(unreadable_archive(path.string(), "it is an archive of something else"));
  KILN_TRY(const auto folder, cache::open_folder(chosen.folder, cache::Access::write));
  CacheImport result{chosen.folder};
  std::vector<CacheKey> imported;
  cache::TrustFiles trust(chosen.trust_file);
  for (std::size_t i = 0; i < members->size(); ++i) {
    if (work.progress) work.progress(i, members->size());
    if (work.stop.stop_requested()) return tl::unexpected(offline::stopped("import_cache", "the import"));
    const ArchiveMember& member = (*members)[i];
    const auto checked = offline::check_member(member);
    if (!checked) {
      result.refused.push_back({std::string(member.name), checked.error()});
      continue;
    }
    if (std::string why = offline::why_not_signed(*checked, trust, only_signed); !why.empty()) {
      result.refused.push_back({std::string(member.name), std::move(why)});
      continue;
    }
    const auto present = cache::read_entry_file(folder, checked->key);
    // A failure that is remembered here, or a damaged entry, gives way to a binary.
    if (present && present->entry.kind == cache::EntryKind::binary) {
      ++result.there_already;
      continue;
    }
    if (member.content.size() > chosen.max_size) {
      result.refused.push_back(
          {std::string(member.name), "it is larger than the cache may be (KILN_CACHE_MAX_SIZE)"});
      continue;
    }
    const bool absent = !present && present.error().kind == cache::ReadFailure::Kind::absent;
    KILN_TRY(cache::publish(folder, checked->key, member.content, !absent));
    imported.push_back(checked->key);
  }
  if (work.progress && !members->empty()) work.progress(members->size(), members->size());
  result.imported = imported.size();
  if (!imported.empty()) KILN_TRY(offline::prune_after(folder, chosen, imported, result));
  return result;
}

}  // namespace kiln
