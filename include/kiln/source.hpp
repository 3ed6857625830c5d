// SPDX-License-Identifier: MIT
// OpenCL C as an engine has it at run time: text, headers, macros.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kiln/result.hpp"

namespace kiln {

/// A header in memory, found by `#include "name"` and `<name>`.
struct SourceHeader {
  std::string name;  ///< "tile.h", "math/fast.h"
  std::string text;
};

/// `#define name value` before the first line. `name` may have parameters: "SQUARE(x)".
struct SourceMacro {
  std::string name;
  std::string value{};
};

/// OpenCL C. A plain value.
struct Source {
  std::string name;  ///< for messages and __FILE__: "tile.cl"
  std::string text;
  /// Looked at before the folders. One that a header of memory includes in quotes is looked for beside that
  /// one first: "fast.h" in "math/fast.h" is "math/fast.h" before it is "fast.h".
  std::vector<SourceHeader> headers{};
  /// Folders that hold headers, in the order of looking. One that a file includes in quotes is looked for
  /// beside that file first.
  std::vector<std::filesystem::path> folders{};
  std::vector<SourceMacro> macros{};  ///< in this order; of one that is there twice the last counts
};

/// A file, with its folder as the one that holds headers. Errors: as read_kernel_file().
[[nodiscard]] Result<Source> read_source(const std::filesystem::path& path);

}  // namespace kiln
