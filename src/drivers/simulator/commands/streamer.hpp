// SPDX-License-Identifier: MIT
// A command streamer: executes what the driver put into the ring and into batch buffers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/simulator/commands/commands.hpp"
#include "drivers/simulator/commands/registers.hpp"
#include "drivers/simulator/groups/walker.hpp"
#include "drivers/simulator/machine.hpp"
#include "drivers/simulator/memory/space.hpp"

namespace kiln::simulator {

/// A submission's part of the ring.
struct Submission {
  std::uint64_t ring = 0;  ///< global address
  std::uint32_t size = 0;  ///< bytes of the ring
  std::uint32_t head = 0, tail = 0;
  std::uint64_t root = 0;  ///< of the page tables
};

/// Of one engine. What was set stays for later submissions. Bound to a thread; throws Ended.
class Streamer {
 public:
  /// `base`: the engine's register block.
  Streamer(Machine& machine, Tables& tables, std::uint32_t base)
      : machine_(machine), space_(tables), registers_(base) {}

  void run(const Submission& submission);
  /// Where it is set, a command that fails ends no submission: it is told here, and from then on nothing is
  /// executed but what tells the driver that it need not wait.
  std::function<void(const std::string&)> on_fault;

  /// A batch buffer by itself, for tests.
  void run_batch(std::uint64_t address);

 private:
  using Words = std::span<const std::uint32_t>;
  /// Executes a batch to its end; `level` counts the batches around it.
  void batch(std::uint64_t address, unsigned level);
  [[nodiscard]] Words fetch(std::uint64_t address, KnownCommand& command);
  /// All but starts and ends of batches.
  void execute(const KnownCommand& command, Words words);
  void execute_or_tell(const KnownCommand& command, Words words);
  void count_command();

  // streamer_mi.cpp
  void math(Words words);
  void semaphore_wait(Words words);
  void store_immediate(Words words);
  void load_registers(Words words);
  void flush(Words words);
  void atomic(Words words);
  void pipe_control(Words words);
  void l3_control(Words words);

  // streamer_compute.cpp
  void base_address(Words words);
  void media_walker(Words words);
  void compute_walker(Words words);
  [[nodiscard]] bool skipped(std::uint32_t first_word) const;
  void dimensions(Words words, unsigned x, unsigned y, unsigned z, Walk& walk) const;
  void bases(Walk& walk, std::uint32_t table) const;
  void post_sync(Words words, std::uint64_t start);

  // streamer_copy.cpp
  void block_copy(Words words);
  void fast_fill(Words words);
  void memory_copy(Words words);
  void memory_fill(Words words);

  Machine& machine_;
  Space space_;
  Registers registers_;
  std::array<std::uint32_t, 1024 + 2> words_{};
  std::uint64_t commands_ = 0;  ///< of this submission
  bool lost_ = false;           ///< a command failed
  bool noop_ = false;           ///< MI_SET_PREDICATE: commands are not executed

  struct {
    std::uint64_t general = 0, surface = 0, dynamic = 0, indirect = 0, instruction = 0, bindless = 0;
    std::uint64_t tables = 0;  ///< of binding tables, where they have a pool
    bool pool = false;
  } base_;
  std::uint64_t descriptors_ = 0;  ///< Xe-LP: address of the interface descriptors
  std::uint32_t scratch_ = 0;      ///< word 1 of MEDIA_VFE_STATE or CFE_STATE
  bool many_registers_ = false;    ///< 256
};

}  // namespace kiln::simulator
