// SPDX-License-Identifier: MIT
// Files that drivers and compilers read unasked, and the driver's cache.
#include <algorithm>

#include "doctor/judgement.hpp"

namespace kiln::doctor {
namespace {

constexpr std::uint32_t kFirstWithHomeCache = 26918;  // 23.30; 22.43 uses l0_cache in the current folder
constexpr std::uint64_t kDefaultCache = 1 << 30;      // bytes

std::vector<DiagnosticRow> rows(const Settings& settings) {
  std::vector<DiagnosticRow> list;
  for (const auto& [key, value] : settings.keys)
    list.push_back({printable(key), value.empty() ? "set" : printable(value)});
  add_hidden(list, settings.hidden);
  if (settings.foreign) list.push_back({"owner", "neither this user nor root"});
  return list;
}

void judge_cache(const Facts& facts, Findings& findings) {
  if (facts.caches.size() != 2) return;
  const Start* intel = intel_driver(facts);
  if (!intel || intel->path.empty()) return;
  const bool old = intel->build && *intel->build < kFirstWithHomeCache;
  const Folder& folder = facts.caches[old ? 0 : 1];
  if (const std::string* persistent = variable(facts, "NEO_CACHE_PERSISTENT");
      persistent && *persistent == "0" && !old)
    return findings.ok("files", "the driver's cache is off: NEO_CACHE_PERSISTENT=0");
  if (folder.path.empty())
    return findings.ok("files", "the driver has no cache: neither HOME nor NEO_CACHE_DIR is set");
  const std::string path = printable(folder.path);
  if (!folder.exists) {
    const bool chosen =
        variable(facts, "NEO_CACHE_DIR") && !variable(facts, "NEO_CACHE_DIR")->empty() && !old;
    if (!chosen)
      return findings.ok("files", "the driver's cache is empty: " + path + " is not there" +
                                      (old ? "; this release does not make it" : ""));
  }
  const char* wrong = !folder.exists      ? "is not there"
                      : !folder.is_folder ? "is no folder"
                      : !folder.writable  ? "is not writable"
                      : folder.foreign    ? "belongs to somebody else"
                                          : nullptr;
  if (wrong)
    return findings.add(
        "files", {"K0617",
                  "the driver's cache `" + path + "` " + wrong,
                  {{"owner", folder.exists ? folder.owner : "none"}},
                  {"make the folder, or set NEO_CACHE_DIR to one of your own; without a cache each start "
                   "compiles SPIR-V anew"},
                  Severity::warning});
  const std::string* most = variable(facts, "NEO_CACHE_MAX_SIZE");
  findings.ok("files",
              "the driver's cache: " + path + ", " + std::to_string(folder.files) + " files, " +
                  std::to_string(folder.bytes >> 10) + " KiB of " +
                  (most && !old ? printable(*most) + " B" : std::to_string(kDefaultCache >> 10) + " KiB"));
}

}  // namespace

void judge_files(const Facts& facts, Findings& findings) {
  if (!debug_keys(facts).enabled)
    for (const Settings& file : facts.driver_settings)
      findings.add("files",
                   {"K0614",
                    "`" + printable(file.path) + "`: Intel's driver reads it in place of the environment",
                    rows(file),
                    {"remove it, unless it is meant; debug keys in it count once NEOReadDebugKeys=1 is set"},
                    Severity::warning});
  if (facts.compiler_settings) {
    auto evidence = rows(*facts.compiler_settings);
    findings.add("files", {"K0615",
                           "`" + printable(facts.compiler_settings->path) +
                               "`: Intel's compiler obeys it in every process, for every user",
                           std::move(evidence),
                           {"remove it, unless it is meant: it changes what kernels are compiled to"},
                           facts.compiler_settings->foreign ? Severity::error : Severity::warning});
  }
  if (!facts.ocloc_files.empty()) {
    std::vector<DiagnosticRow> list;
    for (std::size_t i = 0; i < std::min<std::size_t>(facts.ocloc_files.size(), 5); ++i)
      list.push_back({"file", printable(facts.ocloc_files[i])});
    list.push_back({"in all", "", facts.ocloc_files.size(), ""});
    findings.add(
        "files",
        {"K0616",
         "ocloc takes options from files beside its input, without a word",
         std::move(list),
         {"NAME_options.txt, NAME_internal_options.txt and NAME_ocloc_options.txt count for NAME: remove "
          "those that are not meant"},
         Severity::warning});
  }
  judge_cache(facts, findings);
}

}  // namespace kiln::doctor
