// SPDX-License-Identifier: MIT
// Why a submission ended early. Thrown and caught inside the simulated GPU alone.
#pragma once

#include <string>
#include <utility>

namespace kiln::simulator {

/// The engine is lost from then on. The text is a sentence without a period.
struct Ended {
  std::string text;
};

[[noreturn]] inline void end(std::string text) { throw Ended{std::move(text)}; }

}  // namespace kiln::simulator
