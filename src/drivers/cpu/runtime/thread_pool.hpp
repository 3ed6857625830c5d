// SPDX-License-Identifier: MIT
// The process-wide pool that shares the work-groups of launches among the cores.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "drivers/cpu/runtime/deferred_additions.hpp"
#include "drivers/cpu/runtime/fibers/fiber_stacks.hpp"

namespace kiln::cpu {

/// What a thread keeps between launches: SLM, stacks, memory for what items keep across barriers, and what is
/// added when its groups are done. Used by one thread at a time.
struct Worker {
  std::size_t number = 0;  ///< of the pool's thread, from 1 on; 0: a thread that launches
  SlmBuffer slm, items;
  FiberStacks stacks;
  DeferredAdditions deferred;
};

/// Work that several threads do together, in chunks that they take as they come.
class SharedWork {
 public:
  virtual ~SharedWork() = default;
  /// Takes chunks until none is left. Called by several threads at once.
  virtual void run(Worker& worker) = 0;
  /// How many threads could find something to do.
  [[nodiscard]] virtual std::uint64_t width() const = 0;
};

/// Thread-safe.
class ThreadPool {
 public:
  static ThreadPool& instance();

  /// Runs `work` on this thread and on idle ones of the pool; returns when all have left it.
  void run(SharedWork& work);

  [[nodiscard]] unsigned thread_count() const { return static_cast<unsigned>(threads_.size()) + 1; }

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  struct Job {
    SharedWork* work;
    std::uint64_t places;  // pool threads that may still join
    unsigned inside = 0;   // pool threads at work on it
    std::condition_variable left;
  };

  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  void serve(std::size_t number);
  std::unique_ptr<Worker> borrow_worker();
  void return_worker(std::unique_ptr<Worker> worker);

  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::deque<Job*> jobs_;
  std::vector<std::unique_ptr<Worker>> idle_workers_;  // for calling threads
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kiln::cpu
