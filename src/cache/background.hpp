// SPDX-License-Identifier: MIT
// Work that nobody waits for, on a thread of its own.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <functional>
#include <mutex>

namespace kiln::cache {

/// One work at a time, on a thread that lives as long as it and takes no signals. Thread-safe.
class Background {
 public:
  Background() = default;
  Background(Background&&) = delete;
  /// Waits for what is under way.
  ~Background();

  /// Does nothing while another work is under way. Where no thread can be had (a limit of processes), the
  /// caller's does it. What `work` throws is dropped.
  void start(std::function<void()> work);

 private:
  static void* run(void* self);
  [[nodiscard]] bool start_thread();
  void join();

  std::mutex mutex_;
  std::function<void()> work_;
  bool busy_ = false;
  pid_t process_ = 0;  ///< where `thread_` is to be joined; a forked child has it not
  pthread_t thread_{};
};

}  // namespace kiln::cache
