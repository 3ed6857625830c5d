// SPDX-License-Identifier: MIT
// A frame of the example engine in raw calls of Level Zero: the same lists, kernels, memory and events.
#pragma once

#include "graph.hpp"

namespace kiln::bench {

/// What a frame needs, for both ways.
struct Subject {
  OpenDevice device;
  engine::Ways ways;
  engine::Library library;
  engine::Kernels kernels;
  engine::Frames frames;
  engine::Lanes lanes;
  std::uint32_t tile = 0;
};

/// Records the lists of a frame; what failed, or null.
[[nodiscard]] const char* raw_record(const Subject& subject);
/// Submits what was recorded, and waits for it. The image stays as it is.
[[nodiscard]] const char* raw_submit(const Subject& subject);

}  // namespace kiln::bench
