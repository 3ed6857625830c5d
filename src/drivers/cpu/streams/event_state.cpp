// SPDX-License-Identifier: MIT
// Waiting for and signalling of events: a futex, so that it works between processes.
#include "drivers/cpu/streams/event_state.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <utility>

#include "drivers/cpu/objects/last_error.hpp"

namespace kiln::cpu {
namespace {

std::uint32_t* address_of(std::atomic<std::uint32_t>& word) {
  return reinterpret_cast<std::uint32_t*>(&word);
}

/// Sleeps while the word has this value, at the longest until the deadline.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value, Clock::time_point deadline) {
  timespec until{};
  const timespec* limit = nullptr;
  if (deadline != Clock::time_point::max()) {
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count();
    until = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    limit = &until;
  }
  // Of the monotonic clock, which is Clock.
  syscall(SYS_futex, address_of(word), FUTEX_WAIT_BITSET, value, limit, nullptr, FUTEX_BITSET_MATCH_ANY);
}

/// Counts itself as a waiter while it lives.
class Waiting {
 public:
  explicit Waiting(EventCell& cell) : cell_(cell) { cell_.waiters.fetch_add(1); }
  ~Waiting() { cell_.waiters.fetch_sub(1); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  EventCell& cell_;
};

}  // namespace

void EventState::change(std::uint32_t signalled) {
  std::uint32_t word = cell_->word.load();
  while (!cell_->word.compare_exchange_weak(word, ((word + 2) & ~1u) | signalled)) {
  }
  if (cell_->waiters.load() != 0)
    syscall(SYS_futex, address_of(cell_->word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void EventState::signal(Times times, ze_result_t result, std::string text) {
  if (result != ZE_RESULT_SUCCESS) {
    const std::lock_guard lock(text_mutex_);
    text_ = std::move(text);
  }
  cell_->start_ns.store(times.start_ns, std::memory_order_relaxed);
  cell_->end_ns.store(times.end_ns, std::memory_order_relaxed);
  cell_->result.store(result, std::memory_order_relaxed);
  cell_->signals.fetch_add(1);
  change(1);  // the caller holds a reference, so the object outlives this even if a waiter drops its own
}

void EventState::reset() {
  change(0);
  cell_->start_ns.store(0, std::memory_order_relaxed);
  cell_->end_ns.store(0, std::memory_order_relaxed);
  cell_->result.store(ZE_RESULT_SUCCESS, std::memory_order_relaxed);
}

ze_result_t EventState::outcome() const {
  const ze_result_t result = cell_->result.load(std::memory_order_relaxed);
  if (result == ZE_RESULT_SUCCESS) return result;
  const std::lock_guard lock(text_mutex_);
  set_last_error(text_);
  return result;
}

EventState::Times EventState::times() const {
  return {cell_->start_ns.load(std::memory_order_relaxed), cell_->end_ns.load(std::memory_order_relaxed)};
}

bool EventState::wait(Clock::time_point deadline) {
  if (signalled()) return true;
  const std::uint32_t signals = cell_->signals.load();
  const bool forever = deadline == Clock::time_point::max();
  const auto asleep = forever ? deadline : sleep_until(Clock::now(), deadline);
  const Waiting waiting(*cell_);
  for (;;) {
    const std::uint32_t word = cell_->word.load();
    if ((word & 1) || cell_->signals.load() != signals) return true;
    const auto now = forever ? Clock::time_point() : Clock::now();
    if (!forever && now >= deadline) return false;
    if (forever || now < asleep)
      sleep_on(cell_->word, word, asleep);
    else
      __builtin_ia32_pause();
  }
}

bool EventState::wait(const std::atomic<bool>& stop, std::chrono::nanoseconds patience,
                      bool (*tell)(std::uint32_t)) {
  if (signalled()) return true;
  auto asleep = Clock::now() + patience;
  const std::uint32_t signals = cell_->signals.load();
  const Waiting waiting(*cell_);
  for (;;) {
    const std::uint32_t word = cell_->word.load();
    if ((word & 1) || cell_->signals.load() != signals) return true;
    if (stop.load()) return false;
    sleep_on(cell_->word, word, asleep);
    if (asleep == Clock::time_point::max() || Clock::now() < asleep) continue;
    asleep = tell(signals) ? Clock::time_point::max() : Clock::now() + patience;
  }
}

void EventState::wake() {
  std::uint32_t word = cell_->word.load();
  while (!cell_->word.compare_exchange_weak(word, word + 2)) {
  }
  syscall(SYS_futex, address_of(cell_->word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace kiln::cpu
