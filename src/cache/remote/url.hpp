// SPDX-License-Identifier: MIT
// One store of several machines, as KILN_CACHE_REMOTE names it: an URL with options behind commas.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/result.hpp"

namespace kiln::cache {

struct RemoteUrl {
  std::string scheme;          ///< redis, rediss, http or https
  std::string user, password;  ///< of the URL; never shown
  std::string host;            ///< without the brackets of IPv6
  std::uint16_t port = 0;      ///< never 0
  std::string path;            ///< from its slash on, without one at the end: "/kiln"; of Redis the database
  bool read_only = false, accepts_unsigned = false;
  std::string credentials;  ///< a file
  std::string prefix;       ///< of Redis keys
  std::uint64_t ttl = 0;    ///< seconds that Redis keeps an entry; 0: until it needs the room
  std::string s3_region;    ///< of HTTP; not empty: questions are signed as S3 wants them

  [[nodiscard]] bool is_redis() const { return scheme.starts_with("redis"); }
  [[nodiscard]] bool is_encrypted() const { return scheme.ends_with("s") && scheme != "redis"; }
  /// What may be shown: "redis://host:6379/0".
  [[nodiscard]] std::string name() const;
};

/// The error says what is wrong, without what may be secret. Pure.
[[nodiscard]] tl::expected<RemoteUrl, std::string> parse_remote(std::string_view text);

/// The words of KILN_CACHE_REMOTE, with spaces between them. Pure.
[[nodiscard]] std::vector<std::string> split_remotes(std::string_view text);

}  // namespace kiln::cache
