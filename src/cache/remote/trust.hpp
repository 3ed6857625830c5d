// SPDX-License-Identifier: MIT
// Whose signatures count: lists of keys that the user and the machine's operator keep.
#pragma once

#include <filesystem>
#include <mutex>
#include <vector>

#include "cache/format/seal.hpp"
#include "kiln/result.hpp"

namespace kiln::cache {

/// One line of a list: `trust KEY [NAME]` or `revoke KEY [before DATE | since DATE] [NAME]`.
struct TrustLine {
  PublicKey key{};
  bool revokes = false;
  std::optional<std::chrono::sys_seconds> before, since;  ///< of a revocation: what was signed then
  std::string name{};
};

/// "2026-11-24" or "2026-11-24T12:30:00Z". Pure.
[[nodiscard]] std::optional<std::chrono::sys_seconds> parse_date(std::string_view text);
/// 64 hexadecimal digits of either case. Pure.
[[nodiscard]] std::optional<PublicKey> parse_key(std::string_view digits);
[[nodiscard]] std::string to_string(const PublicKey& key);
/// As parse_trust() reads it. Pure.
[[nodiscard]] std::string to_string(const TrustLine& line);

/// A list; empty lines and those that begin with `#` say nothing. The error names the line. Pure.
[[nodiscard]] tl::expected<std::vector<TrustLine>, std::string> parse_trust(std::string_view text);

/// Why an entry of that seal does not count; empty: it does. A key must be trusted by one line and revoked by
/// none; a time that lies more than a day ahead is a lie. Pure.
[[nodiscard]] std::string why_not_trusted(std::span<const TrustLine> lines, const Seal& seal,
                                          std::chrono::sys_seconds now);
/// The same for what has been trusted once: revocations alone count. Pure.
[[nodiscard]] std::string why_revoked(std::span<const TrustLine> lines, const Seal& seal);

/// $XDG_CONFIG_HOME/kiln/trusted-keys, else ~/.config/kiln/trusted-keys; empty for a process with more rights
/// than its user, or without a home.
[[nodiscard]] std::filesystem::path default_trust_file();
inline constexpr const char* kMachineTrustFile = "/etc/kiln/trusted-keys";

/// Reads one list. A file that is not there is empty; one that is somebody else's, that others may write to,
/// or that cannot be read or understood is an error, in words.
[[nodiscard]] tl::expected<std::vector<TrustLine>, std::string> read_trust_file(
    const std::filesystem::path& path);

/// The machine's list and one of the user's, read when they are first asked for and again when they changed.
/// Where one of them is faulty, nobody is trusted. Thread-safe.
class TrustFiles {
 public:
  /// Empty: the user's default one.
  explicit TrustFiles(std::filesystem::path user_file) : user_file_(std::move(user_file)) {}

  [[nodiscard]] std::string why_not_trusted(const Seal& seal, std::chrono::sys_seconds now);
  [[nodiscard]] std::string why_revoked(const Seal& seal);

 private:
  /// When it was changed, and what it is.
  struct Version {
    std::uint64_t file = 0, size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };
  static Version version_of(const std::filesystem::path& path);
  void refresh();  // with the mutex

  std::mutex mutex_;
  std::filesystem::path user_file_;
  bool read_ = false;
  Version user_{}, machine_{};
  std::vector<TrustLine> lines_;
  std::string fault_;
};

}  // namespace kiln::cache
