// SPDX-License-Identifier: MIT
// Work that nobody waits for, on a thread of its own.
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

#include <deque>
#include <functional>
#include <mutex>

namespace kiln::cache {

/// One work after the other, on a thread that is there while there is any and takes no signals. Thread-safe.
class Background {
 public:
  Background();
  Background(Background&&) = delete;
  /// Does what is left.
  ~Background();

  /// Does nothing while other work is under way. Where no thread can be had (a limit of processes), the
  /// caller's does it. What `work` throws is dropped.
  void start(std::function<void()> work);
  /// The same behind what is under way. `size` are the bytes that it keeps in memory: where too many are
  /// kept, the caller's thread does it.
  void follow(std::function<void()> work, std::size_t size);
  /// Waits for what is under way.
  void finish();

 private:
  struct Work {
    std::function<void()> work;
    std::size_t size = 0;
  };
  static void* run(void* self);
  void add(std::unique_lock<std::mutex>& lock, Work work);
  [[nodiscard]] bool start_thread();
  void forget_parent();
  void join();

  std::mutex mutex_;
  std::deque<Work> works_;
  std::size_t size_ = 0;  ///< of `works_`
  bool busy_ = false;     ///< with one that is not in `works_` any more
  bool there_ = false;    ///< the thread looks for more
  bool ends_ = false;
  pid_t process_ = 0;  ///< where `thread_` is to be joined; a forked child has it not
  pthread_t thread_{};
  sem_t
      wake_{};  ///< not a condition variable: a forked child could not destroy one that its parent waits for
};

}  // namespace kiln::cache
