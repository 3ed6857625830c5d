// SPDX-License-Identifier: MIT
// `kiln cache export` and `import`: entries in one file.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "support/printable.hpp"
#include "tool/cache/entries.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

/// Keys by their first digits.
Result<std::vector<CacheKey>> chosen_keys(const CacheOptions& options,
                                          const std::vector<std::string>& digits) {
  std::vector<CacheKey> keys;
  if (digits.empty()) return keys;
  KILN_TRY(const auto folder, existing_folder(options, cache::Access::read));
  if (!folder) return tl::unexpected(cache_usage("there is no cache yet", {}));
  for (const std::string& each : digits) {
    KILN_TRY(const auto entry, find_entry(*folder, each));
    keys.push_back(entry.key);
  }
  return keys;
}

/// Whether a path, such as /dev/stdout, is what standard output leads to.
bool is_stdout(const std::string& path) {
  struct stat file {
  }, output{};
  return stat(path.c_str(), &file) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
         file.st_dev == output.st_dev && file.st_ino == output.st_ino;
}

/// What the two commands did, as text and as JSON.
int report(const CacheCommand& command, std::FILE* out, const char* verb, std::size_t done,
           const CacheImport* imported, const std::vector<RefusedEntry>& refused) {
  Json list = Json::array();
  for (const auto& [name, why] : refused) {
    list.push_back({{"name", name}, {"reason", why}});
    if (!command.json) say_to(out, "%s  refused: %s\n", detail::printable(name).c_str(), why.c_str());
  }
  Json answer{{"archive", command.archive}, {verb, done}};
  std::string text = std::to_string(done) + " entries " + verb;
  if (imported) {
    answer["there_already"] = imported->there_already;
    answer["pruned"] = imported->pruned;
    answer["imported_pruned"] = imported->imported_pruned;
    text += ", " + std::to_string(imported->there_already) + " there already";
    if (imported->pruned)
      text += ", " + std::to_string(imported->pruned) + " pruned for the size (" +
              std::to_string(imported->imported_pruned) + " of the archive)";
  }
  answer["refused"] = std::move(list);
  if (command.json)
    print(answer, out);
  else
    say_to(out, "%s, %zu refused\n", text.c_str(), refused.size());
  return refused.empty() && (!imported || !imported->imported_pruned) ? kOk : kWrongAnswer;
}

}  // namespace

int cache_export(const CacheCommand& command) {
  if (command.oci) return cache_export_oci(command);
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto keys = chosen_keys(*options, command.keys);
  if (!keys) return fail(command, keys.error());
  // Of an archive that goes to standard output nothing else may be a part.
  std::FILE* const report_to = is_stdout(command.archive) ? stderr : stdout;
  const auto done = export_cache(command.archive, *options, *keys);
  if (!done) return fail(command, done.error());
  return report(command, report_to, "exported", done->exported, nullptr, done->refused);
}

int cache_import(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const auto done = import_cache(command.archive, *options, {}, command.only_signed);
  if (!done) return fail(command, done.error());
  return report(command, stdout, "imported", done->imported, &*done, done->refused);
}

}  // namespace kiln::tool
