// SPDX-License-Identifier: MIT
// Extends leases.
#include "store/leases.hpp"

#include <set>

namespace kiln::store {

Leases::Leases(std::vector<cache::RemoteUrl> stores)
    : stores_(std::move(stores)), thread_([this] { extend_all(); }) {}

Leases::~Leases() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::uint64_t Leases::add(const Lease& lease) {
  const std::lock_guard lock(mutex_);
  held_.emplace(++last_, lease);
  changed_.notify_all();
  return last_;
}

std::optional<Lease> Leases::find(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(number);
  return found == held_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Lease> Leases::take(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto node = held_.extract(number);
  return node ? std::optional(node.mapped()) : std::nullopt;
}

std::vector<Lease> Leases::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<Lease> all;
  for (const auto& [number, lease] : std::exchange(held_, {})) all.push_back(lease);
  return all;
}

bool Leases::empty() const {
  const std::lock_guard lock(mutex_);
  return held_.empty();
}

void Leases::lose(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (const auto found = held_.find(number); found != held_.end()) found->second.lost = true;
}

void Leases::extend_all() {
  constexpr auto kPause = kLeaseLife / 8, kAnswer = kLeaseLife / 4;
  std::vector<std::unique_ptr<Connection>> connections(stores_.size());
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (held_.empty()) {
      changed_.wait(lock, [&] { return ends_ || !held_.empty(); });
      continue;
    }
    changed_.wait_for(lock, kPause, [&] { return ends_; });
    const auto held = held_;
    lock.unlock();
    std::set<std::uint64_t> silent;  // would be so for the other leases too
    for (const auto& [number, lease] : held) {
      if (lease.lost || silent.contains(lease.store)) continue;
      auto& connection = connections[lease.store];
      if (!connection) connection = make_connection(stores_[lease.store]);
      const Reply reply =
          connection->extend(lease.key, lease.token, std::chrono::steady_clock::now() + kAnswer);
      // Lost, since nobody heard of it for too long: another machine leads, and takes no entry of this one.
      if (reply.end == Reply::End::absent) lose(number);
      if (reply.end == Reply::End::failed) silent.insert(lease.store);
    }
    lock.lock();
  }
}

}  // namespace kiln::store
