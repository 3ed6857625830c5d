// SPDX-License-Identifier: MIT
// Fuzz target: how the kernels of any file are called.
#include "fuzz/input.hpp"
#include "tool/kernel/load.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kiln::tool;
  for (const Signature& each : signatures_of(kiln::fuzz::bytes(data, size))) {
    (void)shown_signature(each);
    (void)call_line("input", each);
  }
  return 0;
}
