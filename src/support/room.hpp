// SPDX-License-Identifier: MIT
// Memory for what comes from outside, where there is enough of it.
#pragma once

#include <cstddef>
#include <vector>

namespace kiln::detail {

/// Makes `bytes` that large, zeros at the end. False: there is no memory for it, and nothing has changed.
[[nodiscard]] bool try_resize(std::vector<std::byte>& bytes, std::size_t size);

}  // namespace kiln::detail
