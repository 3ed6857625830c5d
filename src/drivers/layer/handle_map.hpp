// SPDX-License-Identifier: MIT
// What is known of a handle, found without a lock on the way of a launch.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "drivers/layer/locks.hpp"

namespace kiln::layer {

/// From handles of drivers to records. Records are never freed: one that is forgotten serves the next handle
/// of its chain, so that whoever still reads it, against the rules of Level Zero, reads memory that is there.
/// Memory is bounded by the most handles that lived at a time. Thread-safe; what is in a record is the
/// user's.
template <class Record>
class HandleMap {
 public:
  struct Node {
    std::atomic<const void*> handle =
        nullptr;           ///< written before the node is published; forgotten(): of none
    Node* next = nullptr;  ///< likewise
    Record record;
  };

  explicit constexpr HandleMap(Lock lock) : lock_(lock) {}

  /// Null is found never.
  [[nodiscard]] Record* find(const void* handle) const noexcept {
    for (Node* node = heads_[place(handle)].load(std::memory_order_acquire); node; node = node->next)
      if (node->handle.load(std::memory_order_acquire) == handle) return &node->record;
    return nullptr;
  }

  /// A record for a handle that the driver has just made; `fill` makes it, be it new or used before. Null
  /// stays unknown.
  template <class Fill>
  void add(const void* handle, Fill fill) {
    if (!handle) return;
    const std::lock_guard lock(mutex_of(lock_));
    auto& head = heads_[place(handle)];
    Node* free = nullptr;
    for (Node* node = head.load(std::memory_order_relaxed); node; node = node->next) {
      const void* const of = node->handle.load(std::memory_order_relaxed);
      if (of == handle) {  // destroyed with its parent
        free = node;
        break;
      }
      if (of == forgotten()) free = node;
    }
    const bool fresh = !free;
    if (fresh) {
      free = new Node;
      free->next = head.load(std::memory_order_relaxed);
    }
    free->handle.store(forgotten(), std::memory_order_relaxed);
    fill(free->record);
    free->handle.store(handle, std::memory_order_release);
    if (fresh) head.store(free, std::memory_order_release);
  }

  /// `empty` drops what the record holds.
  template <class Empty>
  void remove(const void* handle, Empty empty) {
    if (!handle) return;
    const std::lock_guard lock(mutex_of(lock_));
    for (Node* node = heads_[place(handle)].load(std::memory_order_relaxed); node; node = node->next)
      if (node->handle.load(std::memory_order_relaxed) == handle) {
        node->handle.store(forgotten(), std::memory_order_release);
        empty(node->record);
        return;
      }
  }

 private:
  static constexpr unsigned kBits = 14;
  /// No handle of a driver, and not null, which programs give by mistake.
  [[nodiscard]] const void* forgotten() const { return this; }

  /// Fibonacci hashing: handles are addresses, and differ in their middle bits.
  static std::size_t place(const void* handle) {
    return reinterpret_cast<std::uintptr_t>(handle) * 0x9e3779b97f4a7c15u >> (64 - kBits);
  }

  std::array<std::atomic<Node*>, std::size_t{1} << kBits> heads_{};
  Lock lock_;
};

}  // namespace kiln::layer
