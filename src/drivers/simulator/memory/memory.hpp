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
  /// `in_use` counts pages that have bytes.
  explicit Page(std::atomic<std::size_t>& in_use) : in_use_(in_use) {}

  /// Once it was uploaded or refreshed; it may be given back when a submission begins.
  [[nodiscard]] std::byte* data() { return data_->data(); }

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
  std::atomic<bool> of_program{false};  ///< the program has it at the same address

 private:
  friend class Memory;
  using Bytes = std::array<std::byte, kPage>;
  void merge(std::size_t offset, std::span<const std::byte> bytes);
  /// Zeros where it had none, or no more.
  Bytes& bytes();
  void have_bytes();
  /// Gives its bytes back where the program has the same ones, or has the page no more.
  void give_back(pid_t process, std::uint64_t address);

  std::atomic<std::size_t>& in_use_;
  std::mutex mutex_;
  std::unique_ptr<Bytes> data_;
  std::unique_ptr<Bytes> seen_;  ///< what the program has; once the GPU wrote
  std::atomic<bool> written_{false};
  std::atomic<std::uint32_t> given_{0}, on_their_way_{0};
  std::mutex refreshing_;
  std::atomic<std::uint32_t> refreshed_{0};  ///< the submission before which it was read from the program
};

/// Thread-safe.
class Memory {
 public:
  /// `process`: whose memory is shared; nothing: only what is uploaded is there. `least_in_use`: pages, up to
  /// which nothing is given back.
  explicit Memory(std::optional<pid_t> process, std::size_t least_in_use = 4096)
      : process_(process), least_in_use_(least_in_use), give_back_above_(least_in_use) {}

  /// The page of a virtual address, made where there was none; null when there are too many.
  [[nodiscard]] Page* page(std::uint64_t address);
  /// Null: no engine has the address.
  [[nodiscard]] Page* known_page(std::uint64_t address);
  /// The program has the page of this address itself, and it may be downloaded though nobody uploaded it.
  /// False: another memory has that address here, or there is too much memory.
  [[nodiscard]] bool share(std::uint64_t address);
  /// What the driver uploads: at most to the end of the page. False: too much memory.
  [[nodiscard]] bool upload(std::uint64_t address, std::span<const std::byte> bytes);
  /// What the driver downloads: at most to the end of the page. Call arrived() of what it returns when the
  /// program has the bytes.
  [[nodiscard]] Page* download(std::uint64_t address, std::span<std::byte> to);
  /// Reads the page from the program, once a submission.
  void refresh(Page& page, std::uint64_t address);
  /// The same, whatever was read before.
  void refresh_now(Page& page, std::uint64_t address);
  /// Pages are read from the program anew. What is in use stays where it is while the answer is held; before,
  /// pages that the program has itself may be given back, since the driver never says what it frees.
  [[nodiscard]] std::shared_lock<std::shared_mutex> begin_submission();
  /// Pages that have bytes.
  [[nodiscard]] std::size_t pages_in_use() const { return in_use_.load(); }

 private:
  void give_back();

  std::optional<pid_t> process_;
  std::atomic<std::uint32_t> submission_{1};
  std::atomic<std::size_t> in_use_{0};
  const std::size_t least_in_use_;
  std::atomic<std::size_t> give_back_above_;  ///< pages in use
  std::shared_mutex mutex_, submitting_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace kiln::simulator
