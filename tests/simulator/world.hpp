// SPDX-License-Identifier: MIT
// A simulated GPU without a driver: memory that the test maps as the driver does, and batch buffers from
// words.
#pragma once

#include <cstring>
#include <initializer_list>
#include <vector>

#include "drivers/simulator/commands/streamer.hpp"
#include "drivers/simulator/ended.hpp"

namespace kiln::simulator {

/// Writes a page table's entry as driver 22.43 does.
inline void write_entry(Tables& tables, std::uint64_t physical, std::uint64_t value) {
  REQUIRE(tables.write(physical, std::as_bytes(std::span(&value, 1)), true).has_value());
}

/// Maps a virtual page onto a physical one: four levels, at the places of PageTableTraits<48>.
inline void map_page(Tables& tables, std::uint64_t address, std::uint64_t physical, std::uint64_t bits = 3) {
  const std::uint64_t level4 = std::uint64_t{1} << 29, level3 = std::uint64_t{1} << 30,
                      level2 = std::uint64_t{1} << 31, level1 = std::uint64_t{1} << 32;
  const std::uint64_t page = address >> 12;
  write_entry(tables, level4 + (page >> 27) * 8, ((level3 + (page >> 18) * 8) & ~std::uint64_t{4095}) | 3);
  write_entry(tables, level3 + (page >> 18) * 8, ((level2 + (page >> 9) * 8) & ~std::uint64_t{4095}) | 3);
  write_entry(tables, level2 + (page >> 9) * 8, ((level1 + page * 8) & ~std::uint64_t{4095}) | 3);
  write_entry(tables, level1 + page * 8, physical | bits);
}

struct World {
  explicit World(const char* product = "dg2")
      : machine(*find_model(product), std::nullopt),
        tables(machine.memory),
        space(tables),
        streamer(machine, tables, 0x2000) {
    machine.limits = {10'000, 1000, 10'000, std::chrono::milliseconds(20)};
    tables.set_root(std::uint64_t{1} << 29);
    // 64 pages of data, and 16 for batch buffers.
    for (std::uint64_t page = 0; page < 64; ++page) map(kData + page * kPage);
    for (std::uint64_t page = 0; page < 16; ++page) map(kBatch + page * kPage);
  }
  static constexpr std::uint64_t kData = 0x8000'0000'0000, kBatch = 0x8000'1000'0000;

  void map(std::uint64_t address) { map_page(tables, address, ++physical * kPage); }
  void put(std::uint64_t address, std::span<const std::uint32_t> words) {
    space.write(address, std::as_bytes(words), "a test");
  }
  /// Runs the words, with an end behind them; the text of what ended it early, or nothing.
  std::string run(std::initializer_list<std::uint32_t> words) {
    std::vector<std::uint32_t> all(words);
    all.push_back(0x0a << 23);
    put(kBatch, all);
    try {
      streamer.run_batch(kBatch);
    } catch (const Ended& ended) {
      return ended.text;
    }
    return {};
  }
  std::uint32_t word(std::uint64_t offset) { return space.read_word(kData + offset, "a test"); }
  std::uint64_t lengthy(std::uint64_t offset) { return space.read_long(kData + offset, "a test"); }

  Machine machine;
  Tables tables;
  Space space;
  Streamer streamer;
  std::uint64_t physical = 0;
};

}  // namespace kiln::simulator
