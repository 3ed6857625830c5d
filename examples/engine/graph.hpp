// SPDX-License-Identifier: MIT
// The frame graph: which pass stands in which list, what it takes, and what it waits for.
#pragma once

#include "frame.hpp"
#include "kernels.hpp"

namespace engine {

/// Records the list of a task of the slot's frame. Different tasks may be recorded by different threads at
/// once, each with kernels of its own.
[[nodiscard]] kiln::Result<void> record(Task task, const Frames& frames, const Slot& slot, const Lanes& lanes,
                                        const Kernels& kernels, std::uint32_t tile);

/// The edge that was asked for, or the largest whose tiles fit the kernel and the device.
[[nodiscard]] std::uint32_t tile_that_fits(const kiln::CheckedKernel& multiply, std::uint32_t asked);

}  // namespace engine
