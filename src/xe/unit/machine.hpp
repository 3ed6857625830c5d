// SPDX-License-Identifier: MIT
// What an execution unit needs of the machine around it, and what it gives back: a work-group in, done or a
// fault out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>

#include "kiln/product.hpp"

namespace kiln::xe {

/// Host bytes from an address on, up to the end of what lies together.
struct Stretch {
  std::byte* data = nullptr;  ///< null: nothing is mapped there, or not for writing
  std::uint64_t size = 0;     ///< bytes; at least 1 where something is mapped
};

enum class SurfaceKind : std::uint8_t {
  table,     ///< index: an entry of the binding table (0 to 239)
  bindless,  ///< index: bytes from the base of bindless surface states to the state
  state,     ///< index: bytes from the base of surface states to the state (scratch on Xe-HP and later)
};

/// Of a buffer's surface state, what a message needs.
struct Surface {
  std::uint64_t base = 0, size = 0;  ///< GPU address, bytes; accesses behind it read 0 and write nothing
  std::uint32_t thread_bytes = 0;    ///< of a scratch surface: its pitch, one thread's share; else 0
  bool buffer = true;                ///< false: an image, or nothing: messages to it are refused
};

/// What messages reach. One for each walker; all functions are called from several threads at once.
class Bus {
 public:
  virtual ~Bus() = default;
  /// The page table's word for a GPU virtual address (48 bits used; sign extension is cut off).
  virtual Stretch reach(std::uint64_t address, bool write) = 0;
  /// Nothing: there is no such state. May be slow, as the unit keeps the answer for the work-group.
  virtual std::optional<Surface> surface(SurfaceKind kind, std::uint32_t index) = 0;
  /// What stateless messages with addresses of 32 bits count from, and scratch blocks of Xe-LP.
  virtual std::uint64_t general_state_base() = 0;
  /// Of tm0: ticks that grow.
  virtual std::uint64_t ticks() = 0;
};

/// A hardware thread, as it is dispatched.
struct ThreadStart {
  std::vector<std::byte> payload;   ///< register bytes from r0 on; the rest is Group::unwritten
  std::uint32_t dispatch_mask = 0;  ///< bit i: lane i is there
  std::uint32_t number = 0;         ///< of the thread in the machine: its share of a scratch surface
};

/// A work-group. Its memory belongs to the caller and is only read.
struct Group {
  std::uint32_t register_bytes = 32;  ///< 64 on Xe-HPC and later
  std::uint32_t registers = 128;      ///< or 256
  std::uint32_t slm_bytes = 0;        ///< as configured, after decoding; beyond it lies a fault
  std::uint32_t control =
      0;  ///< cr0.0 at the start: rounding in bits 4-5, denormals kept 6 (df), 7 (f), 10 (hf)
  std::uint8_t unwritten = 0;  ///< bytes that registers begin with, but those of a payload and of the machine
  std::span<const ThreadStart> threads{};
  std::uint64_t most_instructions = 0;  ///< of a thread, before it counts as hanging; 0: kMostInstructions
  /// A thread that runs at this time ends, a little later.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};
inline constexpr std::uint64_t kMostInstructions = 4'000'000'000;

/// Bytes of a register: 64 on Xe-HPC and later. Pure.
[[nodiscard]] std::uint32_t register_bytes_of(const Target& target);

/// Why a group ended early. `text` is a sentence that has all of the rest.
struct Fault {
  enum class Kind : std::uint8_t {
    unknown,  ///< an instruction or message that the unit does not have
    memory,   ///< nothing is mapped at an address, or it lies beyond the SLM
    hang,     ///< too many instructions, or a barrier that not all threads reach
    code,     ///< no instruction, or a jump to where none is
  } kind = Kind::unknown;
  std::string text;
  std::uint64_t offset = 0;  ///< of the instruction, bytes from the start of the code
  std::string disassembly;
  std::uint32_t thread = 0;   ///< of the group
  int lane = -1;              ///< -1: none in particular
  std::uint64_t address = 0;  ///< of the memory, where that is the reason
};

/// What was executed, by the instruction's offset in bytes. Belongs to one thread at a time; merge at the
/// end.
struct Counts {
  struct Each {
    std::uint64_t executed = 0, lanes = 0;   ///< times; active lanes together
    std::uint64_t bytes = 0;                 ///< that were moved between registers and memory
    std::uint64_t lines = 0;                 ///< cache lines of 64 bytes that messages touched, but for SLM
    std::uint64_t turns = 0, conflicts = 0;  ///< of SLM's banks; those beyond what the words need
  };
  std::unordered_map<std::uint64_t, Each> at;
  void merge(const Counts& other);
};

/// A kernel's code, decoded along its control flow. Never changes; thread-safe.
class Code {
 public:
  /// `bytes` may go on behind the program's end: what no jump reaches is not looked at. `entry`: bytes from
  /// their start to the first instruction. What cannot be decoded is a fault only when it is executed, but no
  /// libiga64, or one that does not know the product, is an error at once (its text).
  [[nodiscard]] static tl::expected<std::shared_ptr<const Code>, std::string> decode(
      const Target& target, std::span<const std::byte> bytes, std::uint64_t entry);
  ~Code();
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  /// Whether `bytes` begin with the same instructions, as far as this code looked at them.
  [[nodiscard]] bool matches(std::span<const std::byte> bytes, std::uint64_t entry) const;
  struct Body;
  [[nodiscard]] const Body& body() const { return *body_; }

 private:
  explicit Code(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

/// The last codes, by content. Thread-safe.
class CodeCache {
 public:
  [[nodiscard]] tl::expected<std::shared_ptr<const Code>, std::string> get(const Target& target,
                                                                           std::span<const std::byte> bytes,
                                                                           std::uint64_t entry);

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Code>> codes_;  // the oldest first
  std::size_t ops_ = 0;                             // of all of them
};

/// Runs a work-group to its end. Several threads may run groups of one code at once, each with its own
/// `counts` (null: nothing is counted). Nothing: done.
[[nodiscard]] std::optional<Fault> run_group(const Code& code, const Group& group, Bus& bus,
                                             Counts* counts = nullptr);

}  // namespace kiln::xe
