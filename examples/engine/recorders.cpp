// SPDX-License-Identifier: MIT
// Starts the threads, and hands them work in rounds.
#include "recorders.hpp"

namespace engine {

Recorders::Recorders(unsigned threads) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this, i] { live(i); });
}

Recorders::~Recorders() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  begins_.notify_all();
  for (std::thread& each : threads_) each.join();
}

kiln::Result<void> Recorders::run(const Work& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  running_ = count();
  result_ = {};
  ++round_;
  begins_.notify_all();
  ends_.wait(lock, [&] { return running_ == 0; });
  return result_;
}

void Recorders::live(unsigned thread) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begins_.wait(lock, [&] { return over_ || round_ != seen; });
    if (over_) return;
    seen = round_;
    const Work& work = *work_;
    lock.unlock();
    auto done = work(thread);
    lock.lock();
    if (!done && result_) result_ = std::move(done);
    if (--running_ == 0) ends_.notify_one();
  }
}

}  // namespace engine
