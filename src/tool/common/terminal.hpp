// SPDX-License-Identifier: MIT
// Lines as a terminal shows them: in colours where they are wanted, and cut to its width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::tool {

enum class Paint : std::uint8_t { none, good, bad, warning, help };

enum class ColorChoice : std::uint8_t { automatic, always, never };

/// "auto", "always" or "never". Pure.
[[nodiscard]] std::optional<ColorChoice> parse_color(std::string_view text);

/// What `--color` says in a command line that may not be parsed yet, the last one counts. Pure.
[[nodiscard]] ColorChoice color_of(int argc, const char* const* argv);

/// The values of NO_COLOR and TERM, null where they are not set. Source: no-color.org. Pure.
[[nodiscard]] bool wants_color(ColorChoice choice, bool terminal, const char* no_color, const char* term);

/// For all that is printed from here on.
void choose_color(ColorChoice choice);
/// Is what goes there coloured?
[[nodiscard]] bool is_colored(std::FILE* to);

/// Columns of the terminal that this leads to; 0: it is none, or has no size.
[[nodiscard]] std::size_t terminal_width(std::FILE* to);

/// A part of a line that has a colour.
struct Span {
  std::size_t begin = 0, end = 0;  ///< bytes
  Paint paint = Paint::none;
};

/// One line without its end.
struct Line {
  std::string text{};
  std::vector<Span> spans{};
};

/// The spans of a diagnostic's severity, and of `help:`, which come by themselves. Pure.
[[nodiscard]] std::vector<Span> severities(std::string_view line);

/// The line with its ends, cut to `width` (0: not), with the escapes of its colours if wanted. Pure.
[[nodiscard]] std::string rendered(Line line, std::size_t width, bool color);

}  // namespace kiln::tool
