// SPDX-License-Identifier: MIT
// The barrier as compiled kernels call it.
#pragma once

#include "cpu_driver/program/work_item.hpp"

/// Returns when every work-item of the group has called it, or has ended.
extern "C" void kiln_barrier(kiln::cpu::ItemState* item);
