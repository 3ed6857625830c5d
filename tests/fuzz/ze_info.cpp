// SPDX-License-Identifier: MIT
// Fuzz target: the YAML text of `.ze_info`, and the checks on what it says.
#include "fuzz/claims.hpp"
#include "fuzz/input.hpp"

FUZZ_TARGET(ze_info) {
  using namespace kiln;
  if (const auto facts = read_ze_info(fuzz::text(data, size))) fuzz::claim_checks(*facts);
  return 0;
}
