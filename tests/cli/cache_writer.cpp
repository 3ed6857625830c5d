// SPDX-License-Identifier: MIT
// Puts entries into a cache for the tests of `kiln cache`: a JSON list of them on stdin, the folder as
// argument.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cache/format/facts.hpp"
#include "cache/maintenance.hpp"
#include "kiln/bundle.hpp"

int main(int count, char** arguments) {
  using namespace kiln;
  if (count != 2) return 2;
  const auto folder = cache::open_folder(arguments[1], cache::Access::write);
  if (!folder) return std::fputs(folder.error().text().c_str(), stderr), 1;
  for (const auto& wanted : nlohmann::json::parse(std::cin)) {
    Manifest manifest;
    for (const auto& [name, value] : wanted.at("manifest").items()) manifest.set(name, value);
    const std::string encoded = encode(manifest), log = wanted.value("log", "");
    std::vector<std::byte> facts, payload(wanted.value("payload", 0u), std::byte{42});
    if (const std::string file = wanted.value("payload_of", ""); !file.empty()) {
      const auto native = read_kernel_file(file);
      if (!native) return std::fputs(native.error().text().c_str(), stderr), 1;
      payload = native->bytes;
    }
    if (const std::string file = wanted.value("facts_of", ""); !file.empty()) {
      const auto kernels = read_kernel_file(file);
      if (!kernels) return std::fputs(kernels.error().text().c_str(), stderr), 1;
      if (const auto parts = read_parts(kernels->bytes); parts[0].facts)
        facts = cache::encode_facts(*parts[0].facts);
    }
    const CacheKey key = key_of(encoded);
    const cache::Entry entry{static_cast<cache::EntryKind>(wanted.value("kind", 1u)),
                             wanted.value("code", 0u),
                             wanted.value("attempts", 1u),
                             wanted.value("created", std::uint64_t{1'700'000'000}),
                             encoded,
                             log,
                             facts,
                             payload};
    if (const auto stored = cache::publish(*folder, key, cache::encode_entry(entry), true); !stored)
      return std::fputs(stored.error().text().c_str(), stderr), 1;
    std::printf("%s\n", key.hex().c_str());
  }
}
