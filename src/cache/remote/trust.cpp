// SPDX-License-Identifier: MIT
// Reads lists of keys, and says which signatures count.
#include "cache/remote/trust.hpp"

#include <sys/auxv.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "support/descriptor.hpp"
#include "support/hex.hpp"

namespace kiln::cache {
namespace {

using namespace std::chrono;

constexpr std::size_t kLargestFile = 1 << 20;  // bytes

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r"));
  text.remove_prefix(word.size());
  return word;
}

/// Empty: the line says nothing.
tl::expected<std::optional<TrustLine>, std::string> parse_line(std::string_view text) {
  const std::string_view verb = take_word(text);
  if (verb.empty() || verb.starts_with('#')) return std::nullopt;
  TrustLine line;
  line.revokes = verb == "revoke";
  if (!line.revokes && verb != "trust")
    return tl::unexpected(std::string("it begins with neither `trust` nor `revoke`"));
  const auto key = parse_key(take_word(text));
  if (!key) return tl::unexpected(std::string("a key is 64 hexadecimal digits"));
  line.key = *key;
  std::string_view rest = text;
  const std::string_view when = take_word(rest);
  if (line.revokes && (when == "before" || when == "since")) {
    const auto date = parse_date(take_word(rest));
    if (!date) return tl::unexpected(std::string("a date is 2026-11-24 or 2026-11-24T12:30:00Z"));
    (when == "before" ? line.before : line.since) = date;
    text = rest;
  }
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text))
    line.name += (line.name.empty() ? "" : " ") + std::string(word);
  return line;
}

std::string date_text(sys_seconds time) {
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02ld:%02ld:%02ldZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<long>(clock.hours().count()), static_cast<long>(clock.minutes().count()),
                static_cast<long>(clock.seconds().count()));
  return text;
}

std::string owner_of(const Seal& seal) { return "key " + to_string(seal.signer).substr(0, 16) + "…"; }

}  // namespace

std::optional<sys_seconds> parse_date(std::string_view text) {
  int fields[6] = {};
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  if (text.size() != 10 && text.size() != kForm.size()) return std::nullopt;
  std::size_t field = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kForm[i] == '0') {
      if (text[i] < '0' || text[i] > '9') return std::nullopt;
      fields[field] = 10 * fields[field] + (text[i] - '0');
    } else {
      if (text[i] != kForm[i]) return std::nullopt;
      ++field;
    }
  }
  const year_month_day date{year(fields[0]), month(static_cast<unsigned>(fields[1])),
                            day(static_cast<unsigned>(fields[2]))};
  if (!date.ok() || fields[3] > 23 || fields[4] > 59 || fields[5] > 59) return std::nullopt;
  return sys_days(date) + hours(fields[3]) + minutes(fields[4]) + seconds(fields[5]);
}

std::optional<PublicKey> parse_key(std::string_view digits) {
  PublicKey key{};
  if (digits.size() != 2 * key.size()) return std::nullopt;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char* at = digits.data() + 2 * i;
    if (std::from_chars(at, at + 2, key[i], 16).ptr != at + 2) return std::nullopt;
  }
  return key;
}

std::string to_string(const PublicKey& key) { return hex(std::as_bytes(std::span(key))); }

std::string to_string(const TrustLine& line) {
  std::string text = (line.revokes ? "revoke " : "trust ") + to_string(line.key);
  if (line.before) text += " before " + date_text(*line.before);
  if (line.since) text += " since " + date_text(*line.since);
  return line.name.empty() ? text : text + ' ' + line.name;
}

tl::expected<std::vector<TrustLine>, std::string> parse_trust(std::string_view text) {
  std::vector<TrustLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    auto line = parse_line(text.substr(0, end));
    if (!line) return tl::unexpected("line " + std::to_string(number) + ": " + line.error());
    if (*line) lines.push_back(**std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string why_revoked(std::span<const TrustLine> lines, const Seal& seal) {
  for (const TrustLine& line : lines) {
    if (!line.revokes || line.key != seal.signer) continue;
    if (!line.before && !line.since) return "its signer is revoked, " + owner_of(seal);
    if (line.before && seal.time() < *line.before)
      return "what its signer signed before " + date_text(*line.before) + " is revoked, " + owner_of(seal);
    if (line.since && seal.time() >= *line.since)
      return "what its signer signed since " + date_text(*line.since) + " is revoked, " + owner_of(seal);
  }
  return {};
}

std::string why_not_trusted(std::span<const TrustLine> lines, const Seal& seal, sys_seconds now) {
  if (std::string why = why_revoked(lines, seal); !why.empty()) return why;
  const bool trusted = std::ranges::any_of(
      lines, [&](const TrustLine& line) { return !line.revokes && line.key == seal.signer; });
  if (!trusted) return "its signer is not trusted, " + owner_of(seal);
  if (seal.time() > now + hours(24)) return "it says that it was signed tomorrow or later";
  return {};
}

std::filesystem::path default_trust_file() {
  if (getauxval(AT_SECURE) != 0) return {};
  if (const char* settings = std::getenv("XDG_CONFIG_HOME"); settings && *settings == '/')
    return std::filesystem::path(settings) / "kiln" / "trusted-keys";
  const char* home = std::getenv("HOME");
  return home && *home == '/' ? std::filesystem::path(home) / ".config/kiln/trusted-keys"
                              : std::filesystem::path();
}

tl::expected<std::vector<TrustLine>, std::string> read_trust_file(const std::filesystem::path& path) {
  if (path.empty()) return {};
  const auto fault = [&](const std::string& why) { return tl::unexpected(path.string() + ": " + why); };
  const detail::Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return fault(detail::error_text(errno));
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return fault(detail::error_text(errno));
  if (!S_ISREG(status.st_mode)) return fault("it is no regular file");
  if (status.st_uid != geteuid() && status.st_uid != 0) return fault("it belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return fault("others may write to it");
  std::string text(std::min(static_cast<std::size_t>(status.st_size), kLargestFile + 1), '\0');
  std::size_t size = 0;
  for (ssize_t count = 1; count > 0 && size < text.size();) {
    count = read(file.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR)
      count = 1;
    else if (count < 0)
      return fault(detail::error_text(errno));
    else
      size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  if (size > kLargestFile) return fault("it is larger than 1 MiB");
  auto lines = parse_trust(text);
  if (!lines) return fault(lines.error());
  return lines;
}

TrustFiles::Version TrustFiles::version_of(const std::filesystem::path& path) {
  struct stat status {};
  if (path.empty() || stat(path.c_str(), &status) != 0) return {};
  return {status.st_ino, static_cast<std::uint64_t>(status.st_size), status.st_ctim.tv_sec,
          status.st_ctim.tv_nsec};
}

void TrustFiles::refresh() {
  if (!read_ && user_file_.empty()) user_file_ = default_trust_file();
  const Version user = version_of(user_file_), machine = version_of(kMachineTrustFile);
  if (std::exchange(read_, true) && user == user_ && machine == machine_) return;
  user_ = user;
  machine_ = machine;
  lines_.clear();
  fault_.clear();
  for (const std::filesystem::path& path : {std::filesystem::path(kMachineTrustFile), user_file_}) {
    auto lines = read_trust_file(path);
    if (lines)
      std::ranges::move(*lines, std::back_inserter(lines_));
    else
      fault_ = "whom to trust cannot be read: " + lines.error();
  }
}

std::string TrustFiles::why_not_trusted(const Seal& seal, sys_seconds now) {
  const std::lock_guard lock(mutex_);
  refresh();
  return fault_.empty() ? cache::why_not_trusted(lines_, seal, now) : fault_;
}

std::string TrustFiles::why_revoked(const Seal& seal) {
  const std::lock_guard lock(mutex_);
  refresh();
  return fault_.empty() ? cache::why_revoked(lines_, seal) : fault_;
}

}  // namespace kiln::cache
