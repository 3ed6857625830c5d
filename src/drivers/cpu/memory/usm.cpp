// SPDX-License-Identifier: MIT
// Keeps the registry of USM, and freed memory until no work in flight can use it.
#include "drivers/cpu/memory/usm.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>

#include "drivers/cpu/streams/stream.hpp"

namespace kiln::cpu {
namespace {

/// How long work that was submitted may take before its memory counts as in use.
constexpr std::uint64_t kLongestWork = 10'000'000'000;  // ns

/// Whether the allocation goes on for so long behind an address in it.
bool holds(const Allocation& allocation, const void* address, std::size_t size) {
  return size <= allocation.size - (reinterpret_cast<std::uintptr_t>(address) - allocation.base);
}

}  // namespace

Usm& usm() {
  static auto* usm = new Usm;  // never destroyed: leaked streams may still collect at exit
  return *usm;
}

bool Usm::count(std::uint64_t bytes, std::uint64_t total) {
  if (bytes > total) return false;
  if (live_.fetch_add(bytes) <= total - bytes) return true;
  live_.fetch_sub(bytes);
  return false;
}

void* Usm::allocate(const AllocationRequest& request) {
  collect();
  if (!count(request.size, request.total)) return nullptr;
  Pages pages(request.size, request.alignment);
  void* base = pages.base();
  if (!base) {
    uncount(request.size);
    return nullptr;
  }
  const auto key = reinterpret_cast<std::uintptr_t>(base);
  try {
    const std::lock_guard lock(mutex_);
    live_by_base_[key] = {{key, request.size, request.type, next_id_++, request.device},
                          Owner::registry,
                          std::move(pages),
                          nullptr,
                          {}};
  } catch (...) {
    uncount(request.size);
    return nullptr;
  }
  return base;
}

void Usm::lend(const LentMemory& memory) {
  const std::lock_guard lock(mutex_);
  const auto key = reinterpret_cast<std::uintptr_t>(memory.base);
  const auto [place, is_new] = live_by_base_.try_emplace(
      key, Entry{{key, memory.size, memory.type, next_id_++, memory.device, memory.read_only},
                 Owner::lender,
                 {},
                 nullptr,
                 {}});
  if (memory.read_only) has_read_only_.store(true, std::memory_order_relaxed);
  if (!is_new && place->second.owner == Owner::lender) ++place->second.holders;
}

void Usm::forget(void* base) { (void)remove(base, Owner::lender); }

// The pages become those of a file in their place. What a kernel or a thread of the application writes
// meanwhile could be lost: the work that was submitted is waited for, and the copy is short.
ze_result_t Usm::share(const void* address, SharedHandle& handle) {
  // Else its pages are somebody else's: a file in their place would cut it off from where it came from.
  const auto is_own = [](Owner owner) { return owner == Owner::registry; };
  const auto give_out = [&](const Entry& entry) {
    const auto given = entry.shared->give_out(entry.allocation.size);
    if (!given) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    handle = *given;
    return ZE_RESULT_SUCCESS;
  };
  {
    const std::shared_lock lock(mutex_);
    const auto place = entry_of(address);
    if (place == live_by_base_.end() || !is_own(place->second.owner)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (place->second.shared) return give_out(place->second);
  }
  const auto deadline = deadline_after(kLongestWork);
  for (const auto& progress : all_progress())
    if (!progress->wait(progress->submitted(), deadline)) return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
  const std::lock_guard lock(mutex_);
  const auto found = entry_of(address);
  if (found == live_by_base_.end() || !is_own(found->second.owner)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  Entry& entry = live_by_base_.at(found->first);
  if (!entry.shared) {
    const std::size_t bytes = entry.pages.room();
    Descriptor file = make_shared_file(bytes);
    if (!file) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    const Mapping copy = map_shared(file, bytes);
    if (!copy) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    auto shared = std::make_unique<ExportedFile>(std::move(file));
    std::memcpy(copy.get(), entry.pages.base(), entry.allocation.size);
    if (mmap(entry.pages.base(), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
             shared->file().get(), 0) == MAP_FAILED)
      return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    entry.shared = std::move(shared);
  }
  return give_out(entry);
}

void Usm::import(Mapping mapping, std::size_t size, Device* device) {
  add_imported(std::move(mapping), size, device, Owner::other_process);
}

void Usm::import_file(Mapping mapping, std::size_t size, Device* device) {
  add_imported(std::move(mapping), size, device, Owner::descriptor);
}

bool Usm::borrow(void* base, std::size_t size) {
  const auto key = reinterpret_cast<std::uintptr_t>(base);
  const std::lock_guard lock(mutex_);
  const auto next = live_by_base_.lower_bound(key);
  if (entry_of(base) != live_by_base_.end() || (next != live_by_base_.end() && next->first - key < size))
    return false;
  live_by_base_[key] = {
      {key, size, ZE_MEMORY_TYPE_HOST, next_id_++, nullptr}, Owner::application, {}, nullptr, {}};
  return true;
}

void Usm::add_imported(Mapping mapping, std::size_t size, Device* device, Owner owner) {
  const auto key = reinterpret_cast<std::uintptr_t>(mapping.get());
  const std::lock_guard lock(mutex_);
  live_by_base_[key] = {
      {key, size, ZE_MEMORY_TYPE_DEVICE, next_id_++, device}, owner, Pages(std::move(mapping)), nullptr, {}};
}

bool Usm::close_imported(void* base) { return free_later(remove(base, Owner::other_process)); }

std::optional<Usm::Entry> Usm::remove(void* base, Owner owner) {
  const std::lock_guard lock(mutex_);
  const auto found = live_by_base_.find(reinterpret_cast<std::uintptr_t>(base));
  if (found == live_by_base_.end() || found->second.owner != owner) return std::nullopt;
  if (--found->second.holders != 0) return std::nullopt;
  Entry entry = std::move(found->second);
  live_by_base_.erase(found);
  generation_.fetch_add(1, std::memory_order_release);
  return entry;
}

void Usm::release(Entry entry) {
  if (entry.owner == Owner::registry) uncount(entry.allocation.size);
}

std::optional<Usm::Entry> Usm::remove_freed(void* base) {
  for (const Owner owner : {Owner::registry, Owner::descriptor, Owner::application})
    if (auto entry = remove(base, owner)) return entry;
  return std::nullopt;
}

bool Usm::free(void* base) { return free_later(remove_freed(base)); }

bool Usm::give_back(void* base) { return free_later(remove(base, Owner::application)); }

bool Usm::free_later(std::optional<Entry> entry) {
  if (!entry) return false;
  Zombie zombie{std::move(*entry), {}};
  for (auto& progress : all_progress())
    if (!progress->idle()) {
      const std::uint64_t target = progress->submitted();
      zombie.users.emplace_back(std::move(progress), target);
    }
  if (zombie.users.empty()) {
    release(std::move(zombie.entry));
  } else {
    const std::lock_guard lock(zombies_mutex_);
    zombies_.push_back(std::move(zombie));
    has_zombies_.store(true, std::memory_order_relaxed);
  }
  collect();
  return true;
}

bool Usm::free_after_work(void* base) {
  auto entry = remove_freed(base);
  if (!entry) return false;
  for (const auto& progress : all_progress()) progress->wait(progress->submitted(), Clock::time_point::max());
  release(std::move(*entry));
  return true;
}

bool Usm::may_write(const void* address) const {
  if (!has_read_only_.load(std::memory_order_relaxed)) return true;
  const auto found = find(address);
  return !found || !found->read_only;
}

Usm::Entries::const_iterator Usm::entry_of(const void* address) const {
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  const auto after = live_by_base_.upper_bound(key);
  if (after == live_by_base_.begin()) return live_by_base_.end();
  const auto place = std::prev(after);
  const Allocation& candidate = place->second.allocation;
  return key - candidate.base < candidate.size ? place : live_by_base_.end();
}

std::optional<Allocation> Usm::find(const void* address) const {
  const std::shared_lock lock(mutex_);
  const auto place = entry_of(address);
  return place == live_by_base_.end() ? std::nullopt : std::optional(place->second.allocation);
}

bool Usm::set_atomics(const void* address, std::size_t size, const Device* device, std::uint32_t flags) {
  const std::lock_guard lock(mutex_);
  const auto place = entry_of(address);
  if (place == live_by_base_.end() || !holds(place->second.allocation, address, size)) return false;
  auto& atomics = live_by_base_.at(place->first).atomics;
  const auto known = std::ranges::find(atomics, device, [](const auto& each) { return each.first; });
  if (known == atomics.end())
    atomics.emplace_back(device, flags);
  else
    known->second = flags;
  return true;
}

std::optional<std::uint32_t> Usm::atomics(const void* address, std::size_t size, const Device* device) const {
  const std::shared_lock lock(mutex_);
  const auto place = entry_of(address);
  if (place == live_by_base_.end() || !holds(place->second.allocation, address, size)) return std::nullopt;
  const auto& atomics = place->second.atomics;
  const auto known = std::ranges::find(atomics, device, [](const auto& each) { return each.first; });
  return known == atomics.end() ? 0 : known->second;
}

void Usm::collect() {
  if (!has_zombies_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(zombies_mutex_);
  std::erase_if(zombies_, [this](Zombie& zombie) {
    const bool done = std::ranges::all_of(
        zombie.users, [](const auto& user) { return user.first->completed() >= user.second; });
    if (done) release(std::move(zombie.entry));
    return done;
  });
  has_zombies_.store(!zombies_.empty(), std::memory_order_relaxed);
}

}  // namespace kiln::cpu
