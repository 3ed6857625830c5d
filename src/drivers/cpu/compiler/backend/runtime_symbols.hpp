// SPDX-License-Identifier: MIT
// The only host functions that compiled kernels may call.
#pragma once

#include <string_view>

namespace kiln::cpu {

/// Null when compiled code may not call a function of that name.
void* runtime_symbol(std::string_view name);

}  // namespace kiln::cpu
