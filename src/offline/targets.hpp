// SPDX-License-Identifier: MIT
// Products by the names that somebody gave.
#pragma once

#include <string>
#include <vector>

#include "kiln/product.hpp"
#include "kiln/result.hpp"

namespace kiln::offline {

/// Every product once, in the order of the names, as find_targets() takes them. Errors: K0404. Pure.
[[nodiscard]] Result<std::vector<const Target*>> parse_targets(const std::vector<std::string>& names);

}  // namespace kiln::offline
