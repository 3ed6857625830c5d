// SPDX-License-Identifier: MIT
// Pieces of HTML: text that does no harm, numbers that stay readable by machines, tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::tool {

/// Text from outside, for an element or a quoted attribute. Control characters are shown as `\x1b`, and what
/// is no UTF-8 as U+FFFD. Pure.
[[nodiscard]] std::string escaped(std::string_view text);

/// `escaped` as code, with a direction of its own: a name cannot reorder what stands around it. Pure.
[[nodiscard]] std::string code(std::string_view text);

/// Text of a diagnostic: what stands in backquotes is code. Pure.
[[nodiscard]] std::string shown_text(const std::string& text);

/// As a sentence begins. Pure.
[[nodiscard]] std::string as_sentence(std::string text);

/// 1234567 with narrow spaces for people and as `<data value="1234567">` for programs. Pure.
[[nodiscard]] std::string number(std::uint64_t value);

/// Three significant digits for people, the double as JSON writes it in `value`. Pure.
[[nodiscard]] std::string number(double value);

/// "1 line", "2 lines". Pure.
[[nodiscard]] std::string count(std::uint64_t value, std::string_view one, std::string_view many);

/// Part of a whole in percent, 0 where there is no whole. Pure.
[[nodiscard]] double percent(double part, double whole);

/// A bar as SVG that is `share` percent full; as it stands beside its number, it is hidden from screen
/// readers. `kind` is a class of the style sheet. Pure.
[[nodiscard]] std::string bar(double share, std::string_view kind = "");

/// A table that scrolls by itself where the page is narrow. Cells are HTML; the first of a row heads it.
/// Columns from `numbers` on are set to the right. Pure.
[[nodiscard]] std::string table(std::string_view caption, const std::vector<std::string>& heads,
                                const std::vector<std::vector<std::string>>& rows, std::size_t numbers);

}  // namespace kiln::tool
