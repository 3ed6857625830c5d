// SPDX-License-Identifier: MIT
// Finds products, and for a word that is none the nearest that is.
#include "offline/targets.hpp"

#include <algorithm>

#include "support/nearest.hpp"

namespace kiln::offline {
namespace {

Error unknown_target(const std::string& name, std::vector<std::string> help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "check",
               {"K0404", "`" + name + "` is no target that is known here", {}, std::move(help)});
}

}  // namespace

Result<std::vector<const Target*>> parse_targets(const std::vector<std::string>& names) {
  std::vector<const Target*> found;
  for (const std::string& name : names) {
    const auto several = find_targets(name);
    if (several.empty()) {
      std::string known;
      std::vector<std::string_view> all;
      for (const Target& each : targets()) {
        known += (known.empty() ? "" : ", ") + std::string(each.name);
        all.push_back(each.name);
        for (const std::string_view alias : target_aliases(each)) all.push_back(alias);
      }
      auto help = detail::did_you_mean(name, all);
      help.push_back("known: " + known + "; `kiln check --target help` lists aliases and families");
      return tl::unexpected(unknown_target(name, std::move(help)));
    }
    for (const Target& target : several)
      if (std::ranges::find(found, &target) == found.end()) found.push_back(&target);
  }
  return found;
}

}  // namespace kiln::offline
