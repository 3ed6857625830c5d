// SPDX-License-Identifier: MIT
// One job at a time, in the caller's thread and as many others as it wants.
#include "drivers/simulator/groups/pool.hpp"

#include <sched.h>

#include <algorithm>

namespace kiln::simulator {
namespace {

unsigned processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1u, static_cast<unsigned>(CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

Pool::Pool(unsigned most) {
  const unsigned count = std::min(std::max(most, 1u), processors());
  for (unsigned number = 1; number < count; ++number)
    threads_.emplace_back([this, number] { serve(number); });
}

Pool::~Pool() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Pool::run(unsigned wanted, const std::function<void(unsigned)>& work) {
  const std::scoped_lock one(one_job_);
  wanted = std::min(wanted, size());
  if (wanted > 1) {
    const std::scoped_lock lock(mutex_);
    work_ = &work;
    wanted_ = wanted;
    open_ = wanted - 1;
    ++job_;
    changed_.notify_all();
  }
  work(0);
  if (wanted > 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0; });
    work_ = nullptr;
  }
}

void Pool::serve(unsigned number) {
  std::uint64_t done = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || job_ != done; });
    if (stop_) return;
    done = job_;
    if (number >= wanted_) continue;
    const auto* const work = work_;
    lock.unlock();
    (*work)(number);
    lock.lock();
    if (--open_ == 0) changed_.notify_all();
  }
}

}  // namespace kiln::simulator
