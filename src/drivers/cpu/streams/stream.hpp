// SPDX-License-Identifier: MIT
// An ordered stream of commands: the engine behind a command queue or an immediate command list.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "drivers/cpu/settings/fault.hpp"
#include "drivers/cpu/streams/command.hpp"
#include "drivers/cpu/streams/order.hpp"
#include "drivers/cpu/streams/progress.hpp"

namespace kiln::cpu {

/// Commands run one after another, when shuffled in another order than they came in, on a thread of the
/// stream's own that starts with the first command, or, when synchronous, on the submitting thread.
/// Thread-safe.
class Stream {
 public:
  Stream(LossesBefore losses, bool synchronous,
         ze_command_queue_priority_t priority = ZE_COMMAND_QUEUE_PRIORITY_NORMAL, bool shuffled = false);
  /// Lets submitted work finish, but gives up on events that nobody has signalled and on all that comes
  /// after.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Lets submitted work finish, as the destructor does, for so long (ns). False: a kernel still runs, and
  /// the stream must stay; it takes no more commands.
  [[nodiscard]] bool stop(std::uint64_t timeout_ns);

  /// An empty command to fill and submit, or to give back.
  [[nodiscard]] Command* acquire();
  void give_back(Command* command);

  /// Takes the command over. Synchronous streams return when it is done, with its result.
  [[nodiscard]] ze_result_t submit(Command* command);

  /// Waits for all that was submitted before the call: NOT_READY when the timeout (ns) ends first, else the
  /// first failure since the last call, with its text as this thread's last error. A kernel that hangs is
  /// DEVICE_LOST; what comes behind it runs.
  [[nodiscard]] ze_result_t synchronize(std::uint64_t timeout_ns);

  /// Runs one command on the calling thread, which is the stream's: waits, does, signals.
  /// DEVICE_LOST when the stream is being destroyed while the command waits.
  [[nodiscard]] ze_result_t run(const Command& command);

  /// Runs commands of one list on the calling thread, which is the stream's: they start as they stand, each
  /// when its events are signalled, and of those that have started any may end first. `done` hears of each
  /// one that ended. The first failure; DEVICE_LOST at once when the stream is being destroyed while a
  /// command waits.
  using Done = std::function<void(std::size_t)>;
  [[nodiscard]] ze_result_t run_unordered(std::span<const Command* const> commands, const Done& done);
  [[nodiscard]] const LossesBefore& losses() const { return losses_; }  ///< of the device, before its context
  [[nodiscard]] bool stopping() const { return stop_.load(std::memory_order_relaxed); }

 private:
  void work();
  void work_until_stopped();
  void work_unordered();
  void note(ze_result_t result);
  [[nodiscard]] ze_result_t run_started(const Command& command);
  [[nodiscard]] ze_result_t run_here(Command* command);
  [[nodiscard]] ze_result_t run_without_thread(Command* command);
  [[nodiscard]] bool start_thread();  ///< under the lock
  [[nodiscard]] ze_result_t perform(const Command& command);
  bool wait_for(const EventRef& event);

  const LossesBefore losses_;
  const bool synchronous_, shuffled_;
  const ze_command_queue_priority_t priority_;
  std::shared_ptr<Progress> progress_;
  std::mutex mutex_;  // guards what follows, up to the blank line
  std::condition_variable arrived_;
  std::condition_variable over_;
  bool ended_ = false;  ///< the thread has done its last command
  Command* first_ = nullptr;
  Command* last_ = nullptr;
  Command* spare_ = nullptr;
  Held::Moment held_since_ = 0;  // shuffled: when first_ arrived
  EventRef waiting_for_;
  std::thread thread_;
  std::string failure_text_;  // the last error's text for failure_

  Shuffle shuffle_;
  std::mutex run_mutex_;  // synchronous: one command at a time
  std::atomic<bool> stop_ = false;
  std::atomic<ze_result_t> failure_ = ZE_RESULT_SUCCESS;
};

/// Of all streams that may have work in flight.
[[nodiscard]] std::vector<std::shared_ptr<Progress>> all_progress();

}  // namespace kiln::cpu
