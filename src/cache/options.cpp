// SPDX-License-Identifier: MIT
// Settings of the cache from the environment.
#include "cache/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdlib>

#include "cache/remote/url.hpp"
#include "kiln/cache.hpp"
#include "support/digits.hpp"

namespace kiln {
namespace {

Error bad_setting(const char* name, std::string_view value, std::string help) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "cache_options",
               {"K0701",
                "`" + std::string(value) + "` is nothing that " + name + " can be",
                {{"variable", name}},
                {std::move(help)}});
}

std::optional<CacheMode> parse_mode(std::string_view text) {
  if (text == "off") return CacheMode::off;
  if (text == "read") return CacheMode::read;
  if (text == "on") return CacheMode::on;
  return std::nullopt;
}

std::optional<double> parse_share(std::string_view text) {
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc{} || end != text.data() + text.size() || !(share >= 0 && share <= 1))
    return std::nullopt;
  return share;
}

/// `%h` becomes the name of this machine, so that those that share a file system have a folder each.
std::string with_host_name(std::string path) {
  constexpr std::string_view kHost = "%h";
  std::array<char, HOST_NAME_MAX + 1> name{};
  for (auto at = path.find(kHost); at != path.npos; at = path.find(kHost, at)) {
    if (gethostname(name.data(), name.size() - 1) != 0) return path;
    const std::string_view host(name.data());
    path.replace(at, kHost.size(), host);
    at += host.size();
  }
  return path;
}

}  // namespace

namespace cache {

std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::string_view kUnits = "KMG";
  const auto unit = text.empty() ? kUnits.npos : kUnits.find(text.back());
  const unsigned shift = unit == kUnits.npos ? 0 : 10 * (static_cast<unsigned>(unit) + 1);
  if (shift) text.remove_suffix(1);
  const auto number = detail::parse_digits(text);
  if (!number || *number > UINT64_MAX >> shift) return std::nullopt;
  return *number << shift;
}

}  // namespace cache

Result<CacheOptions> cache_options(CacheOptions defaults) {
  // Not for a process with more rights than its user: secure_getenv gives it none of these.
  const auto variable = [](const char* name) -> std::string {
    const char* value = secure_getenv(name);
    return value ? value : "";
  };
  if (const std::string text = variable("KILN_CACHE"); !text.empty()) {
    const auto mode = parse_mode(text);
    if (!mode) return tl::unexpected(bad_setting("KILN_CACHE", text, "use off, read or on"));
    defaults.mode = *mode;
  }
  if (const std::string text = variable("KILN_CACHE_DIR"); !text.empty())
    defaults.folder = with_host_name(text);
  for (const auto& [name, member] : {std::pair("KILN_CACHE_MAX_SIZE", &CacheOptions::max_size),
                                     std::pair("KILN_CACHE_KEEP_INPUTS", &CacheOptions::keep_inputs)})
    if (const std::string text = variable(name); !text.empty()) {
      const auto size = cache::parse_size(text);
      if (!size)
        return tl::unexpected(bad_setting(name, text, "give bytes, or a number with K, M or G behind"));
      defaults.*member = *size;
    }
  if (const std::string text = variable("KILN_CACHE_VERIFY"); !text.empty()) {
    const auto share = parse_share(text);
    if (!share)
      return tl::unexpected(bad_setting("KILN_CACHE_VERIFY", text, "give a share of the hits from 0 to 1"));
    defaults.verify = *share;
  }
  if (const std::string text = variable("KILN_CACHE_READ_ONLY"); !text.empty()) {
    defaults.read_only.clear();
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t end = std::min(text.find(':', start), text.size());
      if (end > start) defaults.read_only.emplace_back(text.substr(start, end - start));
      start = end + 1;
    }
  }
  if (const std::string text = variable("KILN_CACHE_REMOTE"); !text.empty()) {
    defaults.remote = cache::split_remotes(text);
    for (const std::string& each : defaults.remote)
      if (const auto store = cache::parse_remote(each); !store)  // not shown: it may have a password
        return tl::unexpected(
            bad_setting("KILN_CACHE_REMOTE", "…", "a store is not understood: " + store.error()));
  }
  if (const std::string text = variable("KILN_CACHE_REMOTE_WAIT"); !text.empty()) {
    constexpr std::uint64_t kLongest = 600'000;
    const auto wait = detail::parse_digits(text);
    if (!wait || *wait == 0 || *wait > kLongest)
      return tl::unexpected(bad_setting("KILN_CACHE_REMOTE_WAIT", text, "give milliseconds, 1 to 600000"));
    defaults.remote_wait = std::chrono::milliseconds(*wait);
  }
  if (std::string text = variable("KILN_CACHE_TRUST"); !text.empty()) defaults.trust_file = std::move(text);
  if (std::string text = variable("KILN_CACHE_SIGNING_KEY"); !text.empty())
    defaults.signing_key = std::move(text);
  return defaults;
}

}  // namespace kiln
