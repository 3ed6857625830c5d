// SPDX-License-Identifier: MIT
// The memory of one program's simulated GPU, by GPU virtual address, shared by all of its engines.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <unordered_map>

namespace kiln::simulator {

inline constexpr std::uint64_t kPage = 4096;
/// Below it the driver gives the GPU the program's own addresses; its heaps stand above. Source: GfxPartition
/// of driver 22.43, with 48 bits of address.
inline constexpr std::uint64_t kProgramEnd = std::uint64_t{1} << 47;

// Intel's driver uploads most allocations once, at their first submission, and downloads whole ones after
// waits. It tells nobody when the program changes memory in between, and a second engine never gets what it
// uploaded to the first: hardware needs neither, since there is one memory. So there is one here too: each
// page is kept once for all engines, what the GPU wrote is known by its bytes, and what the program has now
// in memory that it shares is read from the program itself before a submission uses it.
class Page {
 public:
  [[nodiscard]] std::byte* data() { return data_.data(); }

  /// What the program has for the page, wholly or in part: bytes that it changed are taken over, others keep
  /// what the GPU wrote.
  void take(std::size_t offset, std::span<const std::byte> bytes);
  /// The same, read from the process at that address; not while bytes are on their way there.
  void take_from(pid_t process, std::uint64_t address);
  /// The GPU writes from now on.
  void begin_write();
  /// The bytes for the program, which has them once arrived() was called.
  void give(std::size_t offset, std::span<std::byte> to);
  void arrived() { on_their_way_.fetch_sub(1); }

  [[nodiscard]] bool written() const { return written_.load(std::memory_order_acquire); }
  std::atomic<bool> of_program{false};       ///< the program has it at the same address
  std::atomic<std::uint32_t> generation{0};  ///< counts changes by the program; for caches of code

 private:
  friend class Memory;
  void merge(std::size_t offset, std::span<const std::byte> bytes);

  alignas(64) std::array<std::byte, kPage> data_{};
  std::mutex mutex_;
  std::unique_ptr<std::array<std::byte, kPage>> seen_;  ///< what the program has; once the GPU wrote
  std::atomic<bool> written_{false};
  std::atomic<std::uint32_t> given_{0}, on_their_way_{0};
  std::mutex refreshing_;
  std::atomic<std::uint32_t> refreshed_{0};  ///< the submission before which it was read from the program
};

/// Thread-safe.
class Memory {
 public:
  /// `process`: whose memory is shared; nothing: only what is uploaded is there.
  explicit Memory(std::optional<pid_t> process) : process_(process) {}

  /// The page of a virtual address, made where there was none; null when there are too many.
  [[nodiscard]] Page* page(std::uint64_t address);
  /// Null: no engine has the address.
  [[nodiscard]] Page* known_page(std::uint64_t address);
  /// What the driver uploads: at most to the end of the page. False: too much memory.
  [[nodiscard]] bool upload(std::uint64_t address, std::span<const std::byte> bytes);
  /// What the driver downloads: at most to the end of the page. Call arrived() of what it returns when the
  /// program has the bytes.
  [[nodiscard]] Page* download(std::uint64_t address, std::span<std::byte> to);
  /// Reads the page from the program, once a submission.
  void refresh(Page& page, std::uint64_t address);
  /// The same, whatever was read before.
  void refresh_now(Page& page, std::uint64_t address);
  /// Pages are read from the program anew.
  void begin_submission() { submission_.fetch_add(1); }

 private:
  std::optional<pid_t> process_;
  std::atomic<std::uint32_t> submission_{1};
  std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace kiln::simulator
