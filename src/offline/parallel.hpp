// SPDX-License-Identifier: MIT
// Work that is spread over threads.
#pragma once

#include "kiln/long_work.hpp"
#include "kiln/result.hpp"

namespace kiln::offline {

/// Calls `piece` with 0 to count - 1, on at most `threads` threads, this one among them (0: one a processor),
/// or fewer where the system gives no more. Begins no piece after a request to stop. What a piece throws is
/// thrown here, when all threads are done.
void in_parallel(std::size_t count, std::size_t threads, const LongWork& work,
                 const std::function<void(std::size_t)>& piece);

/// K0423 for work that was stopped. Pure.
[[nodiscard]] Error stopped(const char* call, const std::string& what);

}  // namespace kiln::offline
