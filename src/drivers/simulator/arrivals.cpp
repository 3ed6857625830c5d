// SPDX-License-Identifier: MIT
// Keeps what each connection's thread is at.
#include "drivers/simulator/arrivals.hpp"

#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

namespace kiln::simulator {

Arrivals::Reader::Reader(Arrivals& arrivals) : arrivals_(arrivals) {
  const std::scoped_lock lock(arrivals_.mutex_);
  number_ = ++arrivals_.made_;
  arrivals_.readers_[number_] = this;
}

Arrivals::Reader::~Reader() {
  const std::scoped_lock lock(arrivals_.mutex_);
  arrivals_.readers_.erase(number_);
  arrivals_.changed_.notify_all();
}

bool Arrivals::Reader::is_empty() const {
  int bytes = 0;
  return comes_not_ || (idle_ && (ioctl(socket_, FIONREAD, &bytes) != 0 || bytes == 0));
}

void Arrivals::Reader::wait_for_bytes(int socket) {
  {
    const std::scoped_lock lock(arrivals_.mutex_);
    idle_ = true;
    socket_ = socket;
    if (is_empty()) ++emptied_;
    if (arrivals_.waiting_ != 0) arrivals_.changed_.notify_all();
  }
  // Bytes stay in the socket until the reader counts as busy.
  pollfd waits{socket, POLLIN, 0};
  while (poll(&waits, 1, -1) < 0 && errno == EINTR) {
  }
  const std::scoped_lock lock(arrivals_.mutex_);
  idle_ = false;
}

void Arrivals::Reader::catch_up(const std::atomic<bool>& stop) {
  std::unique_lock lock(arrivals_.mutex_);
  ++arrivals_.waiting_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> awaited;  // whom, and how often it was empty before
  const auto done = [&] {
    std::erase_if(awaited, [&](const auto& each) {
      const auto found = arrivals_.readers_.find(each.first);
      return found == arrivals_.readers_.end() || found->second->emptied_ != each.second ||
             found->second->is_empty();
    });
    return awaited.empty();
  };
  const auto wait = [&](const auto& until) {
    while (!stop.load(std::memory_order_relaxed) &&
           !arrivals_.changed_.wait_for(lock, std::chrono::milliseconds(5), until)) {
    }
  };
  if (arrivals_.newcomers()) wait([&] { return !arrivals_.newcomers(); });
  for (const auto& [number, reader] : arrivals_.readers_)
    if (reader != this) awaited.emplace_back(number, reader->emptied_);
  if (!done()) wait(done);
  --arrivals_.waiting_;
}

void Arrivals::Nothing::set(bool comes_not) {
  Arrivals& arrivals = reader_.arrivals_;
  const std::scoped_lock lock(arrivals.mutex_);
  reader_.comes_not_ = comes_not;
  if (comes_not && arrivals.waiting_ != 0) arrivals.changed_.notify_all();
}

}  // namespace kiln::simulator
