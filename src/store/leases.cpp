// SPDX-License-Identifier: MIT
// Extends leases.
#include "store/leases.hpp"

#include <algorithm>
#include <new>
#include <set>

namespace kiln::store {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPause = kLeaseLife / 8;

}  // namespace

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

void Leases::give_back(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (auto node = held_.extract(number)) return_(std::move(node.mapped()));
}

void Leases::give_back(const Lease& lease) {
  const std::lock_guard lock(mutex_);
  return_(lease);
}

/// Where there is no memory it runs out: nobody extends it.
void Leases::return_(Lease lease) {
  lease.since = Clock::now();
  try {
    returned_.push_back(std::move(lease));
  } catch (const std::bad_alloc&) {
  }
  changed_.notify_all();
}

std::vector<Lease> Leases::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<Lease> all = std::exchange(returned_, {});
  std::ranges::move(std::exchange(untold_, {}), std::back_inserter(all));
  for (const auto& [number, lease] : std::exchange(held_, {})) all.push_back(lease);
  return all;
}

bool Leases::empty() const {
  const std::lock_guard lock(mutex_);
  return held_.empty() && returned_.empty() && untold_.empty() && !tells_;
}

void Leases::lose(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (const auto found = held_.find(number); found != held_.end()) found->second.lost = true;
}

void Leases::heard(Moment now) {
  late_ = std::max<Clock::duration>(now - heard_ - kPause, late_ - late_ / 16);
  heard_ = now;
  const milliseconds longer = std::chrono::floor<std::chrono::seconds>(4 * late_);
  life_ = std::clamp(kLeaseLife + longer, kLeaseLife, kLongestLife);
}

void Leases::extend_of(std::uint64_t store, const std::map<std::uint64_t, Lease>& held,
                       Connection& connection) {
  std::vector<std::uint64_t> numbers;
  std::vector<LeaseName> names;
  for (const auto& [number, lease] : held)
    if (lease.store == store && !lease.lost) numbers.push_back(number), names.push_back(lease.name);
  if (names.empty()) {
    heard_ = Clock::now();
    return;
  }
  const auto replies = connection.extend(names, life(), Clock::now() + kLeaseLife / 4);
  for (std::size_t i = 0; i < replies.size(); ++i)
    // Lost, since nobody heard of it for too long: another machine leads, and takes no entry of this one.
    if (replies[i].end == Reply::End::absent) lose(numbers[i]);
  if (replies.front().end != Reply::End::failed) heard(Clock::now());
}

std::vector<Lease> Leases::release(const std::vector<Lease>& leases, Connections& connections) {
  std::vector<Lease> untold;
  std::set<std::uint64_t> silent;  // no time is lost there for the others
  for (const Lease& lease : leases) {
    if (!silent.contains(lease.store)) {
      const auto reply = connections.to(lease.store).release(lease.name, Clock::now() + kForRelease);
      if (reply.end != Reply::End::failed) continue;
      silent.insert(lease.store);
    }
    untold.push_back(lease);
  }
  return untold;
}

void Leases::extend_all() {
  Connections connections(stores_);
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (held_.empty() && returned_.empty() && untold_.empty()) {
      changed_.wait(lock, [&] { return ends_ || !held_.empty() || !returned_.empty(); });
      heard_ = Clock::now();
      continue;
    }
    if (held_.empty()) heard_ = Clock::now();
    changed_.wait_for(lock, kPause, [&] { return ends_ || !returned_.empty(); });
    try {
      tell_all(lock, connections);
    } catch (const std::bad_alloc&) {  // what was to be given back runs out by itself
      if (!lock.owns_lock()) lock.lock();
      changed_.wait_for(lock, kPause, [&] { return ends_; });
    }
    tells_ = false;
  }
}

void Leases::tell_all(std::unique_lock<std::mutex>& lock, Connections& connections) {
  const auto held = held_;
  auto returned = std::exchange(returned_, {});
  std::ranges::move(std::exchange(untold_, {}), std::back_inserter(returned));
  tells_ = !returned.empty();
  lock.unlock();
  std::set<std::uint64_t> stores;
  for (const auto& each : held) stores.insert(each.second.store);
  for (const std::uint64_t store : stores) extend_of(store, held, connections.to(store));
  std::vector<Lease> untold = release(returned, connections);
  std::erase_if(untold, [](const Lease& lease) { return Clock::now() > lease.since + kLongestLife; });
  lock.lock();
  std::ranges::move(untold, std::back_inserter(untold_));
}

}  // namespace kiln::store
