// SPDX-License-Identifier: MIT
// Fuzz target: records of calls. The input is what a hostile program writes into its own: the header, some
// lists, then calls.
#include <algorithm>
#include <cstring>
#include <memory>

#include "fuzz/claims.hpp"
#include "fuzz/input.hpp"
#include "record/explain.hpp"

FUZZ_TARGET(record) {
  using namespace kiln;
  (void)record::read(fuzz::bytes(data, size));
  const auto image = std::make_unique<record::Image>();
  const auto take = [&](void* to, std::size_t room) {
    const std::size_t taken = std::min(size, room);
    std::memcpy(to, data, taken);
    data += taken, size -= taken;
  };
  take(&image->header, offsetof(record::Header, program) + 8);
  std::memcpy(image->header.magic, record::kMagic, sizeof record::kMagic);
  image->header.version = record::kVersion;
  take(image->lists, 8 * sizeof(record::List));
  take(image->names, 16);
  take(image->calls, sizeof image->calls);
  const auto read = record::read(std::as_bytes(std::span(image.get(), 1)));
  fuzz::claim(read.has_value(), "a record of this release is read");
  fuzz::claim(read->entries.size() <= record::kCalls, "no more calls than there is room for");
  fuzz::claim(std::ranges::is_sorted(read->entries, {}, &record::Entry::number), "calls are in their order");
  fuzz::claim(record::rows_of_work(*read).size() <= 8, "eight rows at most");
  for (const record::Life life : {record::Life::gone, record::Life::runs})
    if (const auto finding = record::explain(*read, life)) fuzz::claim_renders(*finding);
  return 0;
}
