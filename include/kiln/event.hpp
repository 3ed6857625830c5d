// SPDX-License-Identifier: MIT
// Events with timestamps, event pools and fences, and lists of events to wait for.
#pragma once

#include <chrono>
#include <concepts>
#include <span>
#include <type_traits>
#include <utility>

#include "kiln/context.hpp"

namespace kiln {

/// How long a wait may take; `kForever` waits until done or the device is lost.
using Timeout = std::chrono::nanoseconds;
inline constexpr Timeout kForever = Timeout::max();

class EventRef;
using Event = Unique<EventRef>;
class EventPoolRef;
using EventPool = Unique<EventPoolRef>;
class FenceRef;
using Fence = Unique<FenceRef>;

namespace detail {
[[gnu::cold, gnu::noinline]] Result<void> not_called(bool has_handle, ze_result_t code, const char* call);
/// A call that takes a handle alone.
template <class Handle>
[[nodiscard]] inline Result<void> call_alone(const Ref<Handle>& ref,
                                             ze_result_t (ZE_APICALL* Api::*function)(Handle),
                                             const char* call) {
  const ze_result_t code = ref ? (ref.table()->*function)(ref.raw()) : ZE_RESULT_SUCCESS;
  if (!ref || code != ZE_RESULT_SUCCESS) [[unlikely]]
    return not_called(static_cast<bool>(ref), code, call);
  return {};
}
}  // namespace detail

/// Device and tick values of a kernel that has run.
struct KernelTimestamps {
  std::uint64_t global_start = 0, global_end = 0;    ///< ticks, shared with other work on the device
  std::uint64_t context_start = 0, context_end = 0;  ///< ticks, this context alone
};

/// How far what was written before a signal is seen behind it, or what a wait makes visible. Less is cheaper:
/// `host` flushes the caches of the device. Each holds those before it. Source: specification,
/// ze_event_scope_flag_t.
enum class EventScope : std::uint8_t {
  none,        ///< order alone: commands of one list, or lists of one queue
  sub_device,  ///< other queues of the sub-device
  device,      ///< other queues of the device
  host,        ///< other devices and the host too
};

struct EventOptions {
  EventScope signal = EventScope::host, wait = EventScope::host;
};

struct CounterEventOptions {
  /// The host may ask and wait; what the device wrote it sees with `signal` host alone.
  bool host_visible = true;
  bool timestamps = false;
  EventScope signal = EventScope::host, wait = EventScope::device;
};

/// An event. Thread-safe for queries and waits; reset only when nobody waits.
class EventRef : public Ref<ze_event_handle_t> {
 public:
  using Ref::Ref;
  /// An event without a pool, which is never reset: each append that signals it makes it stand for that
  /// command alone; before the first it is signalled. For lists in order only (ListOptions::in_order), to
  /// signal it; any may wait. Neither signal() nor reset() nor reset_event(). Error: UNSUPPORTED_FEATURE
  /// (K0230) without Feature::counter_based_events.
  [[nodiscard]] static Result<Event> create_counter_based(ContextRef, DeviceRef, CounterEventOptions = {});

  /// Error NOT_READY when the time is over first.
  [[nodiscard]] Result<void> wait(Timeout timeout = kForever) const;
  [[nodiscard]] Result<bool> is_signalled() const;
  [[nodiscard]] Result<void> signal() const;
  [[nodiscard]] Result<void> reset() const;
  [[nodiscard]] Result<KernelTimestamps> timestamps() const;
  /// Time on the device between start and end of the kernel, wrap-around included; the pool needs timestamps.
  [[nodiscard]] Result<std::chrono::nanoseconds> kernel_duration(const DeviceProperties& device) const;

  static void destroy(EventRef);
};
KILN_HANDLE_CHECKS(EventRef);
inline Result<void> EventRef::reset() const {
  return detail::call_alone(*this, &Api::zeEventHostReset, "zeEventHostReset");
}

/// The events that a command waits for: `{}`, `{event}`, up to four by name, or any number in an array,
/// vector or span, which must live until the call returns. Those by name are kept inside, so that a Waits may
/// be stored; their owners must live.
class Waits {
 public:
  static constexpr std::size_t kMostByName = 4;

  constexpr Waits() {}
  template <class... Events>
  requires(sizeof...(Events) >= 1 && sizeof...(Events) <= kMostByName &&
           (std::convertible_to<Events, EventRef> && ...))  //
      Waits(Events&&... events)
      : count_(sizeof...(Events)), few_{EventRef(std::forward<Events>(events))...} {}
  template <class Range>
  requires(!std::same_as<Range, Waits> && !std::convertible_to<const Range&, EventRef> &&
           std::convertible_to<const Range&, std::span<const EventRef>>)  //
      Waits(const Range& range)
      : Waits(std::span<const EventRef>(range).data(), std::span<const EventRef>(range).size()) {}
  Waits(const EventRef* events, std::size_t count) : many_(events), count_(count) {
    if (!events && count > 0) *this = Waits(EventRef());  // refused as an empty handle is
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] const EventRef* data() const { return many_ ? many_ : few_; }
  [[nodiscard]] const EventRef* begin() const { return data(); }
  [[nodiscard]] const EventRef* end() const { return data() + count_; }

 private:
  const EventRef* many_ = nullptr;  // null: those in few_
  std::size_t count_ = 0;
  struct Nothing {};
  union {  // a launch that waits for none writes none
    Nothing nothing_ = {};
    EventRef few_[kMostByName];
  };
};
static_assert(std::is_trivially_copyable_v<Waits>);

struct EventPoolOptions {
  bool host_visible = true;
  bool timestamps = false;
};

/// A pool of `count` events, which must not outlive it. Creation of events is thread-safe. Errors: K0223 for
/// a count of 0 or above 2^24, K0217 no memory for it; INVALID_ARGUMENT for an index that is not below the
/// count.
class EventPoolRef : public Ref<ze_event_pool_handle_t> {
 public:
  using Ref::Ref;
  [[nodiscard]] static Result<EventPool> create(ContextRef context, std::uint32_t count,
                                                EventPoolOptions = {});
  [[nodiscard]] Result<Event> event(std::uint32_t index, EventOptions = {}) const;

  static void destroy(EventPoolRef);
};
KILN_HANDLE_CHECKS(EventPoolRef);

/// A fence of one queue. One thread at a time.
class FenceRef : public Ref<ze_fence_handle_t> {
 public:
  using Ref::Ref;
  [[nodiscard]] Result<void> wait(Timeout timeout = kForever) const;
  [[nodiscard]] Result<bool> is_signalled() const;
  [[nodiscard]] Result<void> reset() const;

  static void destroy(FenceRef);
};
KILN_HANDLE_CHECKS(FenceRef);

}  // namespace kiln
