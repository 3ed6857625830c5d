// SPDX-License-Identifier: MIT
// The table behind the handles of the C interface.
#include "capi/handles.hpp"

#include <mutex>
#include <utility>

namespace kiln_c {
namespace table {
std::array<std::atomic<Slot*>, kChunks> chunks{};
}
namespace {

using namespace table;

constinit std::mutex table_mutex;
std::uint32_t used_slots = 0;  // from here on none was ever used
std::uint32_t first_free = 0;  // + 1; 0: none

Slot& slot_at(std::size_t index) {
  return chunks[index >> kChunkBits].load(std::memory_order_relaxed)[index & (kChunkSize - 1)];
}

/// With the mutex held.
Slot* slot_of(Kind kind, const void* handle) {
  if (!find(kind, handle)) return nullptr;
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return &slot_at((value >> kKindBits) & ((std::size_t{1} << kIndexBits) - 1));
}

}  // namespace

void* keep(Kind kind, std::shared_ptr<void> object) {
  const std::lock_guard lock(table_mutex);
  std::uint32_t index = first_free;
  if (index != 0) {
    first_free = slot_at(--index).next_free;
  } else {
    if (used_slots == (std::uint32_t{1} << kIndexBits)) return nullptr;
    auto& chunk = chunks[used_slots >> kChunkBits];
    if (!chunk.load(std::memory_order_relaxed)) chunk.store(new Slot[kChunkSize], std::memory_order_release);
    index = used_slots++;
  }
  Slot& slot = slot_at(index);
  const std::uintptr_t value = static_cast<std::uintptr_t>(kind) | std::uintptr_t{index} << kKindBits |
                               (++slot.uses) << (kKindBits + kIndexBits);
  slot.object.store(object.get(), std::memory_order_relaxed);
  slot.owner = std::move(object);
  slot.handle.store(value, std::memory_order_release);
  return reinterpret_cast<void*>(value);
}

std::shared_ptr<void> share(Kind kind, const void* handle) {
  const std::lock_guard lock(table_mutex);
  const Slot* const slot = slot_of(kind, handle);
  return slot ? slot->owner : nullptr;
}

std::shared_ptr<void> take(Kind kind, const void* handle) {
  const std::lock_guard lock(table_mutex);
  Slot* const slot = slot_of(kind, handle);
  if (!slot) return nullptr;
  slot->handle.store(0, std::memory_order_release);
  const auto index = static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(handle) >> kKindBits) &
                                                ((std::uint32_t{1} << kIndexBits) - 1));
  slot->next_free = std::exchange(first_free, index + 1);
  return std::exchange(slot->owner, nullptr);
}

}  // namespace kiln_c
