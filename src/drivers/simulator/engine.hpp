// SPDX-License-Identifier: MIT
// One engine of a simulated GPU: what its connection brings, and a thread that executes what was submitted.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "drivers/simulator/commands/streamer.hpp"
#include "drivers/simulator/machine.hpp"
#include "drivers/simulator/memory/tables.hpp"
#include "drivers/simulator/wire.hpp"

namespace kiln::simulator {

/// What is told when a submission ends early: a sentence without a period. `stuck`: the driver waits for
/// ever.
using FaultHandler = std::function<void(const std::string&, bool stuck)>;

/// For the connection's thread.
class Engine {
 public:
  /// `after_fault`: submissions go on behind a fault, but for walkers, copies and waits.
  Engine(std::shared_ptr<Machine> machine, bool after_fault, FaultHandler on_fault)
      : machine_(std::move(machine)),
        tables_(machine_->memory),
        reader_(machine_->arrivals),
        after_fault_(after_fault),
        on_fault_(std::move(on_fault)) {}
  /// Waits for the submission that is executed; set Machine::stop before, where the program is gone.
  ~Engine();

  void write_register(std::uint32_t offset, std::uint32_t value);
  [[nodiscard]] std::uint32_t read_register(std::uint32_t offset);
  [[nodiscard]] Tables& tables() { return tables_; }
  [[nodiscard]] Arrivals::Reader& reader() { return reader_; }
  /// For an answer: returns when what was submitted to any engine of the program is done, as far as it can
  /// be.
  void settle() {
    const Arrivals::Nothing comes(reader_);
    reader_.catch_up(machine_->stop);
    machine_->activity.settle(machine_->stop);
  }

 private:
  void submit(std::uint32_t base);
  void serve();

  std::shared_ptr<Machine> machine_;
  Tables tables_;
  Arrivals::Reader reader_;
  bool after_fault_;
  FaultHandler on_fault_;
  std::unordered_map<std::uint32_t, std::uint32_t> registers_;
  std::unordered_map<std::uint64_t, std::uint32_t> heads_;  ///< of the ring of a context image
  std::unique_ptr<Streamer> streamer_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Submission> waiting_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace kiln::simulator
