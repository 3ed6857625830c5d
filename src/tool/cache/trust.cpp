// SPDX-License-Identifier: MIT
// `kiln cache keygen`, `trust` and `sign`: keys, whose signatures count, and signatures of what a folder has.
#include "cache/remote/trust.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "cache/entry_file.hpp"
#include "store/signing.hpp"
#include "support/printable.hpp"
#include "support/whole_file.hpp"
#include "tool/cache/entries.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

/// Never over a file that is there: that may be the only copy of a key.
Result<void> write_new(const std::string& path, const std::string& text) {
  const detail::Descriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const auto size = static_cast<ssize_t>(text.size());
  if (file && write(file.get(), text.data(), text.size()) == size && fsync(file.get()) == 0) return {};
  return tl::unexpected(trust_error("`" + path + "` cannot be written: " + detail::error_text(errno),
                                    {"name a file that is not there yet"}));
}

std::filesystem::path trust_file(const CacheOptions& options) {
  return options.trust_file.empty() ? cache::default_trust_file() : options.trust_file;
}

Result<std::vector<cache::TrustLine>> read_list(const std::filesystem::path& path) {
  auto lines = cache::read_trust_file(path);
  if (!lines) return tl::unexpected(trust_error("whom to trust cannot be read: " + lines.error()));
  return *std::move(lines);
}

Result<void> write_list(const std::filesystem::path& path, const std::vector<cache::TrustLine>& lines) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  detail::WholeFile file(path.string(), detail::WholeFile::Readers::owner);
  for (const cache::TrustLine& line : lines) file.write(to_string(line) + '\n');
  if (const int error = file.finish())
    return tl::unexpected(
        trust_error("`" + path.string() + "` cannot be written: " + detail::error_text(error)));
  return {};
}

int print_lists(const CacheCommand& command, const std::filesystem::path& user) {
  Json lists = Json::array();
  for (const std::filesystem::path& path : {std::filesystem::path(cache::kMachineTrustFile), user}) {
    const auto lines = read_list(path);
    if (!lines) return fail(command, lines.error());
    Json texts = Json::array();
    for (const cache::TrustLine& line : *lines) texts.push_back(to_string(line));
    if (!command.json) {
      say("%s%s\n", detail::printable(path.string()).c_str(), lines->empty() ? ": nobody" : "");
      for (const cache::TrustLine& line : *lines) say("  %s\n", detail::printable(to_string(line)).c_str());
    }
    lists.push_back({{"file", path.string()}, {"lines", std::move(texts)}});
  }
  if (command.json) print({{"lists", std::move(lists)}});
  return kOk;
}

/// The line that the command's words ask for.
Result<cache::TrustLine> wanted_line(const CacheCommand& command) {
  cache::TrustLine line;
  const auto key = cache::parse_key(command.trust_key);
  if (!key)
    return tl::unexpected(cache_usage("`" + command.trust_key + "` is no key",
                                      {"a key has 64 hexadecimal digits: `kiln cache keygen` prints it"}));
  line.key = *key;
  line.name = command.trust_name;
  const bool named = line.name.find_first_of("\r\n") == line.name.npos;
  if (!named) return tl::unexpected(cache_usage("a name is one line", {}));
  line.revokes = command.trust_action == "revoke";
  for (const auto& [text, date] :
       {std::pair(&command.before, &line.before), std::pair(&command.since, &line.since)}) {
    if (text->empty()) continue;
    *date = cache::parse_date(*text);
    if (!line.revokes || !*date)
      return tl::unexpected(cache_usage("`" + *text + "` is no date of a revocation",
                                        {"write 2026-11-24 or 2026-11-24T12:30:00Z, with `revoke` alone"}));
  }
  if (line.before && line.since)
    return tl::unexpected(cache_usage("--before and --since are two revocations", {}));
  return line;
}

}  // namespace

Error trust_error(std::string message, std::vector<std::string> help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "cache", {"K0713", std::move(message), {}, std::move(help)});
}

int cache_keygen(const CacheCommand& command) {
  const auto key = store::SigningKey::make();
  if (!key) return fail(command, trust_error(key.error()));
  if (const auto written = write_new(command.archive, key->pem()); !written)
    return fail(command, written.error());
  const std::string name = cache::to_string(key->public_key());
  if (command.json)
    print({{"file", command.archive}, {"public_key", name}});
  else
    say("%s\n", name.c_str());
  return kOk;
}

int cache_trust(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const std::filesystem::path path = trust_file(*options);
  if (path.empty())
    return fail(command,
                trust_error("this user has no folder for settings", {"name a file by KILN_CACHE_TRUST"}));
  if (command.trust_action == "list") return print_lists(command, path);
  const auto line = wanted_line(command);
  if (!line) return fail(command, line.error());
  auto lines = read_list(path);
  if (!lines) return fail(command, lines.error());
  const bool adds = command.trust_action != "remove";
  const auto same = [&](const cache::TrustLine& each) {
    return each.key == line->key && (!adds || (each.revokes == line->revokes && each.before == line->before &&
                                               each.since == line->since));
  };
  const auto gone = std::erase_if(*lines, same);
  if (!adds && gone == 0)
    return fail(command, cache_usage("no line of `" + path.string() + "` has that key", {}));
  if (adds) lines->push_back(*line);
  if (const auto written = write_list(path, *lines); !written) return fail(command, written.error());
  return print_lists(command, path);
}

int cache_sign(const CacheCommand& command) {
  const auto options = chosen_options(command);
  if (!options) return fail(command, options.error());
  const std::filesystem::path path =
      command.archive.empty() ? options->signing_key : std::filesystem::path(command.archive);
  const auto key = store::SigningKey::read(path);
  if (!key)
    return fail(command, trust_error("there is no key to sign with: " + key.error(),
                                     {"`kiln cache keygen FILE` makes one"}));
  const auto folder = existing_folder(*options, cache::Access::write);
  if (!folder) return fail(command, folder.error());
  std::uint64_t made = 0, there = 0;
  Json refused = Json::array();
  if (*folder) {
    const auto entries = cache::list_entries(**folder);
    if (!entries) return fail(command, entries.error());
    for (const cache::StoredEntry& stored : *entries) {
      const auto checked = cache::read_checked(**folder, stored.key);
      std::string why = checked ? "" : checked.error().reason;
      if (checked && checked->file.entry.kind != cache::EntryKind::binary) continue;
      const auto sealed =
          checked ? cache::decode_sealed(checked->file.bytes) : tl::unexpected(BinaryError{why, 0});
      if (sealed && sealed->seal && sealed->seal->signer == key->public_key() &&
          cache::is_signed(*sealed->seal, stored.key, sealed->bytes)) {
        ++there;
        continue;
      }
      if (sealed) {
        const auto seal = key->sign(sealed->bytes, now());
        std::vector<std::byte> bytes(sealed->bytes.begin(), sealed->bytes.end());
        if (seal) {
          const auto encoded = cache::encode_seal(*seal);
          bytes.insert(bytes.end(), encoded.begin(), encoded.end());
        } else {
          why = seal.error();
        }
        if (const auto written = seal ? cache::publish(**folder, stored.key, bytes, true) : Result<void>();
            !written)
          return fail(command, written.error());
        made += seal ? 1 : 0;
      }
      if (!why.empty()) {
        refused.push_back({{"key", stored.key.hex()}, {"reason", why}});
        if (!command.json) say("%s  not signed: %s\n", stored.key.hex().c_str(), why.c_str());
      }
    }
  }
  const bool all = refused.empty();
  if (command.json)
    print({{"folder", options->folder.string()},
           {"signed", made},
           {"signed_before", there},
           {"refused", std::move(refused)}});
  else
    say("%llu entries signed, %llu were\n", static_cast<unsigned long long>(made),
        static_cast<unsigned long long>(there));
  return all ? kOk : kWrongAnswer;
}

}  // namespace kiln::tool
