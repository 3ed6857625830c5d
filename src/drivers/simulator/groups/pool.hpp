// SPDX-License-Identifier: MIT
// Threads that run the work-groups of one walker after the other.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kiln::simulator {

/// Thread-safe: one job at a time, others wait.
class Pool {
 public:
  /// As many as the process may use, and no more than `most`.
  explicit Pool(unsigned most);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(threads_.size()) + 1; }
  /// Calls `work` once in each of `wanted` threads, with its number; returns when all are back.
  void run(unsigned wanted, const std::function<void(unsigned)>& work);

 private:
  void serve(unsigned number);

  std::mutex one_job_, mutex_;
  std::condition_variable changed_;
  const std::function<void(unsigned)>* work_ = nullptr;
  unsigned wanted_ = 0, open_ = 0;
  std::uint64_t job_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kiln::simulator
