// SPDX-License-Identifier: MIT
// Events with timestamps, event pools and fences.
#pragma once

#include <chrono>

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

/// Device and tick values of a kernel that has run.
struct KernelTimestamps {
  std::uint64_t global_start = 0, global_end = 0;    ///< ticks, shared with other work on the device
  std::uint64_t context_start = 0, context_end = 0;  ///< ticks, this context alone
};

/// An event. Thread-safe for queries and waits; reset only when nobody waits.
class EventRef : public Ref<ze_event_handle_t> {
 public:
  using Ref::Ref;
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
  [[nodiscard]] Result<Event> event(std::uint32_t index) const;

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
