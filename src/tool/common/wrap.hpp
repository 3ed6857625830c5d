// SPDX-License-Identifier: MIT
// Lines cut at blanks, so that a terminal does not cut them inside words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::tool {

/// Columns of UTF-8 text, as far as each character takes one. Pure.
[[nodiscard]] std::size_t columns(std::string_view text);

/// Where the lines behind the first begin: under the text behind a label ("  = asked for: 1 B", "  help: …",
/// "  SLM   bytes"), else two columns further in for an error, else where the line begins. Pure.
[[nodiscard]] std::size_t hanging_indent(std::string_view line);

struct Piece {
  std::size_t begin = 0, end = 0;  ///< bytes of the line
  std::size_t indent = 0;          ///< blanks before it
};

/// The pieces of one line, each of at most `width` columns, words longer than that cut. 0: as it is. Pure.
[[nodiscard]] std::vector<Piece> wrap(std::string_view line, std::size_t width, std::size_t indent);

}  // namespace kiln::tool
