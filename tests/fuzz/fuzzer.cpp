// SPDX-License-Identifier: MIT
// Gives libFuzzer the target that this program is for.
#include "fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const kiln::fuzz::Function target = kiln::fuzz::find_function(KILN_FUZZ_TARGET);
  return target(data, size);
}
