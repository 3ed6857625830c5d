// SPDX-License-Identifier: MIT
// Sizes and ages as users write and read them.
#include "tool/cache/units.hpp"

#include <cstdio>
#include <ctime>

#include "support/digits.hpp"

namespace kiln::tool {
namespace {

constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour, kLongestAge = 100'000 * kDay;

}  // namespace

std::optional<std::chrono::seconds> parse_age(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t unit = 0;
  switch (text.back()) {
    case 'd':
      unit = kDay;
      break;
    case 'h':
      unit = kHour;
      break;
    case 'm':
      unit = kMinute;
      break;
    case 's':
      unit = 1;
      break;
    default:
      return std::nullopt;
  }
  const auto number = detail::parse_digits(text.substr(0, text.size() - 1));
  if (!number || *number > static_cast<std::uint64_t>(kLongestAge / unit)) return std::nullopt;
  return std::chrono::seconds(static_cast<std::int64_t>(*number) * unit);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", size, kUnits[unit]);
  return text;
}

std::string age_text(std::chrono::seconds age) {
  const std::int64_t seconds = age.count();
  if (seconds < 1) return "now";
  if (seconds < kMinute) return std::to_string(seconds) + " s ago";
  if (seconds < kHour) return std::to_string(seconds / kMinute) + " min ago";
  if (seconds < kDay) return std::to_string(seconds / kHour) + " h ago";
  return std::to_string(seconds / kDay) + " d ago";
}

std::string date_text(std::chrono::sys_seconds time) {
  const std::time_t seconds = time.time_since_epoch().count();
  std::tm parts{};
  char text[64];
  if (!gmtime_r(&seconds, &parts) || !std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts))
    return std::to_string(seconds) + " s since 1970";
  return text;
}

}  // namespace kiln::tool
