// SPDX-License-Identifier: MIT
// Runs the groups of a walker on all cores.
#pragma once

#include "drivers/simulator/groups/walker.hpp"
#include "drivers/simulator/machine.hpp"
#include "drivers/simulator/memory/tables.hpp"

namespace kiln::simulator {

/// Returns when the last group is done. Throws Ended with the fault's text.
void dispatch(Machine& machine, Tables& tables, const Walk& walk);

}  // namespace kiln::simulator
