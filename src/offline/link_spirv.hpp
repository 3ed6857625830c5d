// SPDX-License-Identifier: MIT
// Several SPIR-V modules made one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace kiln::offline {

/// One module with all kernels; a function that one declares and another defines is resolved. The error is
/// the linker's own words, or says that this build has none. Every module must have been read by
/// read_spirv(). Thread-safe.
[[nodiscard]] tl::expected<std::vector<std::byte>, std::string> link_spirv(
    std::span<const std::span<const std::byte>> modules);

}  // namespace kiln::offline
