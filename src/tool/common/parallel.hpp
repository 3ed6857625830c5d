// SPDX-License-Identifier: MIT
// Work that is spread over threads, and the line that says how far it is.
#pragma once

#include <functional>
#include <string>

#include "kiln/long_work.hpp"

namespace kiln::tool {

/// `title` and the number of pieces that are done, in one line on stderr where that is a terminal, cleared at
/// the end.
[[nodiscard]] LongWork shown_work(const std::string& title);

/// Calls `work` with 0 to count - 1, on at most as many threads as there are processors, and shows it.
void in_parallel(std::size_t count, const std::string& title, const std::function<void(std::size_t)>& work);

}  // namespace kiln::tool
