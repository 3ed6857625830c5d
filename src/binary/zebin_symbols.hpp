// SPDX-License-Identifier: MIT
// Symbols that native code uses and does not define.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "kiln/needs.hpp"

namespace kiln::detail {

/// Calls `visit` for each use that drivers find unresolved, the same symbol perhaps several times. Nothing of
/// a file that read_zebin() would refuse. Pure.
void each_undefined_symbol(std::span<const std::byte> file, const std::function<void(MissingSymbol)>& visit);

}  // namespace kiln::detail
