// SPDX-License-Identifier: MIT
// One pthread: std::thread has no answer but an exception where the system has no thread to give.
#include "cache/background.hpp"

#include <cxxabi.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace kiln::cache {
namespace {

void do_quietly(const std::function<void()>& work) {
  try {
    work();
  } catch (abi::__forced_unwind&) {  // pthread_cancel
    throw;
  } catch (...) {  // for want of memory: the next one does it
  }
}

}  // namespace

Background::~Background() { join(); }

void Background::start(std::function<void()> work) {
  std::unique_lock lock(mutex_);
  const bool forked = process_ != 0 && process_ != getpid();
  if (busy_ && !forked) return;
  join();
  work_ = std::move(work);
  busy_ = true;
  if (start_thread()) return;
  busy_ = false;
  const std::function<void()> here = std::move(work_);
  lock.unlock();
  do_quietly(here);
}

bool Background::start_thread() {
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  const bool started = pthread_create(&thread_, nullptr, &run, this) == 0;
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  if (started) process_ = getpid();
  return started;
}

void* Background::run(void* self) {
  auto* const background = static_cast<Background*>(self);
  std::unique_lock lock(background->mutex_);  // until start() is done
  const std::function<void()> work = std::move(background->work_);
  lock.unlock();
  do_quietly(work);
  lock.lock();
  background->busy_ = false;
  return nullptr;
}

void Background::join() {
  if (std::exchange(process_, 0) == getpid()) pthread_join(thread_, nullptr);
}

}  // namespace kiln::cache
