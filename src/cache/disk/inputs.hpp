// SPDX-License-Identifier: MIT
// What entries were compiled from, kept by content beside them for who compiles it again.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/folder.hpp"

namespace kiln::cache {

/// v1/inputs: files named by the SHA-256 of their bytes in hexadecimal. All is thread-safe, and several
/// processes may do it.
inline constexpr const char* kInputsFolder = "inputs";

/// Keeps it, or marks it as used where it is there. Where all take more than `most` bytes on disk then, the
/// longest unused go until they take four fifths. Gives 0 or an errno.
[[nodiscard]] int keep_input(const Folder& folder, std::span<const std::byte> bytes, std::uint64_t most);

/// Nothing where there is none, or something that has another content.
[[nodiscard]] std::optional<std::vector<std::byte>> read_input(const Folder& folder,
                                                               const std::string& digest);
/// Whether there is one, without reading it.
[[nodiscard]] bool has_input(const Folder& folder, const std::string& digest);

struct InputsSize {
  std::uint64_t count = 0, bytes = 0;
};
[[nodiscard]] InputsSize inputs_size(const Folder& folder);

/// Removes all of them. Gives 0 or an errno.
[[nodiscard]] int clear_inputs(const Folder& folder);

}  // namespace kiln::cache
