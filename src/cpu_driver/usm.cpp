// SPDX-License-Identifier: MIT
// Allocates USM from the host's heap and keeps freed memory until no work in flight can use it.
#include "usm.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "stream.hpp"

namespace kiln::cpu {

Usm& usm() {
  static auto* usm = new Usm;  // never destroyed: leaked streams may still collect at exit
  return *usm;
}

void* Usm::allocate(std::size_t size, std::size_t alignment, ze_memory_type_t type, std::uint64_t total) {
  collect();
  if (size > total || live_.fetch_add(size) > total - size) {
    if (size <= total) live_.fetch_sub(size);
    return nullptr;
  }
  void* base = nullptr;
  if (posix_memalign(&base, alignment, size) != 0) {
    live_.fetch_sub(size);
    return nullptr;
  }
  const auto key = reinterpret_cast<std::uintptr_t>(base);
  try {
    const std::lock_guard lock(mutex_);
    live_by_base_[key] = {key, size, type, next_id_++, false};
  } catch (...) {
    release({key, size, type, 0, false});
    return nullptr;
  }
  return base;
}

void Usm::lend(void* base, std::size_t size) {
  const std::lock_guard lock(mutex_);
  const auto key = reinterpret_cast<std::uintptr_t>(base);
  live_by_base_.insert({key, {key, size, ZE_MEMORY_TYPE_DEVICE, next_id_++, true}});
}

void Usm::forget(void* base) { (void)remove(base, true); }

std::optional<Allocation> Usm::remove(void* base, bool lent) {
  const std::lock_guard lock(mutex_);
  const auto found = live_by_base_.find(reinterpret_cast<std::uintptr_t>(base));
  if (found == live_by_base_.end() || found->second.lent != lent) return std::nullopt;
  const Allocation allocation = found->second;
  live_by_base_.erase(found);
  generation_.fetch_add(1, std::memory_order_release);
  return allocation;
}

void Usm::release(const Allocation& allocation) {
  std::free(reinterpret_cast<void*>(allocation.base));
  live_.fetch_sub(allocation.size);
}

bool Usm::free(void* base) {
  const auto allocation = remove(base, false);
  if (!allocation) return false;
  Zombie zombie{*allocation, {}};
  for (auto& progress : all_progress())
    if (!progress->idle()) {
      const std::uint64_t target = progress->submitted();
      zombie.users.emplace_back(std::move(progress), target);
    }
  if (zombie.users.empty()) {
    release(*allocation);
  } else {
    const std::lock_guard lock(zombies_mutex_);
    zombies_.push_back(std::move(zombie));
    has_zombies_.store(true, std::memory_order_relaxed);
  }
  collect();
  return true;
}

bool Usm::free_after_work(void* base) {
  const auto allocation = remove(base, false);
  if (!allocation) return false;
  for (const auto& progress : all_progress()) progress->wait(progress->submitted(), Clock::time_point::max());
  release(*allocation);
  return true;
}

std::optional<Allocation> Usm::find(const void* address) const {
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  const std::shared_lock lock(mutex_);
  auto after = live_by_base_.upper_bound(key);
  if (after == live_by_base_.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(after)->second;
  if (key - candidate.base >= candidate.size) return std::nullopt;
  return candidate;
}

void Usm::collect() {
  if (!has_zombies_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(zombies_mutex_);
  std::erase_if(zombies_, [this](const Zombie& zombie) {
    const bool done = std::ranges::all_of(
        zombie.users, [](const auto& user) { return user.first->completed() >= user.second; });
    if (done) release(zombie.allocation);
    return done;
  });
  has_zombies_.store(!zombies_.empty(), std::memory_order_relaxed);
}

}  // namespace kiln::cpu
