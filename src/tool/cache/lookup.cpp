// SPDX-License-Identifier: MIT
// Looks an entry up as the store does, and says why it is not used.
#include "tool/cache/lookup.hpp"

#include "cache/remembered.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

void look_into(const cache::Folder& folder, const CacheKey& key, std::chrono::seconds remember_failures,
               Lookup& lookup) {
  const std::string fault = cache::why_unusable(folder, key);
  const auto file = fault.empty()
                        ? cache::read_checked(folder, key)
                        : tl::unexpected(cache::ReadFailure{cache::ReadFailure::Kind::damaged, fault});
  if (!file) {
    using Kind = cache::ReadFailure::Kind;
    if (file.error().kind == Kind::absent) return;
    const bool damaged = file.error().kind == Kind::damaged;
    lookup.damage = file.error().reason;
    lookup.missed = (damaged ? "damaged: " : "unreadable: ") + file.error().reason;
    return;
  }
  const std::string again = cache::why_again(file->file.entry, now(), remember_failures);
  if (!again.empty()) {
    lookup.missed = again + ": it would be compiled again";
    return;
  }
  lookup.hit = summarize(folder, {key, file->file.bytes.size(), now()}, false);
  lookup.folder = folder.path().string();
}

}  // namespace

Lookup look_up(const CacheOptions& options, const CacheQuestion& question) {
  Lookup lookup;
  for (const std::filesystem::path& each : options.read_only) {
    const auto [path, access] = cache::read_only_folder(each);
    auto folder = cache::open_folder(path, access);
    if (folder)
      lookup.folders.push_back(*std::move(folder));
    else
      complain("%s", folder.error().text().c_str());
  }
  auto user = existing_folder(options, cache::Access::read);
  if (user && *user) lookup.folders.push_back(**std::move(user));
  const CacheKey key = key_of(encode(question.manifest));
  for (const cache::Folder& folder : lookup.folders) {
    look_into(folder, key, options.remember_failures, lookup);
    if (!lookup.hit) continue;
    lookup.missed.clear();
    lookup.damage.clear();
    return lookup;
  }
  lookup.absent = lookup.missed.empty();
  if (lookup.absent) lookup.missed = "no entry has that key";
  if (!user) {
    lookup.unusable = std::move(user).error();
    if (lookup.absent) lookup.missed = lookup.unusable->diagnostic()->message;
  }
  return lookup;
}

}  // namespace kiln::tool
