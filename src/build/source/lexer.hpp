// SPDX-License-Identifier: MIT
// Finds the directives in OpenCL C that ask for other files, as a preprocessor would see them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace kiln::detail {

/// What stands in the text between two offsets and is another file's, or the result of looking for one.
struct FileDirective {
  enum class Kind {
    include,      ///< #include
    has_include,  ///< __has_include("name") in a condition
    pragma_once,
  } kind = Kind::include;
  std::string name{};
  bool quoted = false;  ///< "name", not <name>
  std::size_t begin = 0, end = 0;
  std::size_t line = 0, end_line = 0;  ///< of both; the first is 1
};

struct LexedSource {
  std::vector<FileDirective> directives;  ///< in their order
  std::string guard;                      ///< the macro whose #ifndef and #endif enclose all
  bool asks_time = false;                 ///< __DATE__, __TIME__ or __TIMESTAMP__
};

struct LexError {
  std::size_t line = 0;
  std::string what;
};

/// `text` has newlines alone (no carriage returns). Lines that end in a backslash, comments, texts and
/// characters are read as the compiler does. Refuses what could name a file in a way that it does not follow.
/// Pure.
[[nodiscard]] tl::expected<LexedSource, LexError> lex_source(std::string_view text);

}  // namespace kiln::detail
