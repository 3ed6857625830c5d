// SPDX-License-Identifier: MIT
// How full a folder is, without looking at its entries.
#pragma once

#include "cache/folder.hpp"

namespace kiln::cache {

/// What a file takes on disk, about.
constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t blocks_of(std::uint64_t bytes) {
  return bytes == 0 ? 1 : (bytes + kBlock - 1) / kBlock;
}

/// The length of v1/usage, a byte a block: appending adds, in one step and for all processes, and no content
/// can be damaged. A wrong length is put right by the next who prunes. Nothing when it was never counted, or
/// when nothing was there.
[[nodiscard]] std::optional<std::uint64_t> estimated_usage(const Folder& folder);
/// Without effect before the first count.
void add_usage(const Folder& folder, std::uint64_t bytes);

/// Around a count: from `start_count` on, what others store is added; `set_usage` keeps it.
[[nodiscard]] std::uint64_t start_count(const Folder& folder);  ///< the estimate, in blocks
void set_usage(const Folder& folder, std::uint64_t before, std::uint64_t blocks);

}  // namespace kiln::cache
