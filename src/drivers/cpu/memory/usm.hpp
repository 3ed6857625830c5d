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

#include "drivers/cpu/api/abi.hpp"
#include "drivers/cpu/memory/exported_file.hpp"
#include "drivers/cpu/streams/progress.hpp"

namespace kiln::cpu {

class Device;

/// What an allocation is asked for. Sizes in bytes.
struct AllocationRequest {
  std::size_t size = 0;
  std::size_t alignment = 0;  ///< a power of two
  ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
  Device* device = nullptr;  ///< null: the host's
  std::uint64_t total = 0;   ///< what all live allocations may take together
};

/// Pages of the host between guard pages. What a kernel writes a little beyond the end falls into padding,
/// what it writes further ends the process, and neither reaches memory of somebody else.
class Pages {
 public:
  Pages() = default;
  /// Empty when the host has no more.
  Pages(std::size_t size, std::size_t alignment);
  explicit Pages(Mapping mapping) : whole_(std::move(mapping)), base_(whole_.get()) {}
  Pages(Pages&& other) noexcept { *this = std::move(other); }
  Pages& operator=(Pages&& other) noexcept;
  ~Pages();
  [[nodiscard]] void* base() const { return base_; }
  /// Bytes from the base that may be used, padding included.
  [[nodiscard]] std::size_t room() const;

 private:
  Mapping whole_;
  void* base_ = nullptr;
  bool guarded_ = false;
};

struct Allocation {
  std::uintptr_t base = 0;
  std::size_t size = 0;
  ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
  std::uint64_t id = 0;
  Device* device = nullptr;  ///< null: the host's
  bool read_only = false;    ///< a store would end the process
};

/// Memory of somebody else. Sizes in bytes.
struct LentMemory {
  void* base = nullptr;
  std::size_t size = 0;
  ze_memory_type_t type = ZE_MEMORY_TYPE_DEVICE;
  Device* device = nullptr;
  bool read_only = false;
};

/// Thread-safe.
class Usm {
 public:
  /// Null when the host has no more, or when all live allocations together would exceed `request.total`.
  [[nodiscard]] void* allocate(const AllocationRequest& request);

  /// Makes memory of somebody else known, such as a variable of a module, until `forget` was called as often.
  void lend(const LentMemory& memory);
  void forget(void* base);

  /// Makes an allocation one that other processes can open, after the work that was submitted before.
  /// Results: INVALID_ARGUMENT no allocation of this process is there; OBJECT_IN_USE work on it does not end;
  /// lack of memory.
  [[nodiscard]] ze_result_t share(const void* address, SharedHandle& handle);
  /// Takes over memory of another process; `close_imported` lets it go.
  void import(Mapping mapping, std::size_t size, Device* device);
  bool close_imported(void* base);
  /// Takes over memory behind a descriptor; `free` lets it go.
  void import_file(Mapping mapping, std::size_t size, Device* device);
  /// Takes memory of the application for memory of the host, until `free` or `give_back`, which takes no
  /// other. False: some of it is known here.
  [[nodiscard]] bool borrow(void* base, std::size_t size);
  bool give_back(void* base);

  /// False: no allocation starts there. Memory that running work may use is freed when that work is done.
  bool free(void* base);

  /// As free, but returns only after the work that was submitted before.
  bool free_after_work(void* base);

  /// The allocation that holds the address.
  [[nodiscard]] std::optional<Allocation> find(const void* address) const;

  /// False: the address is in memory that is there to be read alone.
  [[nodiscard]] bool may_write(const void* address) const;

  /// What zeMemSetAtomicAccessAttributeExp said of the memory on that device, 0 before; it changes nothing.
  /// False, nothing: no allocation holds the range.
  [[nodiscard]] bool set_atomics(const void* address, std::size_t size, const Device* device,
                                 std::uint32_t flags);
  [[nodiscard]] std::optional<std::uint32_t> atomics(const void* address, std::size_t size,
                                                     const Device* device) const;

  /// Changes with every free, so that a caller may remember that an address was good.
  [[nodiscard]] std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// Bytes allocated and not yet given back to the host.
  [[nodiscard]] std::uint64_t live_bytes() const { return live_.load(std::memory_order_relaxed); }
  /// Counts memory that lies elsewhere; false, and nothing is counted: it would exceed `total`.
  [[nodiscard]] bool count(std::uint64_t bytes, std::uint64_t total);
  void uncount(std::uint64_t bytes) { live_.fetch_sub(bytes); }

  /// Gives back what no work uses any more.
  void collect();

 private:
  enum class Owner : std::uint8_t { registry, lender, other_process, descriptor, application };
  struct Entry {
    Allocation allocation;
    Owner owner = Owner::registry;
    Pages pages;
    std::unique_ptr<ExportedFile> shared;
    std::vector<std::pair<const Device*, std::uint32_t>> atomics;  ///< as set
    std::uint32_t holders = 1;                                     ///< how often it was lent
  };
  struct Zombie {
    Entry entry;
    std::vector<std::pair<std::shared_ptr<Progress>, std::uint64_t>>
        users;  // stream, count that must be completed
  };
  using Entries = std::map<std::uintptr_t, Entry>;
  [[nodiscard]] Entries::const_iterator entry_of(const void* address) const;  ///< under the lock; or end
  [[nodiscard]] std::optional<Entry> remove(void* base, Owner owner);
  /// Of what zeMemFree takes.
  [[nodiscard]] std::optional<Entry> remove_freed(void* base);
  bool free_later(std::optional<Entry> entry);
  void add_imported(Mapping mapping, std::size_t size, Device* device, Owner owner);
  void release(Entry entry);

  mutable std::shared_mutex mutex_;
  Entries live_by_base_;
  std::uint64_t next_id_ = 1;
  std::mutex zombies_mutex_;
  std::vector<Zombie> zombies_;
  std::atomic<bool> has_zombies_ = false;
  std::atomic<bool> has_read_only_ = false;  ///< from the first on
  std::atomic<std::uint64_t> generation_ = 1;
  std::atomic<std::uint64_t> live_ = 0;
};

/// The registry of the process.
[[nodiscard]] Usm& usm();

}  // namespace kiln::cpu
