// SPDX-License-Identifier: MIT
// The version of `.ze_info`, such as 1.73.
#pragma once

#include <compare>
#include <optional>
#include <string_view>

#include "support/digits.hpp"

namespace kiln::detail {

struct InfoVersion {
  std::uint64_t major = 0, minor = 0;
  friend auto operator<=>(const InfoVersion&, const InfoVersion&) = default;
};

/// Nothing when it is none. Pure.
inline std::optional<InfoVersion> parse_info_version(std::string_view text) {
  const auto point = text.find('.');
  const auto major = parse_digits(text.substr(0, point));
  const auto minor = point == text.npos ? std::nullopt : parse_digits(text.substr(point + 1));
  if (!major || !minor) return std::nullopt;
  return InfoVersion{*major, *minor};
}

}  // namespace kiln::detail
