// SPDX-License-Identifier: MIT
// The text behind zeDriverGetLastErrorDescription: one for each thread, stale after success as on Intel's
// driver.
#pragma once

#include <cstdint>
#include <string>

namespace kiln::cpu {

void set_last_error(std::string text);

/// Valid until the next set_last_error of this thread.
[[nodiscard]] const char* last_error();

/// Intel's wording for shared local memory that does not fit.
[[nodiscard]] std::string slm_too_large(std::uint64_t wanted, std::uint64_t available);

}  // namespace kiln::cpu
