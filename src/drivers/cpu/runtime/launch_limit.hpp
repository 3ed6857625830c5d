// SPDX-License-Identifier: MIT
// Ends launches that take too long, also in the middle of an endless kernel.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>

namespace kiln::cpu {

struct Context;

/// The time that one launch may take. When it is over, the threads that run its kernel are interrupted (with
/// SIGURG, whose handler is set then and passes on what is not its own) wherever they are in compiled code,
/// and leave the kernel for where it was called: compiled code holds nothing that must be given back.
class LaunchLimit {
 public:
  explicit LaunchLimit(std::chrono::nanoseconds limit);  ///< 0: none
  ~LaunchLimit();
  LaunchLimit(const LaunchLimit&) = delete;
  LaunchLimit& operator=(const LaunchLimit&) = delete;

  [[nodiscard]] bool set() const { return deadline_ != Clock::time_point::max(); }
  /// The kernel is to be called no more.
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_relaxed); }

  /// Around the work of one thread on the launch.
  class Thread {
   public:
    explicit Thread(LaunchLimit& limit);
    ~Thread();
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

   private:
    LaunchLimit& limit_;
    sigset_t mask_{};  ///< the thread's own
  };

 private:
  using Clock = std::chrono::steady_clock;
  friend class Watchdog;
  const Clock::time_point deadline_;
  std::atomic<bool> over_ = false;
};

/// Around a call of compiled code on another stack than the thread's own: where an interrupted kernel is left
/// for.
class Home {
 public:
  explicit Home(Context& home);
  ~Home();
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
};

}  // namespace kiln::cpu
