// SPDX-License-Identifier: MIT
// One pthread: std::thread has no answer but an exception where the system has no thread to give.
#include "cache/background.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>
#include <utility>

namespace kiln::cache {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{64} << 20;  // bytes
constexpr time_t kLinger = 1;  // seconds: more may come, and a thread costs time

void do_quietly(const std::function<void()>& work) {
  try {
    work();
  } catch (abi::__forced_unwind&) {  // pthread_cancel
    throw;
  } catch (...) {  // for want of memory: the next one does it
  }
}

}  // namespace

Background::Background() { sem_init(&wake_, 0, 0); }

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    forget_parent();
    ends_ = true;
  }
  sem_post(&wake_);
  join();
  sem_destroy(&wake_);
}

void Background::start(std::function<void()> work) {
  std::unique_lock lock(mutex_);
  forget_parent();
  if (!busy_ && works_.empty()) add(lock, {std::move(work)});
}

void Background::follow(std::function<void()> work, std::size_t size) {
  std::unique_lock lock(mutex_);
  forget_parent();
  if (size_ + size <= kMostWaiting) return add(lock, {std::move(work), size});
  lock.unlock();
  do_quietly(work);
}

void Background::add(std::unique_lock<std::mutex>& lock, Work work) {
  size_ += work.size;
  works_.push_back(std::move(work));
  if (there_ || start_thread()) {
    sem_post(&wake_);
    return;
  }
  const Work here = std::move(works_.back());
  works_.pop_back();
  size_ -= here.size;
  lock.unlock();
  do_quietly(here.work);
}

void Background::finish() {
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    const std::lock_guard lock(mutex_);
    forget_parent();
    if (!busy_ && works_.empty()) return;
  }
}

/// Its parent does what its parent began.
void Background::forget_parent() {
  if (process_ == 0 || process_ == getpid()) return;
  works_.clear();
  size_ = 0;
  busy_ = there_ = false;
  process_ = 0;
}

bool Background::start_thread() {
  join();  // one that has gone
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  there_ = pthread_create(&thread_, nullptr, &run, this) == 0;
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  if (there_) process_ = getpid();
  return there_;
}

void* Background::run(void* self) {
  auto* const background = static_cast<Background*>(self);
  std::unique_lock lock(background->mutex_);
  for (bool waited = false;;) {
    if (!background->works_.empty()) {
      Work next = std::move(background->works_.front());
      background->works_.pop_front();
      background->busy_ = true;
      lock.unlock();
      do_quietly(std::exchange(next.work, {}));
      lock.lock();
      background->busy_ = false;
      background->size_ -= next.size;
      waited = false;
      continue;
    }
    if (background->ends_ || waited) break;
    lock.unlock();
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += kLinger;
    waited = sem_clockwait(&background->wake_, CLOCK_MONOTONIC, &until) != 0;
    lock.lock();
  }
  background->there_ = false;
  return nullptr;
}

void Background::join() {
  if (std::exchange(process_, 0) == getpid()) pthread_join(thread_, nullptr);
}

}  // namespace kiln::cache
