// SPDX-License-Identifier: MIT
// DPAS: products of matrices in rows of registers.
#pragma once

#include "xe/unit/code.hpp"

namespace kiln::xe {

[[nodiscard]] std::string resolve_systolic(const Instruction& instruction, Code::Body& body, Op& op);

}  // namespace kiln::xe
