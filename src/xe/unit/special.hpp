// SPDX-License-Identifier: MIT
// Instructions that touch what is no plain register: cr0, the clock, the channel mask, barriers.
#pragma once

#include <string>

#include "xe/unit/op.hpp"

namespace kiln::xe {

/// Waits that mean something; the rest are for hardware that works ahead.
[[nodiscard]] std::string resolve_sync(const Instruction& instruction, Op& op);
/// Puts a step before or behind the handler of an op that reads or writes special registers.
void add_special(Op& op);

}  // namespace kiln::xe
