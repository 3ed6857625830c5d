// SPDX-License-Identifier: MIT
// `kiln cache verify`: what the library found wrong with a folder.
#include "tool/cache/entries.hpp"
#include "tool/common/output.hpp"
#include "tool/common/parallel.hpp"

namespace kiln::tool {

int cache_verify(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto check = verify_cache(*options, command.remove, shown_work("checking entries"));
  if (!check) return fail(command, check.error());
  constexpr const char* kKinds[] = {"damaged", "unreadable", "unusable"};
  Json lists[] = {Json::array(), Json::array(), Json::array()};
  const auto list_of = [&](CacheFault fault) -> Json& { return lists[static_cast<std::size_t>(fault)]; };
  for (const CacheFinding& finding : check->findings) {
    Json json{{finding.key ? "key" : "name", finding.name}};
    if (finding.key) json["size"] = finding.size;
    json[finding.fault == CacheFault::damaged ? "damage" : "reason"] = finding.reason;
    json["removed"] = finding.removed;
    if (!finding.kept.empty()) json["kept"] = finding.kept;
    list_of(finding.fault).push_back(std::move(json));
    if (!command.json)
      say("%s  %s: %s%s%s\n", finding.name.c_str(), kKinds[static_cast<std::size_t>(finding.fault)],
          finding.reason.c_str(),
          finding.removed        ? "; removed"
          : finding.kept.empty() ? ""
                                 : "; NOT REMOVED: ",
          finding.kept.c_str());
  }
  if (command.json)
    print({{"folder", check->folder.string()},
           {"entries", check->entries},
           {"damaged", list_of(CacheFault::damaged)},
           {"unreadable", list_of(CacheFault::unreadable)},
           {"unusable", list_of(CacheFault::unusable)}});
  else
    say("%zu entries read, %zu damaged, %zu unreadable, %zu unusable\n",
        static_cast<std::size_t>(check->entries), list_of(CacheFault::damaged).size(),
        list_of(CacheFault::unreadable).size(), list_of(CacheFault::unusable).size());
  return check->findings.empty() ? kOk : kWrongAnswer;
}

}  // namespace kiln::tool
