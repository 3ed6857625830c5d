// SPDX-License-Identifier: MIT
// Fuzz target: the manifests of the cache, and the difference between two of them.
#include "fuzz/input.hpp"
#include "kiln/manifest.hpp"

FUZZ_TARGET(cache_manifest) {
  using namespace kiln;
  const std::string_view bytes = fuzz::text(data, size);
  const auto manifest = decode_manifest(bytes);
  if (!manifest) {
    fuzz::claim(!manifest.error().message.empty() && manifest.error().offset <= size,
                "an error says what and where");
    return 0;
  }
  fuzz::claim(encode(*manifest) == bytes, "what is read is written alike");
  fuzz::claim(CacheKey::parse(key_of(bytes).hex()) == key_of(bytes), "a key is read as it is written");
  fuzz::claim(differences(*manifest, *manifest).empty(), "a manifest does not differ from itself");
  Manifest other, all = *manifest;
  std::size_t kept = 0;
  for (const ManifestField& field : manifest->fields()) {
    fuzz::claim(manifest->find(field.name) == &field.value, "a field is found by its name");
    if (field.name.size() % 2) other.set(field.name, field.value), ++kept;
  }
  fuzz::claim(differences(*manifest, other).size() == manifest->fields().size() - kept,
              "the difference is what the other lacks");
  all.merge(other);
  fuzz::claim(all == *manifest, "fields that are there already change nothing");
  return 0;
}
