// SPDX-License-Identifier: MIT
// Intel's driver asked about every cell of a matrix, in child processes that it may end.
#pragma once

#include "tool/check/matrix.hpp"

namespace kiln::tool {

/// Gives every cell its `driver`. One child a target, and another for what is left when the driver ends one.
/// A product that the installed driver does not know is not asked (K0308). Error: no driver here can be asked
/// at all.
[[nodiscard]] std::optional<Error> ask_driver(Matrix& matrix, const CheckRequest& request,
                                              const std::string& flags, std::chrono::milliseconds time_limit);

}  // namespace kiln::tool
