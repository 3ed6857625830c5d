// SPDX-License-Identifier: MIT
// Why a lookup missed: the entry that is nearest to what was wanted, and what tells the two apart.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/manifest.hpp"

namespace kiln::tool {

struct NearestEntry {
  std::size_t index = 0;    ///< among the manifests given
  bool same_input = false;  ///< of the same files, in any order
  std::vector<ManifestDifference> differences;
};

/// The one with the fewest differing fields: among those of the same input where there are any, else among
/// all; the first of several. Nothing when there is none at all. Pure.
[[nodiscard]] std::optional<NearestEntry> nearest_entry(const Manifest& wanted,
                                                        std::span<const Manifest* const> manifests);

/// "library.libigc.so.1: 3d1eb51d… became 9af0c1d2…", from what is there to what was wanted. Pure.
[[nodiscard]] std::string difference_text(const ManifestDifference& difference);

/// Digests and build-ids by their first digits, others as they are. Pure.
[[nodiscard]] std::string brief_value(std::string_view value);

/// For lists: the device, and the compiler with its build-id ("libigc.so.1 3d1eb51d…"); empty where the
/// manifest does not say. Pure.
[[nodiscard]] std::string brief_device(const Manifest& manifest);
[[nodiscard]] std::string brief_compiler(const Manifest& manifest);
/// What is longer than 40 bytes is cut, between characters and not within one. Pure.
[[nodiscard]] std::string shortened(std::string text);
/// The flags of all inputs. Pure.
[[nodiscard]] std::string brief_flags(const Manifest& manifest);

}  // namespace kiln::tool
