// SPDX-License-Identifier: MIT
// Reads the URL of a store.
#include "cache/remote/url.hpp"

#include <algorithm>

#include "support/digits.hpp"

namespace kiln::cache {
namespace {

tl::unexpected<std::string> wrong(std::string why) { return tl::unexpected(std::move(why)); }

/// "%2F" becomes a slash. Nothing: not two digits behind a percent sign.
std::optional<std::string> decoded(std::string_view text) {
  std::string result;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return std::nullopt;
    result += static_cast<char>(16 * digit(text[i + 1]) + digit(text[i + 2]));
    i += 2;
  }
  return result;
}

/// The part before `end`, which goes with it; all where there is none.
std::string_view take_to(std::string_view& text, std::string_view end) {
  const auto at = text.find(end);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + end.size());
  return part;
}

bool is_region(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == text.npos;
}

std::string take_option(RemoteUrl& url, std::string_view option) {
  const std::string_view name = take_to(option, "=");
  if (name == "read-only" && option.empty())
    url.read_only = true;
  else if (name == "unsigned" && option.empty())
    url.accepts_unsigned = true;
  else if (name == "credentials" && option.starts_with('/'))
    url.credentials = option;
  else if (name == "s3" && is_region(option) && !url.is_redis())
    url.s3_region = option;
  else if (name == "prefix" && !option.empty() && url.is_redis())
    url.prefix = option;
  else if (const auto seconds = detail::parse_digits(option);
           name == "ttl" && seconds && *seconds > 0 && *seconds < (1u << 31) && url.is_redis())
    url.ttl = *seconds;
  else
    return "its options are read-only, unsigned, credentials=/FILE, of Redis prefix=TEXT and ttl=SECONDS, of "
           "HTTP s3=REGION";
  return {};
}

std::string take_authority(RemoteUrl& url, std::string_view text) {
  if (const auto at = text.rfind('@'); at != text.npos) {
    std::string_view who = text.substr(0, at);
    text.remove_prefix(at + 1);
    const auto user = decoded(take_to(who, ":")), password = decoded(who);
    if (!user || !password) return "a `%` in its user or password is followed by no two digits";
    url.user = *user;
    url.password = *password;
  }
  if (text.starts_with('[')) {
    text.remove_prefix(1);
    if (text.find(']') == text.npos) return "its host has no end";
    url.host = take_to(text, "]");
    if (!text.empty() && !text.starts_with(':')) return "what follows its host is no port";
    if (text.starts_with(':')) text.remove_prefix(1);
  } else {
    url.host = take_to(text, ":");
  }
  if (url.host.empty() ||
      url.host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:") !=
          url.host.npos)
    return "it names no host";
  url.port = url.is_redis() ? 6379 : url.scheme == "https" ? 443 : 80;
  if (text.empty()) return {};
  const auto port = detail::parse_digits(text);
  if (!port || *port == 0 || *port > 65535) return "its port is none from 1 to 65535";
  url.port = static_cast<std::uint16_t>(*port);
  return {};
}

}  // namespace

std::string RemoteUrl::name() const {
  const bool v6 = host.find(':') != host.npos;
  return scheme + "://" + (v6 ? "[" : "") + host + (v6 ? "]" : "") + ':' + std::to_string(port) + path;
}

tl::expected<RemoteUrl, std::string> parse_remote(std::string_view text) {
  RemoteUrl url;
  const bool plain = std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
  if (!plain) return wrong("it has characters that no URL has");
  std::string_view options = text;
  std::string_view rest = take_to(options, ",");
  url.scheme = take_to(rest, "://");
  if (url.scheme != "redis" && url.scheme != "rediss" && url.scheme != "http" && url.scheme != "https")
    return wrong("it begins with none of redis://, rediss://, http:// and https://");
  const auto slash = std::min(rest.find('/'), rest.size());
  if (std::string why = take_authority(url, rest.substr(0, slash)); !why.empty())
    return wrong(std::move(why));
  url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  if (url.path.find_first_of("?#") != url.path.npos) return wrong("a path of a store has no `?` or `#`");
  // "http://me:12/34@host": what comes from a password would be shown as a path.
  if (url.path.find('@') != url.path.npos)
    return wrong("an `@` stands in its path: a `/` in a user or password is written %2F");
  if (url.is_redis()) {
    url.prefix = "kiln";
    const auto database = url.path.empty() ? 0 : detail::parse_digits(std::string_view(url.path).substr(1));
    if (!database || *database > 1'000'000)
      return wrong("the path of a Redis URL is the number of a database");
    url.path = "/" + std::to_string(*database);
  }
  while (!options.empty())
    if (std::string why = take_option(url, take_to(options, ",")); !why.empty()) return wrong(std::move(why));
  return url;
}

std::vector<std::string> split_remotes(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty())
    if (const std::string_view word = take_to(text, " "); !word.empty()) all.emplace_back(word);
  return all;
}

}  // namespace kiln::cache
