// SPDX-License-Identifier: MIT
// What a compiler says of OpenCL C, by place, with the line of the source that it means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "build/source/text.hpp"

namespace kiln::detail {

/// `tile.cl:3:7: error: use of undeclared identifier 'x'`.
struct CompileMessage {
  enum class Kind { error, warning, note } kind = Kind::error;
  std::string file;
  std::size_t line = 0, column = 0;  ///< the first is 1; column 0: not said
  std::string text;
};

/// The lines of a log that name a place. Pure.
[[nodiscard]] std::vector<CompileMessage> read_compile_log(std::string_view log);

/// K0251: the first errors with their lines; where there are none, the log. Pure.
[[nodiscard]] Diagnostic explain_source_failure(const std::string& name, const SourceText& source,
                                                const std::string& log);

}  // namespace kiln::detail
