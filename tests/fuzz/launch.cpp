// SPDX-License-Identifier: MIT
// Fuzz target: any launch of any kernel. 64 bytes of request, then a kernel file or the text of a `.ze_info`.
#include <cstring>

#include "fuzz/claims.hpp"
#include "fuzz/input.hpp"

FUZZ_TARGET(launch) {
  using namespace kiln;
  fuzz::Request request;
  if (size < sizeof request) return 0;
  std::memcpy(&request, data, sizeof request);
  data += sizeof request, size -= sizeof request;
  const auto file = fuzz::bytes(data, size);
  if (identify(file) == BinaryFormat::unknown) {
    if (const auto facts = read_ze_info(fuzz::text(data, size))) fuzz::claim_checks(*facts, request);
    return 0;
  }
  for (const BinaryPart& part : read_parts(file))
    if (part.facts) fuzz::claim_checks(*part.facts, request);
  return 0;
}
