// SPDX-License-Identifier: MIT
// A pool of one thread a core, less the one that calls: it takes part in its own launch.
#include "drivers/cpu/runtime/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "drivers/cpu/program.hpp"

namespace kiln::cpu {
namespace {

constexpr unsigned kMostThreads = 1024;

}  // namespace

std::uint32_t worker_count() {
  if (const char* text = secure_getenv("KILN_CPU_THREADS")) {
    const unsigned long threads = std::strtoul(text, nullptr, 10);
    if (threads > 0) return static_cast<std::uint32_t>(std::min<unsigned long>(threads, kMostThreads));
  }
  return std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads);
}

std::uint32_t running_workers() { return ThreadPool::instance().thread_count(); }

ThreadPool& ThreadPool::instance() {
  // Never destroyed: an application may launch until its very end, and pool threads would have to be joined
  // in static destructors, after the runtime they need.
  static ThreadPool* const pool = new ThreadPool(worker_count());
  return *pool;
}

ThreadPool::ThreadPool(unsigned threads) {
  threads_.reserve(threads - 1);
  try {
    for (unsigned i = 1; i < threads; ++i) {
      threads_.emplace_back([this, i] { serve(i); });
      pthread_setname_np(threads_.back().native_handle(), "kiln-cpu");
    }
  } catch (const std::system_error& error) {
    // A container's limit of processes, or no memory for a stack: the thread that launches is always there.
    std::fprintf(
        stderr,
        "kiln cpu driver: no more than %u of %u worker threads could be started (%s); kernels run on "
        "those, KILN_CPU_THREADS=%u asks for no more\n",
        thread_count(), threads, error.what(), thread_count());
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::serve(std::size_t number) {
  Worker worker;
  worker.number = number;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    Job& job = *jobs_.front();
    if (--job.places == 0) jobs_.pop_front();
    ++job.inside;
    lock.unlock();
    job.work->run(worker);
    lock.lock();
    if (--job.inside == 0) job.left.notify_one();
  }
}

void ThreadPool::run(SharedWork& work) {
  std::unique_ptr<Worker> worker = borrow_worker();
  const std::uint64_t helpers = std::min<std::uint64_t>(work.width() - 1, threads_.size());
  if (helpers == 0) {
    work.run(*worker);
    return_worker(std::move(worker));
    return;
  }
  Job job{&work, helpers, 0, {}};
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
  }
  for (std::uint64_t i = 0; i < helpers; ++i) wake_.notify_one();
  work.run(*worker);
  {
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);
    job.left.wait(lock, [&job] { return job.inside == 0; });
  }
  return_worker(std::move(worker));
}

std::unique_ptr<Worker> ThreadPool::borrow_worker() {
  const std::lock_guard lock(mutex_);
  if (idle_workers_.empty()) return std::make_unique<Worker>();
  std::unique_ptr<Worker> worker = std::move(idle_workers_.back());
  idle_workers_.pop_back();
  return worker;
}

void ThreadPool::return_worker(std::unique_ptr<Worker> worker) {
  const std::lock_guard lock(mutex_);
  if (idle_workers_.size() < 4) idle_workers_.push_back(std::move(worker));
}

}  // namespace kiln::cpu
