// SPDX-License-Identifier: MIT
// Where the memory went: cards and who holds their memory, the host's memory, limits of a process, and
// causes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/allocation.hpp"
#include "kiln/diagnostic.hpp"

namespace kiln {

/// What a client has in one kind of memory, in bytes. The kernel driver xe names `vram0`, `gtt`, `system` and
/// `stolen`; i915 `local0`, `system0` (once `system`) and `stolen-…`.
/// Source: docs.kernel.org/gpu/drm-usage-stats.html, and the pages on i915 and xe beside it.
struct MemoryRegion {
  std::string name{};
  std::uint64_t total = 0;      ///< asked for, there or not
  std::uint64_t shared = 0;     ///< also in another client's total
  std::uint64_t resident = 0;   ///< there
  std::uint64_t purgeable = 0;  ///< may be taken away
  std::uint64_t active = 0;     ///< in use by an engine

  /// Memory of the card, as against memory of the host that the card reaches.
  [[nodiscard]] bool is_device_memory() const {
    return name.starts_with("vram") || name.starts_with("local");
  }
};

/// An open file of a card, counted once however many descriptors and processes share it.
struct MemoryClient {
  std::uint32_t process =
      0;                  ///< the first that was found with it, the one that was asked about before others
  std::string program{};  ///< of that process: /proc/PID/comm
  std::string card{};     ///< its PCI address, "0000:03:00.0"
  std::string driver{};   ///< the kernel driver: "xe", "i915"
  std::uint64_t id = 0;   ///< drm-client-id
  std::vector<MemoryRegion> regions{};

  [[nodiscard]] std::uint64_t device_memory() const;  ///< resident bytes
  [[nodiscard]] std::uint64_t host_memory() const;    ///< resident bytes of the host that the card reaches
};

/// A card of Intel's, by sysfs. What the kernel driver does not tell stays empty.
struct MemoryCard {
  std::string address{};                 ///< "0000:03:00.0"
  std::string driver{};                  ///< the kernel driver: "xe", "i915", or empty
  std::uint32_t device = 0;              ///< PCI device id
  std::uint64_t window = 0;              ///< bytes of the largest prefetchable BAR: what the host can reach
  std::optional<std::uint64_t> total{};  ///< bytes of its own memory
  std::optional<std::uint64_t> free{};   ///< bytes at the moment
};

/// A control group of the process, or one above it.
struct MemoryGroup {
  std::string path{};  ///< as in /proc/PID/cgroup
  std::uint32_t version = 2;
  std::optional<std::uint64_t> limit{};       ///< bytes; nothing: none
  std::uint64_t used = 0;                     ///< bytes
  std::uint64_t files = 0;                    ///< bytes of `used` that the kernel gives back: pages of files
  std::optional<std::uint64_t> swap_limit{};  ///< bytes; version 1: of memory and swap together
  std::uint64_t swap_used = 0;                ///< bytes, likewise

  /// A bound of device memory: the controller dmem, since Linux 6.14.
  struct DeviceBound {
    std::string region{};  ///< "drm/0000:03:00.0/vram0"
    std::uint64_t limit = 0, used = 0;
  };
  std::vector<DeviceBound> device_bounds{};

  /// Bytes until the limit; nothing where there is none.
  [[nodiscard]] std::optional<std::uint64_t> left() const;
};

/// The host's memory: /proc/meminfo. Bytes; 0 where it is not known.
struct HostMemory {
  std::uint64_t total = 0, available = 0, swap_total = 0, swap_free = 0;
  std::uint64_t commit_limit = 0, committed = 0;
  std::uint32_t overcommit =
      0;  ///< vm.overcommit_memory: 0 refuses what is obviously too much, 1 nothing, 2 counts
  std::optional<std::uint64_t> graphics_limit{};  ///< ttm.pages_limit: host memory of all cards together
  std::optional<std::uint64_t> graphics_pool{};   ///< ttm.page_pool_size: of it, what is kept for later
};

/// The limits of a process: /proc/PID/limits. Bytes; nothing: no limit, or not known.
struct ProcessLimits {
  std::optional<std::uint64_t> locked{}, address_space{}, data{};
  std::uint64_t addresses_used = 0;  ///< VmSize
  std::uint64_t locked_used = 0;     ///< VmLck
};

/// What Buffers own in this process.
struct OwnMemory {
  struct Kind {
    std::uint64_t bytes = 0, allocations = 0;
  };
  Kind device{}, host{}, shared{};
};

struct MemoryAccount {
  std::uint32_t process = 0;  ///< whose limits and groups these are
  std::string program{};
  std::vector<MemoryCard> cards{};
  std::vector<MemoryClient> clients{};  ///< those of `process` first
  std::vector<MemoryGroup> groups{};    ///< its own first, then those above it
  HostMemory host{};
  ProcessLimits limits{};
  OwnMemory own{};                     ///< of `process` where that is the calling one, else nothing
  std::uint64_t unread_processes = 0;  ///< whose clients this user may not see
  bool process_found = true;
  bool hides_processes = false;  ///< /proc is mounted so that only root sees those of others at all (hidepid)
};

struct MemoryAccountOptions {
  std::uint32_t process = 0;  ///< 0: the calling one
  /// Where proc and sys are; empty: what KILN_MEMORY_ROOT says, else "/".
  std::string root{};
};

/// Looks at this machine: some files for each process, so milliseconds where there are hundreds. What cannot
/// be read, or finds no memory, is left empty: it never fails. Thread-safe.
[[nodiscard]] MemoryAccount memory_account(const MemoryAccountOptions& options = {});

/// What was asked for when memory ran out, as far as it is known.
struct MemoryRequest {
  MemoryKind kind = MemoryKind::device;
  std::uint64_t size = 0;                ///< bytes; 0: not known
  std::string card{};                    ///< "0000:03:00.0"; empty: the only one of the account, else none
  std::uint64_t largest = 0;             ///< what one allocation can have; 0: not known
  std::optional<std::uint64_t> total{};  ///< memory of the device, by its driver
  std::optional<std::uint64_t> free{};   ///< of it, free at the moment, by its driver
  /// Its memory is the host's, by its driver; nothing: told by where the card stands.
  std::optional<bool> integrated{};
};

/// Why it would be refused, the most certain first: K0207, K0240 to K0249. An error is certain as far as the
/// numbers go; a warning stands in the way, and may not be the reason. Pure.
[[nodiscard]] std::vector<Diagnostic> memory_causes(const MemoryAccount& account,
                                                    const MemoryRequest& request);

/// The numbers that a refusal shows. Pure.
[[nodiscard]] std::vector<DiagnosticRow> memory_rows(const MemoryAccount& account,
                                                     const MemoryRequest& request);

/// All of it as one JSON object. Pure.
[[nodiscard]] std::string to_json(const MemoryAccount& account);

/// "11.9 GiB", "512 MiB", "17 B". Pure.
[[nodiscard]] std::string memory_size_text(std::uint64_t bytes);

}  // namespace kiln
