// SPDX-License-Identifier: MIT
// Writing under `ulimit -f`: the signal that comes with the error would end the application.
#pragma once

#include <csignal>
#include <ctime>

namespace kiln::detail {

/// While it lives, a file that would grow above RLIMIT_FSIZE is EFBIG to this thread and no SIGXFSZ. Changes
/// no disposition, which is the whole process's; leaves a signal that was there before.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    const sigset_t own = signal_set();
    pthread_sigmask(SIG_BLOCK, &own, &former_);
  }
  NoFileSizeSignal(NoFileSizeSignal&&) = delete;
  ~NoFileSizeSignal() {
    const sigset_t own = signal_set();
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&own, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &former_, nullptr);
  }

 private:
  static sigset_t signal_set() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
  }

  sigset_t former_;
  bool was_pending_;
};

}  // namespace kiln::detail
