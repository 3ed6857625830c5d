// SPDX-License-Identifier: MIT
// Which front end for OpenCL C a process would open, told from files, so that none is opened to look into the
// cache.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/manifest.hpp"

namespace kiln::detail {
inline constexpr const char* kOclocName = "libocloc.so";
}

namespace kiln::cache {

/// What a library's file says of itself.
struct LibraryFile {
  std::string path;
  std::string build_id;             ///< its bytes; empty when it has none
  std::vector<std::string> needed;  ///< the names of what it links
};

/// The file that the dynamic linker opens for a name, or for a path; nothing: there is none, or it is no
/// library. `search` is LD_LIBRARY_PATH. Source: ld.so(8). Folders for some processors (hwcaps) and search
/// paths of libraries are not looked into: what was mapped in the end is held against it (other_front_end).
[[nodiscard]] std::optional<LibraryFile> find_library(const std::string& name, std::string_view search);

using FindLibrary = std::function<std::optional<LibraryFile>(const std::string& name)>;

struct FrontEndFields {
  Manifest fields;      ///< "front_end.libocloc.so" = build-id; a name alone where it is not there
  std::string library;  ///< of libocloc; empty: there is none
  std::string unknown;  ///< not empty: the fields do not tell everything, and why
};

/// libocloc, the front end that it opens by name (libigdfcl), and what that links, save what never shapes
/// code.
[[nodiscard]] FrontEndFields front_end_fields(const FindLibrary& find);

/// Of those, what is mapped into this process.
[[nodiscard]] Manifest mapped_front_end();

/// Where what was mapped is not what was told before, which: then a result is not what its key says. An LLVM
/// of another name may be the application's own. Pure.
[[nodiscard]] std::string other_front_end(const Manifest& told, const Manifest& mapped);

}  // namespace kiln::cache
