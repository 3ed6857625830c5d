// SPDX-License-Identifier: MIT
// Which engines of a program's GPU execute, so that what the program reads is what they have done.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

namespace kiln::simulator {

// The driver downloads allocations one after another, and the word that says that a launch is over among
// them, in an order of its own. If a launch ended in between, the program would see that word beside results
// from before the end. So nothing is given to the program while an engine has something to do, but for
// engines that wait for a word that the program itself may write. Thread-safe.
class Activity {
 public:
  /// Submissions that an engine has got, and has done.
  void begin() { change(1); }
  void end(std::uint64_t count = 1) { change(-static_cast<std::int64_t>(count)); }

  /// An engine that waits for a word in memory: look at it, and pause() while it is not the one.
  class Wait {
   public:
    explicit Wait(Activity& activity);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    /// For that long at most, or until somebody wants to know whether the word is there now.
    void pause(std::chrono::microseconds most);

   private:
    Activity& activity_;
    std::multiset<std::uint64_t>::iterator seen_;
    std::uint64_t looks_at_;  ///< what had been asked when the look began that is under way
  };

  /// Returns when no engine has anything to do but to wait, and each that waits has looked since this was
  /// called and since any other did something; or when `stop` is set.
  void settle(const std::atomic<bool>& stop);

 private:
  void change(std::int64_t submissions);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t submissions_ = 0;
  std::uint64_t asked_ = 0;            ///< counts what engines that wait must look for anew
  std::multiset<std::uint64_t> seen_;  ///< of each that waits: `asked_` before its last look
};

}  // namespace kiln::simulator
