// SPDX-License-Identifier: MIT
// Fuzz target: what kiln-store and the library say to each other, and lists of keys.
#include <algorithm>

#include "cache/remote/message.hpp"
#include "cache/remote/trust.hpp"
#include "cache/remote/url.hpp"
#include "fuzz/input.hpp"

FUZZ_TARGET(store_message) {
  using namespace kiln;
  const auto message = fuzz::bytes(data, size);
  const auto alike = [&](const auto& read) {
    if (read) fuzz::claim(std::ranges::equal(encode(*read), message), "what is read is written alike");
  };
  alike(cache::decode_store_settings(message));
  alike(cache::decode_store_request(message));
  alike(cache::decode_store_answer(message));
  const auto text = fuzz::text(data, size);
  if (const auto url = cache::parse_remote(text)) {
    fuzz::claim(url->password.empty() || url->name().find('@') == std::string::npos,
                "a name has no password");
    fuzz::claim(url->port != 0 && !url->host.empty(), "a store has a place");
  }
  if (const auto lines = cache::parse_trust(text)) {
    std::string again;
    for (const cache::TrustLine& line : *lines) again += to_string(line) + '\n';
    const auto read = cache::parse_trust(again);
    fuzz::claim(read && read->size() == lines->size(), "what is written is read");
  }
  return 0;
}
