// SPDX-License-Identifier: MIT
// Fuzz target: the SPIR-V reader, and the checks on what it found.
#include "fuzz/claims.hpp"
#include "fuzz/input.hpp"
#include "kiln/needs.hpp"

FUZZ_TARGET(spirv) {
  using namespace kiln;
  const auto file = fuzz::bytes(data, size);
  fuzz::claim(missing_symbols(file).size() <= 64, "symbols are bounded");
  for (const NeededFeature& each : needed_features(file))
    fuzz::claim(check_features({&each, 1}, {false, false, false}).has_value(),
                "what is needed can be lacking");
  const auto facts = read_spirv(file);
  if (facts) {
    fuzz::claim(!facts->kernels.empty(), "a module that can be read has a kernel");
    fuzz::claim_checks(*facts);
  } else {
    fuzz::claim(!facts.error().message.empty() && facts.error().offset <= size,
                "an error says what and where");
  }
  return 0;
}
