// SPDX-License-Identifier: MIT
// A thread that watches deadlines, and the handler that leaves a kernel.
#include "drivers/cpu/runtime/launch_limit.hpp"

#include <pthread.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "drivers/cpu/program.hpp"
#include "drivers/cpu/runtime/code_ranges.hpp"
#include "drivers/cpu/runtime/fibers/fiber_switch.hpp"

namespace kiln::cpu {
namespace {

// Ignored unless someone handles it, and means little to those who do.
constexpr int kSignal = SIGURG;
// Between two tries: a thread may be in a function of the host each time.
constexpr auto kRetry = std::chrono::milliseconds(1);

// Volatile, since the handler reads them between any two instructions of this thread; in the thread's first
// block, since a handler must not make another.
#define KILN_IN_FIRST_BLOCK __attribute__((tls_model("initial-exec")))
thread_local LaunchLimit* volatile limit_of_thread KILN_IN_FIRST_BLOCK = nullptr;
thread_local Context* volatile home_of_thread KILN_IN_FIRST_BLOCK = nullptr;

struct sigaction before;  // the application's handler

[[noreturn]] void leave_kernel() {
  Context gone;  // never come back to
  switch_to(gone, *home_of_thread, true);
  std::abort();
}

void pass_on(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0)
    before.sa_sigaction(signal, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(signal);
}

void interrupt(int signal, siginfo_t* info, void* context) {
  const LaunchLimit* limit = limit_of_thread;
  if (limit == nullptr || !limit->over()) return pass_on(signal, info, context);
#if defined(__x86_64__)
  constexpr greg_t kRedZone = 128;      // bytes below the stack pointer that are in use
  constexpr greg_t kDirection = 0x400;  // flag; functions begin with it clear
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (home_of_thread == nullptr || !is_program_code(static_cast<std::uintptr_t>(registers[REG_RIP]))) return;
  registers[REG_RSP] = ((registers[REG_RSP] - kRedZone) & ~greg_t{15}) - 8;  // as behind a call
  registers[REG_RIP] = reinterpret_cast<greg_t>(&leave_kernel);
  registers[REG_EFL] &= ~kDirection;
#endif
}

}  // namespace

bool can_limit_launches() {
#if defined(__x86_64__) && !defined(KILN_FIBERS_TSAN)
  return true;
#else
  return false;  // the thread sanitizer holds signals back
#endif
}

/// Never destroyed, as the pool's threads.
class Watchdog {
 public:
  static Watchdog& instance() {
    static auto* const dog = new Watchdog;
    return *dog;
  }

  void add(LaunchLimit& limit) {
    const std::lock_guard lock(mutex_);
    limits_.push_back(&limit);
    changed_.notify_one();
  }
  void remove(LaunchLimit& limit) {
    const std::lock_guard lock(mutex_);
    std::erase(limits_, &limit);
  }
  void enter(LaunchLimit& limit) {
    const std::lock_guard lock(mutex_);
    inside_.push_back({&limit, pthread_self()});
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    std::erase_if(inside_,
                  [](const Inside& each) { return pthread_equal(each.thread, pthread_self()) != 0; });
  }

 private:
  struct Inside {
    LaunchLimit* limit;
    pthread_t thread;
  };

  Watchdog() {
    sigset_t all, own;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &own);  // none of the application's handlers runs on it
    std::thread([this] { watch(); }).detach();
    pthread_sigmask(SIG_SETMASK, &own, nullptr);
  }

  void watch() {
    pthread_setname_np(pthread_self(), "kiln-cpu-limit");
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto now = LaunchLimit::Clock::now();
      auto next = LaunchLimit::Clock::time_point::max();
      for (LaunchLimit* limit : limits_) {
        if (limit->deadline_ <= now) end(*limit);
        next = std::min(next, limit->deadline_ <= now ? now + kRetry : limit->deadline_);
      }
      if (limits_.empty())
        changed_.wait(lock);
      else
        changed_.wait_until(lock, next);
    }
  }

  void end(LaunchLimit& limit) {
    if (!handles_) {
      struct sigaction action {};
      action.sa_sigaction = interrupt;
      action.sa_flags = SA_SIGINFO | SA_RESTART;
      sigfillset(&action.sa_mask);
      sigaction(kSignal, &action, &before);
      handles_ = true;
    }
    limit.over_ = true;
    for (const Inside& each : inside_)
      if (each.limit == &limit) pthread_kill(each.thread, kSignal);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<LaunchLimit*> limits_;
  std::vector<Inside> inside_;
  bool handles_ = false;
};

LaunchLimit::LaunchLimit(std::chrono::nanoseconds limit)
    : deadline_(limit.count() == 0 || !can_limit_launches() ? Clock::time_point::max()
                                                            : Clock::now() + limit) {
  if (set()) Watchdog::instance().add(*this);
}

LaunchLimit::~LaunchLimit() {
  if (set()) Watchdog::instance().remove(*this);
}

LaunchLimit::Thread::Thread(LaunchLimit& limit) : limit_(limit) {
  if (!limit_.set()) return;
  limit_of_thread = &limit;
  Watchdog::instance().enter(limit);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, kSignal);
  pthread_sigmask(SIG_UNBLOCK, &signals, &mask_);
}

LaunchLimit::Thread::~Thread() {
  if (!limit_.set()) return;
  Watchdog::instance().leave();
  pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  limit_of_thread = nullptr;
}

Home::Home(Context& home) { home_of_thread = &home; }
Home::~Home() { home_of_thread = nullptr; }

}  // namespace kiln::cpu
