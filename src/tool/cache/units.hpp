// SPDX-License-Identifier: MIT
// Sizes and ages as users write and read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln::tool {

/// "30d", "12h", "90m" or "45s". Nothing when it is none, or more than 100,000 days. Pure.
[[nodiscard]] std::optional<std::chrono::seconds> parse_age(std::string_view text);

/// "16.2 KiB". Pure.
[[nodiscard]] std::string size_text(std::uint64_t bytes);

/// "3 h ago", in the largest unit of which there is one; "now" below a second. Pure.
[[nodiscard]] std::string age_text(std::chrono::seconds age);

/// "2026-11-21 13:20:00 UTC". Pure.
[[nodiscard]] std::string date_text(std::chrono::sys_seconds time);

}  // namespace kiln::tool
