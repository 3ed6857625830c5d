// SPDX-License-Identifier: MIT
// Counters of the memory that Buffers own.
#include "memory/own.hpp"

#include <atomic>

namespace kiln::detail {
namespace {

struct OwnCounter {
  std::atomic<std::uint64_t> bytes = 0, allocations = 0;
};
constinit OwnCounter own_counters[3];  // by MemoryKind

OwnMemory::Kind counted(MemoryKind kind) {
  const OwnCounter& counter = own_counters[static_cast<std::size_t>(kind)];
  return {counter.bytes.load(std::memory_order_relaxed), counter.allocations.load(std::memory_order_relaxed)};
}

}  // namespace

void own_memory_taken(MemoryKind kind, std::size_t bytes) {
  OwnCounter& counter = own_counters[static_cast<std::size_t>(kind)];
  counter.bytes.fetch_add(bytes, std::memory_order_relaxed);
  counter.allocations.fetch_add(1, std::memory_order_relaxed);
}

void own_memory_given(MemoryKind kind, std::size_t bytes) {
  OwnCounter& counter = own_counters[static_cast<std::size_t>(kind)];
  counter.bytes.fetch_sub(bytes, std::memory_order_relaxed);
  counter.allocations.fetch_sub(1, std::memory_order_relaxed);
}

OwnMemory own_memory() {
  return {counted(MemoryKind::device), counted(MemoryKind::host), counted(MemoryKind::shared)};
}

}  // namespace kiln::detail
