// SPDX-License-Identifier: MIT
// Fuzz target: entries of the cache, as they are and with the right checksum, which no chance finds.
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "cache/format/entry.hpp"
#include "fuzz/input.hpp"

namespace {

void claim_entry(std::span<const std::byte> file) {
  using namespace kiln;
  const auto entry = cache::decode_entry(file);
  if (!entry) {
    fuzz::claim(!entry.error().message.empty() && entry.error().offset <= file.size(),
                "an error says what and where");
    return;
  }
  const auto inside = [&](const void* start, std::size_t size) {
    const auto* from = static_cast<const std::byte*>(start);
    return from >= file.data() && size <= file.size() && from + size <= file.data() + file.size();
  };
  fuzz::claim(inside(entry->manifest.data(), entry->manifest.size()) &&
                  inside(entry->log.data(), entry->log.size()) &&
                  inside(entry->facts.data(), entry->facts.size()) &&
                  inside(entry->payload.data(), entry->payload.size()),
              "a section lies inside its file");
  fuzz::claim(std::ranges::equal(cache::encode_entry(*entry), file), "what is read is written alike");
}

}  // namespace

FUZZ_TARGET(cache_entry) {
  const auto file = kiln::fuzz::bytes(data, size);
  claim_entry(file);
  XXH128_canonical_t sum;
  if (size < sizeof sum) return 0;
  std::vector<std::byte> mended(file.begin(), file.end());
  XXH128_canonicalFromHash(&sum, XXH3_128bits(data, size - sizeof sum));
  std::memcpy(mended.data() + size - sizeof sum, &sum, sizeof sum);
  claim_entry(mended);
  return 0;
}
