// SPDX-License-Identifier: MIT
// Fuzz target: what a store gives, which may lie.
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "cache/remote/message.hpp"
#include "fuzz/input.hpp"
#include "store/wire.hpp"

namespace {

void claim_wire(std::span<const std::byte> bytes) {
  using namespace kiln;
  const auto entry = store::decode_wire(bytes);
  if (!entry) {
    fuzz::claim(!entry.error().empty(), "an error says what");
    return;
  }
  fuzz::claim(entry->get().size() <= cache::kLargestOnWire + cache::kSealSize,
              "an entry is no larger than it may be");
  const auto sealed = cache::decode_sealed(entry->get());
  if (!sealed) return;
  const auto again = store::decode_wire(store::encode_wire(sealed->bytes, sealed->seal));
  fuzz::claim(again && std::ranges::equal(again->get(), entry->get()), "what is read is written alike");
}

}  // namespace

FUZZ_TARGET(cache_wire) {
  const auto bytes = kiln::fuzz::bytes(data, size);
  claim_wire(bytes);
  constexpr std::size_t kBefore = 24, kHeader = 32;
  if (size < kHeader) return 0;
  // With the right checksum, which no chance finds.
  std::vector<std::byte> mended(bytes.begin(), bytes.end());
  const std::uint64_t sum = XXH3_64bits_withSeed(data + kHeader, size - kHeader, XXH3_64bits(data, kBefore));
  std::memcpy(mended.data() + kBefore, &sum, sizeof sum);
  claim_wire(mended);
  return 0;
}
