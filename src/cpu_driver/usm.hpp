// SPDX-License-Identifier: MIT
// The registry of USM allocations: who owns an address, how much is in use, and freeing under running work.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "abi.hpp"
#include "progress.hpp"

namespace kiln::cpu {

struct Allocation {
  std::uintptr_t base = 0;
  std::size_t size = 0;
  ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
  std::uint64_t id = 0;
  bool lent = false;  ///< not the registry's to free
};

/// Thread-safe.
class Usm {
 public:
  /// Null when the host has no more, or when all live allocations together would exceed `total`.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment, ze_memory_type_t type,
                               std::uint64_t total);

  /// Makes memory of somebody else known, such as a variable of a module, until `forget`.
  void lend(void* base, std::size_t size);
  void forget(void* base);

  /// False: no allocation starts there. Memory that running work may use is freed when that work is done.
  bool free(void* base);

  /// As free, but returns only after the work that was submitted before.
  bool free_after_work(void* base);

  /// The allocation that holds the address.
  [[nodiscard]] std::optional<Allocation> find(const void* address) const;

  /// Changes with every free, so that a caller may remember that an address was good.
  [[nodiscard]] std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Bytes allocated and not yet given back to the host.
  [[nodiscard]] std::uint64_t live_bytes() const { return live_.load(std::memory_order_relaxed); }

  /// Gives back what no work uses any more.
  void collect();

 private:
  struct Zombie {
    Allocation allocation;
    std::vector<std::pair<std::shared_ptr<Progress>, std::uint64_t>>
        users;  // stream, count that must be completed
  };
  [[nodiscard]] std::optional<Allocation> remove(void* base, bool lent);
  void release(const Allocation& allocation);

  mutable std::shared_mutex mutex_;
  std::map<std::uintptr_t, Allocation> live_by_base_;
  std::uint64_t next_id_ = 1;
  std::mutex zombies_mutex_;
  std::vector<Zombie> zombies_;
  std::atomic<bool> has_zombies_ = false;
  std::atomic<std::uint64_t> generation_ = 1;
  std::atomic<std::uint64_t> live_ = 0;
};

/// The registry of the process.
[[nodiscard]] Usm& usm();

}  // namespace kiln::cpu
