// SPDX-License-Identifier: MIT
// The handles of the C interface: numbers that name an object as long as it is there, and are never followed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace kiln_c {

/// What is behind handles, by the name that kiln.h gives them after `kiln_`.
#define KILN_C_KINDS(kind)                                                                               \
  kind(error) kind(file) kind(findings) kind(meaning) kind(device) kind(buffer) kind(cache) kind(bundle) \
      kind(kernel) kind(list) kind(queue) kind(event_pool) kind(event) kind(account)

/// A handle is, from its low bits up: 4 of the kind, 24 of a slot, 36 that count the slot's uses. So what was
/// destroyed, or never given, or is of another kind, is told by a comparison.
#define KILN_C_KIND(name) name,
enum class Kind : std::uint8_t { none, KILN_C_KINDS(KILN_C_KIND) };
#undef KILN_C_KIND

/// "kiln_file" and so on.
[[nodiscard]] constexpr const char* name_of(Kind kind) {
#define KILN_C_KIND(name) "kiln_" #name,
  constexpr const char* kNames[] = {"", KILN_C_KINDS(KILN_C_KIND)};
#undef KILN_C_KIND
  return kNames[static_cast<std::size_t>(kind)];
}

namespace table {
inline constexpr unsigned kKindBits = 4, kIndexBits = 24, kChunkBits = 10;
inline constexpr std::size_t kChunkSize = std::size_t{1} << kChunkBits;
inline constexpr std::size_t kChunks = std::size_t{1} << (kIndexBits - kChunkBits);
struct Slot {
  std::atomic<std::uintptr_t> handle{0};  // 0: free
  std::atomic<void*> object{nullptr};
  std::shared_ptr<void> owner;
  std::uint64_t uses = 0;
  std::uint32_t next_free = 0;
};
/// Never freed, so that a handle can be looked up without a lock, and at exit too.
extern std::array<std::atomic<Slot*>, kChunks> chunks;
}  // namespace table

/// The object behind a handle, or null. Thread-safe; takes no lock.
[[nodiscard]] inline void* find(Kind kind, const void* handle) {
  using namespace table;
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if ((value & ((1u << kKindBits) - 1)) != static_cast<std::uintptr_t>(kind)) return nullptr;
  const std::size_t index = (value >> kKindBits) & ((std::size_t{1} << kIndexBits) - 1);
  const Slot* const chunk = chunks[index >> kChunkBits].load(std::memory_order_acquire);
  if (!chunk) return nullptr;
  const Slot& slot = chunk[index & (kChunkSize - 1)];
  if (slot.handle.load(std::memory_order_acquire) != value) return nullptr;
  return slot.object.load(std::memory_order_relaxed);
}

/// A handle for an object. Null when there are 16,777,216 of them already. Thread-safe.
[[nodiscard]] void* keep(Kind kind, std::shared_ptr<void> object);
/// Ownership beside that of the handle; empty when it names nothing. Thread-safe.
[[nodiscard]] std::shared_ptr<void> share(Kind kind, const void* handle);
/// The handle names nothing from now on. Thread-safe.
std::shared_ptr<void> take(Kind kind, const void* handle);

}  // namespace kiln_c
