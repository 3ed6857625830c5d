// SPDX-License-Identifier: MIT
// The variables that set the device up: reading one, and refusing what one says.
#pragma once

#include <string_view>

namespace kiln::cpu {

/// Empty when the variable is not set, and in a process with more rights than its user (setuid).
[[nodiscard]] std::string_view setting(const char* name);

/// Says so on stderr. The value may hold anything: it is shown in ASCII, and no more than its beginning.
void refuse_setting(const char* name, std::string_view value, std::string_view expected);

}  // namespace kiln::cpu
