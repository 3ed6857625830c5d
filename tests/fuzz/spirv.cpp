// SPDX-License-Identifier: MIT
// Fuzz target: the SPIR-V reader, and the checks on what it found.
#include "fuzz/claims.hpp"
#include "fuzz/input.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kiln;
  const auto facts = read_spirv(fuzz::bytes(data, size));
  if (facts) {
    fuzz::claim(!facts->kernels.empty(), "a module that can be read has a kernel");
    fuzz::claim_checks(*facts);
  } else {
    fuzz::claim(!facts.error().message.empty() && facts.error().offset <= size,
                "an error says what and where");
  }
  return 0;
}
