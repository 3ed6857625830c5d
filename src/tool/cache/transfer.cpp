// SPDX-License-Identifier: MIT
// `kiln cache push` and `pull`: entries into stores of several machines, and out of them.
#include <fstream>
#include <iostream>

#include "support/printable.hpp"
#include "tool/cache/fleet.hpp"
#include "tool/common/output.hpp"
#include "tool/common/progress.hpp"

namespace kiln::tool {
namespace {

struct Totals {
  std::uint64_t done = 0, there = 0, left_out = 0;
  Json refused = Json::array();

  void refuse(const CacheCommand& command, const std::string& store, const CacheKey& key,
              const std::string& why) {
    refused.push_back({{"store", store}, {"key", key.hex()}, {"reason", why}});
    clear_progress();
    if (!command.json)
      say("%s  %s: %s\n", short_key(key).c_str(), store.c_str(), detail::printable(why).c_str());
  }
  int report(const CacheCommand& command, const char* verb) {
    const bool all = refused.empty();
    if (command.json)
      print({{verb, done},
             {"there_already", there},
             {"other_products", left_out},
             {"refused", std::move(refused)}});
    else
      say("%llu entries %s, %llu there already, %llu of other products, %zu refused\n",
          static_cast<unsigned long long>(done), verb, static_cast<unsigned long long>(there),
          static_cast<unsigned long long>(left_out), refused.size());
    return all ? kOk : kWrongAnswer;
  }
};

/// Keys in a file or on standard input, one a line.
Result<std::vector<CacheKey>> keys_in(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path);
  std::istream& from = path == "-" ? std::cin : file;
  if (!from) return tl::unexpected(cache_usage("`" + path + "` cannot be read", {}));
  std::vector<CacheKey> keys;
  for (std::string line; std::getline(from, line);) {
    if (line.empty()) continue;
    const auto key = CacheKey::parse(line);
    if (!key)
      return tl::unexpected(
          cache_usage("`" + detail::printable(line) + "` is no key", {"give 64 digits a line"}));
    keys.push_back(*key);
  }
  return keys;
}

/// All that a store says it has; what is none of a key's form is left out.
tl::expected<std::vector<CacheKey>, std::string> keys_of(Fleet& fleet, std::size_t store) {
  const auto reply = fleet.ask(cache::StoreVerb::list, store);
  if (!reply) return tl::unexpected(reply.error() + "; give the keys that are wanted by --keys");
  std::vector<CacheKey> keys;
  const std::string& text = reply->answer.reason;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (const auto key = CacheKey::parse(std::string_view(text).substr(start, end - start)))
      keys.push_back(*key);
    start = end + 1;
  }
  return keys;
}

}  // namespace

int cache_push(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  Fleet fleet(*options);
  if (fleet.stores().empty()) return fail(command, no_store());
  const auto folder = existing_folder(*options, cache::Access::read);
  if (!folder) return fail(command, folder.error());
  Totals totals;
  if (!*folder) return totals.report(command, "pushed");
  const auto entries = cache::list_entries(**folder);
  if (!entries) return fail(command, entries.error());
  Progress progress(entries->size());
  for (const cache::StoredEntry& stored : *entries) {
    progress.next(short_key(stored.key).c_str());
    const auto checked = cache::read_checked(**folder, stored.key);
    if (!checked) {
      totals.refuse(command, options->folder.string(), stored.key, checked.error().reason);
      continue;
    }
    if (checked->file.entry.kind != cache::EntryKind::binary) continue;
    if (!is_for(checked->manifest, command.products)) {
      ++totals.left_out;
      continue;
    }
    for (std::size_t store = 0; store < fleet.stores().size(); ++store) {
      if (fleet.stores()[store].read_only) continue;
      const std::string name = fleet.stores()[store].name();
      if (!command.replace && fleet.get(store, stored.key).file) {
        ++totals.there;
        continue;
      }
      // What is there and would not be used gives way.
      const auto put = fleet.ask(cache::StoreVerb::put_one, store, stored.key, checked->file.bytes, true);
      if (put)
        ++totals.done;
      else
        totals.refuse(command, name, stored.key, put.error());
    }
  }
  return totals.report(command, "pushed");
}

int cache_pull(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  if (options->mode != CacheMode::on)
    return fail(command,
                offline::nothing_kept(options->mode == CacheMode::off ? "it is off (KILN_CACHE)"
                                                                      : "it is only read (KILN_CACHE)"));
  Fleet fleet(*options);
  if (fleet.stores().empty()) return fail(command, no_store());
  const auto folder = cache::open_folder(options->folder, cache::Access::write);
  if (!folder) return fail(command, folder.error());
  std::vector<CacheKey> wanted;
  if (!command.archive.empty()) {
    auto keys = keys_in(command.archive);
    if (!keys) return fail(command, keys.error());
    wanted = *std::move(keys);
  }
  Totals totals;
  for (std::size_t store = 0; store < fleet.stores().size(); ++store) {
    const std::string name = fleet.stores()[store].name();
    auto keys = command.archive.empty() ? keys_of(fleet, store) : wanted;
    if (!keys) {
      totals.refuse(command, name, {}, keys.error());
      continue;
    }
    Progress progress(keys->size());
    for (const CacheKey& key : *keys) {
      progress.next(short_key(key).c_str());
      if (cache::read_entry_file(*folder, key)) {
        ++totals.there;
        continue;
      }
      const Fleet::Held held = fleet.get(store, key);
      if (!held.file) {
        if (!held.absent) totals.refuse(command, name, key, held.why);
        continue;
      }
      const auto manifest = decode_manifest(held.file->entry.manifest);
      if (!manifest || !is_for(*manifest, command.products)) {
        ++totals.left_out;
        continue;
      }
      if (const auto kept = cache::publish(*folder, key, held.file->bytes, true); !kept)
        return fail(command, kept.error());
      ++totals.done;
    }
  }
  if (totals.done) (void)prune_cache(*options);
  return totals.report(command, "pulled");
}

}  // namespace kiln::tool
