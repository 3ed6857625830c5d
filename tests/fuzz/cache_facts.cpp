// SPDX-License-Identifier: MIT
// Fuzz target: the facts that a cache entry carries, and the checks on what they say.
#include <algorithm>

#include "cache/format/facts.hpp"
#include "fuzz/claims.hpp"
#include "fuzz/input.hpp"

FUZZ_TARGET(cache_facts) {
  using namespace kiln;
  const auto bytes = fuzz::bytes(data, size);
  const auto facts = cache::decode_facts(bytes);
  if (!facts) {
    fuzz::claim(!facts.error().message.empty() && facts.error().offset <= size,
                "an error says what and where");
    return 0;
  }
  fuzz::claim(std::ranges::equal(cache::encode_facts(*facts), bytes), "what is read is written alike");
  fuzz::claim_checks(*facts);
  return 0;
}
