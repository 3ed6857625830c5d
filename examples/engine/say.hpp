// SPDX-License-Identifier: MIT
// Lines for whoever watches: on standard error, where they do not disturb the results.
#pragma once

#include <string>
#include <string_view>

namespace engine {

/// A line, as printf().
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);

/// The text as JSON has it, in quotes.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace engine
