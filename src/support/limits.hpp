// SPDX-License-Identifier: MIT
// Limits of a process: writing under `ulimit -f`, whose signal would end the application, and a bound for the
// memory of one that reads what others have written.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
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

/// This process may take `more` bytes beyond what it has by now, or less where its limit is lower: what is
/// reserved already, by a sanitizer above all, counts for nothing. Nothing happens where that is not known.
inline void limit_memory(rlim_t more) {
  unsigned long reserved = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  const bool known = file && std::fscanf(file, "%*u %*u %*u %*u %*u %lu", &reserved) == 1;  // in pages
  if (file) std::fclose(file);
  rlimit memory{};
  if (!known || getrlimit(RLIMIT_DATA, &memory) != 0) return;
  const rlim_t most = reserved * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more;
  memory.rlim_cur = std::min(memory.rlim_cur, most);
  setrlimit(RLIMIT_DATA, &memory);
}

}  // namespace kiln::detail
