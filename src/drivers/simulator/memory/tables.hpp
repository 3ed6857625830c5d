// SPDX-License-Identifier: MIT
// What one engine sees of memory: its global and per-process page tables, as the driver writes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <unordered_map>

#include "drivers/simulator/memory/memory.hpp"

namespace kiln::simulator {

// Physical addresses are the engine's own. Driver 22.43 writes page-table entries one by one, as 8 bytes, at
// addresses that follow from the virtual address: level 4 from 2^29 on, 3 from 2^30, 2 from 2^31, and 1,
// whose entries name the pages, from 2^32. Source: PageTableTraits<48>, aub_mem_dump.cpp of 22.43.24595.35.
// Pages are numbered upwards from 1, so that data of 512 MiB and more would lie where the tables do: they are
// kept apart.
inline constexpr std::uint64_t kLevel4 = std::uint64_t{1} << 29;
inline constexpr std::uint64_t kLevel1 = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kLevel1End = kLevel1 + (std::uint64_t{8} << 36);

/// One engine's. Thread-safe.
class Tables {
 public:
  explicit Tables(Memory& memory) : memory_(memory) {}

  /// At most to the end of the page, but for a table's entry. Error: too much memory.
  [[nodiscard]] tl::expected<void, std::string> write(std::uint64_t physical,
                                                      std::span<const std::byte> bytes, bool whole);
  /// At most to the end of the page. What was given to the program, for arrived(); null: nothing of it.
  [[nodiscard]] Page* read(std::uint64_t physical, std::span<std::byte> to);
  /// Did the driver ever say what the physical page is?
  [[nodiscard]] bool knows(std::uint64_t physical);
  /// It is the program's own memory at this address.
  void name(std::uint64_t physical, std::uint64_t address);
  void write_gtt(std::uint64_t index, std::uint64_t entry);
  /// Where the tables of the engine's context start; from its image.
  void set_root(std::uint64_t physical);

  /// The page of a virtual address, with what the program has now; null: not mapped, or not for writing.
  [[nodiscard]] Page* find(std::uint64_t address, bool write);
  /// The page of a global address; made by the driver's writes. Null: not mapped.
  [[nodiscard]] std::byte* find_global(std::uint64_t address);
  [[nodiscard]] Memory& memory() { return memory_; }

 private:
  struct Leaf {
    Page* page;
    bool writable;
  };
  [[nodiscard]] std::optional<std::uint64_t> entry(std::uint64_t table, std::uint64_t index) const;

  Memory& memory_;
  std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<std::array<std::uint64_t, 512>>> tables_;
  std::unordered_map<std::uint64_t, std::uint64_t> virtual_pages_;  ///< of a physical page
  std::unordered_map<std::uint64_t, std::unique_ptr<std::array<std::byte, kPage>>> own_;  ///< in no table
  std::unordered_map<std::uint64_t, std::uint64_t> gtt_;
  std::unordered_map<std::uint64_t, Leaf> found_;
  std::uint64_t root_ = 0;
};

}  // namespace kiln::simulator
