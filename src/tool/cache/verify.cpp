// SPDX-License-Identifier: MIT
// `kiln cache verify`: reads every entry, and names what is none.
#include <algorithm>
#include <cerrno>

#include "support/printable.hpp"
#include "tool/cache/entries.hpp"
#include "tool/common/output.hpp"
#include "tool/common/progress.hpp"

namespace kiln::tool {
namespace {

/// What lies at the place of an entry and is of no use.
struct Finding {
  enum Kind { damaged, unreadable, unusable } kind = damaged;
  std::string name;  ///< of an entry its key, else the path below v1
  std::string why;
  std::optional<cache::StoredEntry> entry;
  bool removable = true;  ///< a disk that does not answer may do so tomorrow
};

Result<std::vector<Finding>> find_all(const cache::Folder& folder, std::size_t& count) {
  const auto contents = cache::list_contents(folder);
  if (!contents) return tl::unexpected(contents.error());
  std::vector<Finding> findings;
  for (const cache::Unusable& each : contents->unusable)
    findings.push_back({Finding::unusable, "v1/" + each.name, each.why, {}});
  Progress progress(contents->entries.size());
  const auto checked = cache::verify(
      folder, [&](const cache::StoredEntry& entry, const std::optional<cache::ReadFailure>& failure) {
        progress.next("entries checked");
        ++count;
        if (!failure) return true;
        const bool read = failure->kind == cache::ReadFailure::Kind::damaged;
        const bool removable = read || failure->error == EACCES || failure->error == EPERM;
        findings.push_back({read ? Finding::damaged : Finding::unreadable, entry.key.hex(), failure->reason,
                            entry, removable});
        return true;
      });
  if (!checked) return tl::unexpected(checked.error());
  std::ranges::sort(findings, {}, &Finding::name);
  return findings;
}

/// Empty: it is gone.
std::string remove(const cache::Folder& folder, const Finding& finding) {
  if (!finding.removable) return "kept, since the disk may answer later";
  if (!finding.entry) {
    const int error = cache::remove_unusable(folder, finding.name.substr(3));
    return error ? detail::error_text(error) : std::string();
  }
  const auto removed = cache::remove(folder, finding.entry->key);
  return removed ? std::string() : removed.error().diagnostic()->message;
}

}  // namespace

int cache_verify(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto folder = existing_folder(*options, command.remove ? cache::Access::write : cache::Access::read);
  if (!folder) return fail(command, folder.error());
  std::size_t count = 0;
  Result<std::vector<Finding>> findings;
  if (*folder) findings = find_all(**folder, count);
  if (!findings) return fail(command, findings.error());
  constexpr const char* kKinds[] = {"damaged", "unreadable", "unusable"};
  Json lists[] = {Json::array(), Json::array(), Json::array()};
  for (const Finding& finding : *findings) {
    const std::string kept = command.remove ? remove(**folder, finding) : "";
    const bool removed = command.remove && kept.empty();
    Json json{{finding.entry ? "key" : "name", finding.name}};
    if (finding.entry) json["size"] = finding.entry->size;
    json[finding.kind == Finding::damaged ? "damage" : "reason"] = finding.why;
    json["removed"] = removed;
    if (!kept.empty()) json["kept"] = kept;
    lists[finding.kind].push_back(std::move(json));
    if (!command.json)
      say("%s  %s: %s%s%s\n", finding.name.c_str(), kKinds[finding.kind], finding.why.c_str(),
          removed        ? "; removed"
          : kept.empty() ? ""
                         : "; NOT REMOVED: ",
          kept.c_str());
  }
  if (command.json)
    print({{"folder", options->folder.string()},
           {"entries", count},
           {"damaged", lists[Finding::damaged]},
           {"unreadable", lists[Finding::unreadable]},
           {"unusable", lists[Finding::unusable]}});
  else
    say("%zu entries read, %zu damaged, %zu unreadable, %zu unusable\n", count,
        lists[Finding::damaged].size(), lists[Finding::unreadable].size(), lists[Finding::unusable].size());
  return findings->empty() ? kOk : kWrongAnswer;
}

}  // namespace kiln::tool
