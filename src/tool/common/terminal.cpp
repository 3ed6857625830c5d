// SPDX-License-Identifier: MIT
// Asks the terminal for its width, and writes the escapes of ECMA-48.
#include "tool/common/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "tool/common/wrap.hpp"

namespace kiln::tool {
namespace {

constexpr std::size_t kLeastWidth = 40;  // columns; nothing is read well on less

/// Bold red, and so on: SGR, ECMA-48 8.3.117.
constexpr std::array<const char*, 5> kEscapes{"", "\033[32m", "\033[1;31m", "\033[1;33m", "\033[36m"};
constexpr const char* kEnd = "\033[0m";

ColorChoice& choice() {
  static ColorChoice chosen = ColorChoice::automatic;
  return chosen;
}

Paint paint_at(const std::vector<Span>& spans, std::size_t at) {
  const auto found =
      std::ranges::find_if(spans, [&](const Span& span) { return at >= span.begin && at < span.end; });
  return found == spans.end() ? Paint::none : found->paint;
}

}  // namespace

std::optional<ColorChoice> parse_color(std::string_view text) {
  if (text == "auto") return ColorChoice::automatic;
  if (text == "always") return ColorChoice::always;
  if (text == "never") return ColorChoice::never;
  return std::nullopt;
}

ColorChoice color_of(int argc, const char* const* argv) {
  constexpr std::string_view kOption = "--color";
  ColorChoice chosen = ColorChoice::automatic;
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with(kOption)) continue;
    std::string_view value = word.substr(kOption.size());
    if (value.empty() && i + 1 < argc)
      value = argv[i + 1];
    else if (value.starts_with('='))
      value.remove_prefix(1);
    chosen = parse_color(value).value_or(chosen);
  }
  return chosen;
}

bool wants_color(ColorChoice choice, bool terminal, const char* no_color, const char* term) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  if (no_color && *no_color) return false;
  return terminal && term && std::string_view(term) != "dumb";
}

void choose_color(ColorChoice chosen) { choice() = chosen; }

bool is_colored(std::FILE* to) {
  return wants_color(choice(), isatty(fileno(to)) == 1, std::getenv("NO_COLOR"), std::getenv("TERM"));
}

std::size_t terminal_width(std::FILE* to) {
  winsize size{};
  if (isatty(fileno(to)) != 1 || ioctl(fileno(to), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 0;
  return std::max<std::size_t>(size.ws_col, kLeastWidth);
}

std::vector<Span> severities(std::string_view line) {
  std::vector<Span> spans;
  for (const auto& [word, paint] : {std::pair<std::string_view, Paint>{"error[K", Paint::bad},
                                    std::pair<std::string_view, Paint>{"warning[K", Paint::warning}}) {
    const auto at = line.find(word);
    if (at == line.npos || (at > 0 && line[at - 1] != ' ')) continue;
    const auto end = line.find(']', at);
    if (end != line.npos) spans.push_back({at, end + 1, paint});
  }
  const auto start = line.find_first_not_of(' ');
  if (start != line.npos && line.substr(start).starts_with("help: "))
    spans.push_back({start, start + 5, Paint::help});
  return spans;
}

std::string rendered(Line line, std::size_t width, bool color) {
  std::string text;
  for (const Piece& piece : wrap(line.text, width, hanging_indent(line.text))) {
    text.append(piece.indent, ' ');
    Paint last = Paint::none;
    for (std::size_t i = piece.begin; i < piece.end; ++i) {
      const Paint now = color ? paint_at(line.spans, i) : Paint::none;
      if (now != last && last != Paint::none) text += kEnd;
      if (now != last) text += kEscapes[static_cast<std::size_t>(now)];
      last = now;
      text += line.text[i];
    }
    if (last != Paint::none) text += kEnd;
    text += '\n';
  }
  return text;
}

}  // namespace kiln::tool
