// SPDX-License-Identifier: MIT
// Keeps the set of live objects in shards, and remembers for each thread what it found last.
#include "drivers/cpu/objects/live_handles.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "drivers/cpu/objects/last_error.hpp"

namespace kiln::cpu {
namespace {

constexpr const char* kNames[] = {"driver", "device",         "context", "command queue", "command list",
                                  "fence",  "event pool",     "event",   "module",        "module build log",
                                  "kernel", "physical memory"};

constexpr std::size_t kCacheLine = 64;

// Threads that make and destroy objects of their own should meet nowhere: many shards, none on the line of
// another.
struct alignas(kCacheLine) Shard {
  std::shared_mutex mutex;
  std::unordered_map<const void*, HandleKind> objects;
};

constexpr std::size_t kShards = 256;

// Never destroyed: an application may call until its very end.
std::array<Shard, kShards>& shards() {
  static auto* all = new std::array<Shard, kShards>;
  return *all;
}

std::size_t spread(const void* object) {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  return static_cast<std::size_t>((address >> 4) * 0x9e3779b97f4a7c15 >> 32);
}

Shard& shard_of(const void* object) { return shards()[spread(object) % kShards]; }

/// Grows when an object of that shard goes, so that a thread knows whether what it remembers still holds.
/// Beside the shards: looking must not wait for the line of a mutex that others take.
struct alignas(kCacheLine) Generation {
  std::atomic<std::uint64_t> value = 1;
};
constinit std::array<Generation, kShards> generations;

std::atomic<std::uint64_t>& generation_of(const void* object) {
  return generations[spread(object) % kShards].value;
}

struct Remembered {
  const void* object = nullptr;
  HandleKind kind{};
  std::uint64_t generation = 0;
};
constexpr std::size_t kRemembered = 16;
thread_local std::array<Remembered, kRemembered> remembered;

std::optional<HandleKind> find(const void* object) {
  Shard& shard = shard_of(object);
  const std::shared_lock lock(shard.mutex);
  const auto found = shard.objects.find(object);
  return found == shard.objects.end() ? std::nullopt : std::optional(found->second);
}

ze_result_t refuse(const void* handle, HandleKind wanted, std::optional<HandleKind> found, const char* name) {
  char text[160];
  const char* needed = kNames[static_cast<std::size_t>(wanted)];
  if (found)
    std::snprintf(text, sizeof text, "%s: %p is a handle of a %s, a %s is needed", name, handle,
                  kNames[static_cast<std::size_t>(*found)], needed);
  else
    std::snprintf(text, sizeof text,
                  "%s: %p is no live handle of the CPU device; a %s is needed, perhaps it was destroyed",
                  name, handle, needed);
  try {
    set_last_error(text);
  } catch (...) {  // no memory for the text
  }
  return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

}  // namespace

void enter_live(const void* object, HandleKind kind) {
  Shard& shard = shard_of(object);
  const std::lock_guard lock(shard.mutex);
  shard.objects[object] = kind;
}

void leave_live(const void* object) {
  Shard& shard = shard_of(object);
  const std::lock_guard lock(shard.mutex);
  shard.objects.erase(object);
  generation_of(object).fetch_add(1);
}

bool is_live(const void* object, HandleKind kind) { return find(object) == kind; }

ze_result_t check_live(const void* handle, HandleKind kind, const char* name) {
  if (!handle) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  const std::uint64_t now = generation_of(handle).load();
  Remembered& last = remembered[spread(handle) / kShards % kRemembered];
  if (last.object == handle && last.generation == now && last.kind == kind) return ZE_RESULT_SUCCESS;
  const auto found = find(handle);
  if (!found || *found != kind) return refuse(handle, kind, found, name);
  last = {handle, kind, now};
  return ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
