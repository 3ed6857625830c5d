// SPDX-License-Identifier: MIT
// One sample run and timed, for `kiln run NAME` and `kiln run --all`.
#pragma once

#include <chrono>

#include "tool/samples/samples.hpp"

namespace kiln::tool {

struct Outcome {
  std::chrono::nanoseconds host{}, device{};  ///< of the fastest run, by host time
  bool executed = true;                       ///< false: a capture device, which gives no answers
  std::optional<samples::Mismatch> mismatch;
};

[[nodiscard]] inline double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// "0.123". Pure.
[[nodiscard]] std::string milliseconds_text(std::chrono::nanoseconds time);

/// "4 x 2", without dimensions of one at the end. Pure.
[[nodiscard]] std::string extent_text(const Extent& extent);

[[nodiscard]] std::string wrong_text(const samples::Mismatch& wrong);

/// One launch at a time on an immediate list, each timed from submit to the end of the wait, so that the
/// host's time contains the device's.
[[nodiscard]] Result<Outcome> measure(const OpenDevice& device, const samples::Prepared& prepared,
                                      const CheckedKernel& kernel, std::uint32_t repeat);

}  // namespace kiln::tool
