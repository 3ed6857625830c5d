// SPDX-License-Identifier: MIT
// Batch buffers of a simulated GPU: any words end, by themselves or with a text, and never elsewhere.
#include <algorithm>

#include "drivers/simulator/commands/streamer.hpp"
#include "drivers/simulator/ended.hpp"
#include "drivers/simulator/wire.hpp"
#include "fuzz/input.hpp"

namespace {

using namespace kiln::simulator;

constexpr std::uint64_t kStart = 0x8000'0000'0000, kPages = 32;

void write_entry(Tables& tables, std::uint64_t physical, std::uint64_t value) {
  (void)tables.write(physical, std::as_bytes(std::span(&value, 1)), true);
}

}  // namespace

// The first byte says which product; the rest is both the batch buffer and what it finds in memory.
FUZZ_TARGET(command_stream) {
  using namespace kiln;
  const auto bytes = fuzz::bytes(data, size);
  if (bytes.empty()) return 0;
  if (bytes.size() >= kHeaderBytes)
    if (const auto header = read_header(bytes.first<kHeaderBytes>()))
      (void)read_message(
          *header, bytes.subspan(kHeaderBytes,
                                 std::min<std::size_t>(header->body_bytes, bytes.size() - kHeaderBytes)));
  const auto all = models();
  Machine machine(all[data[0] % all.size()], std::nullopt);
  machine.limits = {2'000, 64, 2'000, std::chrono::milliseconds(1)};
  Tables tables(machine.memory);
  const std::uint64_t root = std::uint64_t{1} << 29;
  tables.set_root(root);
  write_entry(tables, root + (kStart >> 39) * 8, 0x40000003);
  write_entry(tables, 0x40000000 + (kStart >> 30 & 511) * 8, 0x80000003);
  write_entry(tables, 0x80000000 + (kStart >> 21 & 511) * 8, (kLevel1 + (kStart >> 12) * 8) | 3);
  for (std::uint64_t page = 0; page < kPages; ++page)
    write_entry(tables, kLevel1 + ((kStart >> 12) + page) * 8, (page + 1) * kPage | 3);
  Space space(tables);
  try {
    space.write(kStart, bytes.subspan(1, std::min<std::size_t>(bytes.size() - 1, (kPages - 1) * kPage)),
                "the fuzzer");
    Streamer streamer(machine, tables, 0x2000);
    streamer.run_batch(kStart);
  } catch (const Ended& ended) {
    fuzz::claim(!ended.text.empty(), "what ends a submission is said");
  }
  return 0;
}
