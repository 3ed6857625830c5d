// SPDX-License-Identifier: MIT
// Memory as a work-group's messages reach it: the bus with a look-aside table, shared local memory, surfaces.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "xe/unit/machine.hpp"

namespace kiln::xe {

/// Of one work-group: belongs to one host thread.
class Memory {
 public:
  Memory(Bus& bus, std::uint32_t slm_bytes) : bus_(bus), slm_(slm_bytes) {}
  [[nodiscard]] Bus& bus() { return bus_; }
  [[nodiscard]] std::span<std::byte> slm() { return slm_; }
  [[nodiscard]] std::uint64_t general_state_base();
  /// Null: there is none. Kept for the work-group's life.
  [[nodiscard]] const Surface* surface(SurfaceKind kind, std::uint32_t index);

  /// Host bytes of `size` bytes that lie together; null: nothing is mapped, or they lie on two pages.
  [[nodiscard]] std::byte* reach(std::uint64_t address, std::uint32_t size, bool write) {
    address &= kAddressBits;
    const std::uint64_t page = address >> kPageShift, within = address & (kPageBytes - 1);
    const Entry& entry = table_[write][page % kEntries];
    if (entry.page == page && within + size <= kPageBytes) return entry.data + within;
    return reach_slowly(address, size, write);
  }
  /// False: nothing is mapped somewhere in it, and `at` is where.
  [[nodiscard]] bool read(std::uint64_t address, void* to, std::uint32_t size, std::uint64_t& at);
  [[nodiscard]] bool write(std::uint64_t address, const void* from, std::uint32_t size, std::uint64_t& at);

 private:
  static constexpr std::uint32_t kPageShift = 12, kEntries = 256;
  static constexpr std::uint64_t kPageBytes = 1 << kPageShift, kAddressBits = (1ULL << 48) - 1;
  struct Entry {
    std::uint64_t page = UINT64_MAX;
    std::byte* data = nullptr;
  };
  std::byte* reach_slowly(std::uint64_t address, std::uint32_t size, bool write);

  Bus& bus_;
  std::vector<std::byte> slm_;
  std::array<std::array<Entry, kEntries>, 2> table_{};
  std::map<std::pair<SurfaceKind, std::uint32_t>, std::optional<Surface>> surfaces_;
  std::optional<std::uint64_t> base_;
};

}  // namespace kiln::xe
