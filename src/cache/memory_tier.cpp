// SPDX-License-Identifier: MIT
// Least recently used first out.
#include "cache/memory_tier.hpp"

#include <cstring>

namespace kiln::cache {

std::size_t MemoryTier::Hash::operator()(const CacheKey& key) const {
  std::size_t digits = 0;
  std::memcpy(&digits, key.bytes.data(), sizeof digits);
  return digits;
}

std::optional<MemoryTier::Found> MemoryTier::find(const CacheKey& key, std::chrono::sys_seconds now) {
  if (size_ == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto place = places_.find(key);
  if (place == places_.end()) return std::nullopt;
  items_.splice(items_.begin(), items_, place->second);
  Item& item = *place->second;
  const bool mark = item.marked + kMarkAfter <= now;
  if (mark) item.marked = now;
  return Found{item.file, mark};
}

void MemoryTier::put(const CacheKey& key, FileBytes file, std::chrono::sys_seconds now) {
  const std::lock_guard lock(mutex_);
  if (const auto old = places_.find(key); old != places_.end()) remove(old->second);
  if (file.bytes.size() > size_) return;
  std::list<Item> added;  // so that what cannot be added changes nothing
  added.push_front({key, std::move(file), now});
  places_.emplace(key, added.begin());
  used_ += added.front().file.bytes.size();
  items_.splice(items_.begin(), added);
  while (used_ > size_) remove(std::prev(items_.end()));
}

void MemoryTier::drop(const CacheKey& key) {
  const std::lock_guard lock(mutex_);
  if (const auto place = places_.find(key); place != places_.end()) remove(place->second);
}

void MemoryTier::remove(std::list<Item>::iterator item) {
  used_ -= item->file.bytes.size();
  places_.erase(item->key);
  items_.erase(item);
}

}  // namespace kiln::cache
