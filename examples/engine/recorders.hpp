// SPDX-License-Identifier: MIT
// Threads that record command lists side by side.
#pragma once

#include <condition_variable>
#include <functional>
#include <kiln/result.hpp>
#include <mutex>
#include <thread>
#include <vector>

namespace engine {

class Recorders {
 public:
  using Work = std::function<kiln::Result<void>(unsigned thread)>;

  explicit Recorders(unsigned threads);
  ~Recorders();
  Recorders(const Recorders&) = delete;
  Recorders& operator=(const Recorders&) = delete;

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(threads_.size()); }
  /// Calls `work` once on each thread, and returns when all are done: the first error there is.
  [[nodiscard]] kiln::Result<void> run(const Work& work);

 private:
  void live(unsigned thread);

  std::mutex mutex_;
  std::condition_variable begins_, ends_;
  const Work* work_ = nullptr;
  std::uint64_t round_ = 0;
  unsigned running_ = 0;
  bool over_ = false;
  kiln::Result<void> result_;
  std::vector<std::thread> threads_;  // last: they use all the others
};

}  // namespace engine
