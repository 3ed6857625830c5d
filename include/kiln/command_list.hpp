// SPDX-License-Identifier: MIT
// Command lists, regular and immediate, and the queues that run the regular ones.
#pragma once

#include <span>

#include "kiln/event.hpp"
#include "kiln/module.hpp"

namespace kiln {

class CommandListRef;
using CommandList = Unique<CommandListRef>;
class CommandQueueRef;
using CommandQueue = Unique<CommandQueueRef>;

/// What an append waits for and what it signals: `{done, {before}}`.
struct Sync {
  EventRef signal = {};
  Waits wait = {};
};

enum class QueuePriority : std::uint8_t { normal, low, high };

struct QueueOptions {
  bool synchronous = false;  ///< each submission returns when it is done
  QueuePriority priority = QueuePriority::normal;
  std::uint32_t index = 0;  ///< of the queue in its group, below QueueGroup::queues
};

struct ListOptions {
  /// Each command starts when the one before it has ended, and sees what that wrote. Error:
  /// UNSUPPORTED_FEATURE (K0230) without Feature::in_order_lists; some older drivers would ignore the flag.
  bool in_order = false;
  /// A hint: copies may run on another engine. Left out where the driver does not know it
  /// (Feature::copy_offload).
  bool copy_offload = false;
};

/// A place in memory of rows: `x` in bytes, `y` in rows, `z` in slices.
struct RegionPlace {
  std::uint32_t x = 0, y = 0, z = 0;
  std::uint32_t pitch = 0;  ///< bytes from one row to the next
  std::uint32_t slice_pitch =
      0;  ///< bytes from one slice to the next; of one slice it counts where z is not 0
};

/// A command list. Unless it is in order (ListOptions), commands start in the order of the appends and may
/// end in any other: what one leaves in memory the next one sees only behind a barrier or an event
/// (specification, "Execution Barriers"). That holds for `signal` too. Lists of synchronous queues are in
/// order. The CPU device shows a missing barrier with KILN_CPU_ORDER=shuffle. One thread at a time; creation
/// is thread-safe. Errors: K0218 no memory for it, K0224 no such queue group or queue; of appends and
/// submissions K0220, K0221; K0222 for empty handles and null pointers, K0226 for a fill, K0231 for a region;
/// K0230 for what is newer than the driver; else the driver's.
class CommandListRef : public Ref<ze_command_list_handle_t> {
 public:
  using Ref::Ref;
  [[nodiscard]] static Result<CommandList> create(ContextRef, DeviceRef, std::uint32_t queue_group = 0,
                                                  ListOptions = {});
  /// Commands start as they are appended.
  [[nodiscard]] static Result<CommandList> create_immediate(ContextRef, DeviceRef, QueueOptions = {},
                                                            std::uint32_t queue_group = 0, ListOptions = {});
  [[nodiscard]] Result<void> close() const;
  [[nodiscard]] Result<void> reset() const;

  /// All before it end before anything behind it starts.
  [[nodiscard]] Result<void> barrier(const Sync& = {}) const;
  [[nodiscard]] Result<void> copy(void* to, const void* from, std::size_t bytes, const Sync& = {}) const;
  /// Copies `from` into `to`. Error: UNSUPPORTED_SIZE (K0206) when it does not fit, before the driver hears
  /// of it.
  [[nodiscard]] Result<void> copy(const Buffer& to, const Buffer& from, const Sync& = {}) const;
  /// `pattern`, whose size is a power of two, is repeated over `bytes`; the last one may be cut.
  [[nodiscard]] Result<void> fill(void* to, std::span<const std::byte> pattern, std::size_t bytes,
                                  const Sync& = {}) const;
  /// Copies a box of `size` (bytes of a row, rows, slices) out of memory of rows into another. Error:
  /// INVALID_SIZE (K0231) for one that is empty, or does not fit the pitches. Level Zero fills no regions.
  [[nodiscard]] Result<void> copy_region(void* to, const RegionPlace& to_place, const void* from,
                                         const RegionPlace& from_place, Extent size, const Sync& = {}) const;
  /// Hints for shared memory: that the device of the list reads it next, and how it will be used.
  [[nodiscard]] Result<void> prefetch(const void* data, std::size_t bytes) const;
  [[nodiscard]] Result<void> advise(DeviceRef, const void* data, std::size_t bytes, ze_memory_advice_t) const;
  /// The device writes its clock there: ticks, of which DeviceProperties has the number a second and the
  /// bits. Error: UNSUPPORTED_ALIGNMENT (K0239) for an address that is no multiple of 8.
  [[nodiscard]] Result<void> write_timestamp(std::uint64_t* to, const Sync& = {}) const;
  /// The lists, which are closed, run as one command of this immediate list. Error: K0230 without
  /// Feature::append_lists.
  [[nodiscard]] Result<void> append(std::span<const CommandListRef> lists, const Sync& = {}) const;
  [[nodiscard]] Result<void> append(CommandListRef list, const Sync& sync = {}) const {
    return append(std::span(&list, 1), sync);
  }
  /// The host calls `function(user)`, on some thread, when the device gets there. It must be short, must not
  /// throw, and must not call Level Zero or Kiln. Error: K0230 without Feature::host_functions.
  [[nodiscard]] Result<void> host_function(void (*function)(void* user), void* user, const Sync& = {}) const;
  /// Not behind what is still running: a barrier's `signal` is.
  [[nodiscard]] Result<void> signal(EventRef) const;
  [[nodiscard]] Result<void> wait(const Waits&) const;
  [[nodiscard]] Result<void> reset_event(EventRef) const;
  /// The raw launch: arguments and group size are the kernel's current ones, and nothing is checked.
  /// `launch()` in kiln/launch.hpp checks.
  [[nodiscard]] Result<void> launch_unchecked(KernelRef, Extent groups, const Sync& = {}) const;
  /// Waits for an immediate list. Error NOT_READY when the time is over first; K0230 without
  /// Feature::list_synchronize: wait on an event there.
  [[nodiscard]] Result<void> synchronize(Timeout = kForever) const;

  static void destroy(CommandListRef);
};
KILN_HANDLE_CHECKS(CommandListRef);

namespace detail {
/// The raw handles that a command waits for, of which there are as many as its Waits has.
using FewWaits = ze_event_handle_t[Waits::kMostByName];
[[nodiscard]] inline std::uint32_t count_of(const Sync& sync) {
  return static_cast<std::uint32_t>(sync.wait.size());
}
/// Can a command of that list be sent where it stands? Only where the list is there, where it waits for few
/// events, and where they and the one that it signals are there and of the same driver.
[[nodiscard, gnu::always_inline]] inline bool can_send(CommandListRef list, const Sync& sync,
                                                       FewWaits& handles) {
  if (!list || (sync.signal && sync.signal.table() != list.table())) return false;
  const std::size_t count = sync.wait.size();
  if (count == 0) return true;
  if (count > Waits::kMostByName) return false;
  const EventRef* const events = sync.wait.data();
  for (std::size_t i = 0; i < count; ++i) {
    if (!events[i] || events[i].table() != list.table()) return false;
    handles[i] = events[i].raw();
  }
  return true;
}
/// Says why a command did not reach the list.
[[nodiscard, gnu::cold]] Error explain_unsent(ze_result_t code, const char* call, CommandListRef list);
[[gnu::cold, gnu::noinline]] inline Result<void> not_sent(ze_result_t code, const char* call,
                                                          CommandListRef list) {
  return tl::unexpected(explain_unsent(code, call, list));
}
[[nodiscard, gnu::always_inline]] inline Result<void> sent(ze_result_t code, const char* call,
                                                           CommandListRef list) {
  if (code == ZE_RESULT_SUCCESS) [[likely]]
    return {};
  return not_sent(code, call, list);
}
// Of what cannot be sent where it stands: they say why, or send it.
[[nodiscard]] Result<void> append_barrier(CommandListRef list, const Sync& sync);
[[nodiscard]] Result<void> append_copy(CommandListRef list, void* to, const void* from, std::size_t bytes,
                                       const Sync& sync);
[[nodiscard]] Result<void> append_timestamp(CommandListRef list, std::uint64_t* to, const Sync& sync);
}  // namespace detail

inline Result<void> CommandListRef::close() const {
  return detail::call_alone(*this, &Api::zeCommandListClose, "zeCommandListClose");
}
inline Result<void> CommandListRef::reset() const {
  return detail::call_alone(*this, &Api::zeCommandListReset, "zeCommandListReset");
}
inline Result<void> CommandListRef::barrier(const Sync& sync) const {
  detail::FewWaits waits;
  if (!detail::can_send(*this, sync, waits)) [[unlikely]]
    return detail::append_barrier(*this, sync);
  return detail::sent(
      table()->zeCommandListAppendBarrier(raw(), sync.signal.raw(), detail::count_of(sync), waits),
      "zeCommandListAppendBarrier", *this);
}
inline Result<void> CommandListRef::copy(void* to, const void* from, std::size_t bytes,
                                         const Sync& sync) const {
  detail::FewWaits waits;
  if (!to || !from || !detail::can_send(*this, sync, waits)) [[unlikely]]
    return detail::append_copy(*this, to, from, bytes, sync);
  return detail::sent(table()->zeCommandListAppendMemoryCopy(raw(), to, from, bytes, sync.signal.raw(),
                                                             detail::count_of(sync), waits),
                      "zeCommandListAppendMemoryCopy", *this);
}
inline Result<void> CommandListRef::write_timestamp(std::uint64_t* to, const Sync& sync) const {
  detail::FewWaits waits;
  const bool is_good = to && reinterpret_cast<std::uintptr_t>(to) % alignof(std::uint64_t) == 0;
  if (!is_good || !detail::can_send(*this, sync, waits)) [[unlikely]]
    return detail::append_timestamp(*this, to, sync);
  return detail::sent(table()->zeCommandListAppendWriteGlobalTimestamp(raw(), to, sync.signal.raw(),
                                                                       detail::count_of(sync), waits),
                      "zeCommandListAppendWriteGlobalTimestamp", *this);
}

/// A command queue. One thread at a time for submission; waits are thread-safe.
class CommandQueueRef : public Ref<ze_command_queue_handle_t> {
 public:
  using Ref::Ref;
  [[nodiscard]] static Result<CommandQueue> create(ContextRef, DeviceRef, QueueOptions = {},
                                                   std::uint32_t queue_group = 0);
  [[nodiscard]] Result<Fence> create_fence() const;
  [[nodiscard]] Result<void> execute(std::span<const CommandListRef> lists, FenceRef fence = {}) const;
  [[nodiscard]] Result<void> execute(CommandListRef list, FenceRef fence = {}) const {
    return execute(std::span(&list, 1), fence);
  }
  [[nodiscard]] Result<void> synchronize(Timeout = kForever) const;

  static void destroy(CommandQueueRef);
};
KILN_HANDLE_CHECKS(CommandQueueRef);

}  // namespace kiln
