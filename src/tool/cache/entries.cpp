// SPDX-License-Identifier: MIT
// What the commands of `kiln cache` share: the folder that is meant, entries by their first digits, errors.
#include "tool/cache/entries.hpp"

#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

constexpr std::size_t kShortKey = 12, kLongestKey = 2 * sizeof(CacheKey);  // digits

}  // namespace

Error cache_usage(std::string message, std::vector<std::string> help) {
  return offline::no_such(std::move(message), std::move(help));
}

Result<CacheOptions> chosen_options(const CacheCommand& command) {
  KILN_TRY(auto options, cache_options());
  std::error_code error;
  if (!command.folder.empty()) options.folder = std::filesystem::absolute(command.folder, error);
  return offline::with_folder(std::move(options));
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

std::string short_key(const CacheKey& key) { return key.hex().substr(0, kShortKey); }

int fail(const CacheCommand& command, const Error& error) {
  complain("%s", error.text().c_str());
  if (command.json) print({{"error", to_json(error)}});
  return exit_code(error);
}

}  // namespace kiln::tool
