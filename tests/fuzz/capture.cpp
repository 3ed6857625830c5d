// SPDX-License-Identifier: MIT
// Fuzz target: what `kiln exec --capture` wrote, and the program in C that is made of it.
#include "fuzz/input.hpp"
#include "tool/replay/replay.hpp"

FUZZ_TARGET(capture) {
  using namespace kiln::tool;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const auto capture = parse_capture({"input.ar", {bytes, bytes + size}});
  if (!capture) return 0;
  for (const CaptureEntry& each : capture->entries) (void)c_program(each);
  return 0;
}
