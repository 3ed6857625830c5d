// SPDX-License-Identifier: MIT
// One text of a source and all that it includes, so that a compiler reads no file and a cache key names what
// it gets.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/source.hpp"

namespace kiln::detail {

inline constexpr const char* kNamelessSource = "source.cl";

/// A file that went into the text.
struct TextFile {
  std::string name;         ///< as __FILE__ and messages have it
  std::string included_at;  ///< "tile.cl:3", the first place; empty for the source itself
  std::string text;
};

struct SourceText {
  std::string text;             ///< without any #include that a compiler would follow
  std::vector<TextFile> files;  ///< the source first
  /// Not empty: the text does not tell what it compiles to, and why: it asks for the time.
  std::string not_kept;

  /// The line of a file, without its end; nothing where there is none. Lines begin at 1.
  [[nodiscard]] std::optional<std::string> line(const std::string& file, std::size_t number) const;
};

/// What lies at a path: nothing, so that the next folder is asked; a text; or why it cannot be read.
using ReadHeader =
    std::function<std::optional<tl::expected<std::string, std::string>>(const std::filesystem::path&)>;

/// Puts every `#include "name"` and `<name>` in place, also of branches that are not compiled, with #line
/// around it. What is found nowhere becomes an #error, which counts where the branch is compiled. Each call
/// looks for every header anew, so that one that appears, changes or goes changes the text. Refused (K0250):
/// what Kiln cannot follow, such as an include whose name is a macro. Reads by `read` alone.
[[nodiscard]] tl::expected<SourceText, Diagnostic> flatten(const kiln::Source& source,
                                                           const ReadHeader& read);

/// Reads a regular file of at most 16 MiB.
[[nodiscard]] std::optional<tl::expected<std::string, std::string>> read_header(
    const std::filesystem::path& path);

}  // namespace kiln::detail
