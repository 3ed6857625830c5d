// SPDX-License-Identifier: MIT
// `kiln replay`: what a program launched, again.
#pragma once

#include "tool/kernel/signature.hpp"
#include "tool/kernel/summary.hpp"
#include "tool/replay/capture.hpp"

namespace kiln::tool {

/// Some of a memory that is not as it was captured, counted as the argument that points to it counts.
struct ReplayDifference {
  std::size_t memory = 0;
  std::string label;          ///< of that argument; empty: none does
  std::uint64_t numbers = 0;  ///< there are
  Difference difference;
};

/// What came of one entry.
struct Replayed {
  /// The same answer of a call of the same kind, and the same bytes in memory, where the device tells.
  bool same = false;
  bool executed = false;
  bool lost = false;               ///< the device: nothing can be launched on it any more
  std::optional<Error> refused{};  ///< by Kiln or the driver; K0455: what this device cannot do at all
  std::chrono::nanoseconds build{}, host{}, on_device{};
  std::vector<ReplayDifference> differences{};
};

/// K0455.
[[nodiscard]] Error cannot_replay(const CaptureEntry& entry, std::string reason, std::string help);

/// What differs between a memory of the entry and what is in it now. Without tolerance each bit counts; with
/// it, numbers of the type that an argument points to, up to where the next one points, and bytes before
/// that. Pure.
[[nodiscard]] std::vector<ReplayDifference> compare_memory(const CaptureEntry& entry, std::size_t memory,
                                                           std::span<const std::byte> got,
                                                           const Signature& signature, Tolerance tolerance);

/// Builds, launches and compares. What the driver refused is appended to a list that is never executed.
[[nodiscard]] Replayed replay_entry(const OpenDevice& device, const CaptureEntry& entry, std::uint32_t repeat,
                                    Tolerance tolerance);

/// A folder with a program of raw calls of Level Zero, in C, that does what the entry did, and its files.
/// Errors: K0455, K0451.
[[nodiscard]] Result<void> emit_c(const CaptureEntry& entry, const std::string& folder);

/// The program alone. Pure.
[[nodiscard]] std::string c_program(const CaptureEntry& entry);

}  // namespace kiln::tool
