// SPDX-License-Identifier: MIT
// Fuzz target: how the kernels of any file are called.
#include "fuzz/input.hpp"
#include "tool/kernel/load.hpp"

FUZZ_TARGET(signature) {
  using namespace kiln::tool;
  for (const Signature& each : signatures_of(kiln::fuzz::bytes(data, size))) {
    (void)shown_signature(each);
    (void)call_line("input", each);
  }
  return 0;
}
