// SPDX-License-Identifier: MIT
// Events, pools and fences; timestamps become durations.
#include "kiln/event.hpp"

#include "kiln/refusal.hpp"
#include "kiln/structures.hpp"
#include "level_zero/call.hpp"
#include "level_zero/newer.hpp"
#include "level_zero/survey.hpp"

namespace kiln {
namespace {

/// A pool of none gives out events of any index on drivers 22.43 to 26.27, and those write where they may
/// not; so do pools of 2^25 and more on pvc, whose offsets wrap round.
constexpr std::uint32_t kMostEvents = 1u << 24;

Result<bool> signalled(Result<void> query) {
  if (query) return true;
  if (query.error().code() == ZE_RESULT_NOT_READY) return false;
  return tl::unexpected(std::move(query).error());
}

ze_event_scope_flags_t flag_of(EventScope scope) {
  switch (scope) {
    case EventScope::none:
      break;
    case EventScope::sub_device:
      return ZE_EVENT_SCOPE_FLAG_SUBDEVICE;
    case EventScope::device:
      return ZE_EVENT_SCOPE_FLAG_DEVICE;
    case EventScope::host:
      return ZE_EVENT_SCOPE_FLAG_HOST;
  }
  return 0;
}

/// The core's description and Intel's have the same members and flags.
template <class Description>
Description counter_based(const CounterEventOptions& options) {
  auto description = make<Description>();
  description.flags = abi::kCounterImmediate | abi::kCounterNonImmediate;
  if (options.host_visible) description.flags |= abi::kCounterHostVisible;
  if (options.timestamps) description.flags |= abi::kCounterTimestamps;
  description.signal = flag_of(options.signal);
  description.wait = flag_of(options.wait);
  return description;
}

}  // namespace

Result<void> detail::not_called(bool has_handle, ze_result_t code, const char* call) {
  return tl::unexpected(has_handle ? refused(code, call) : empty_handle(call));
}

Result<void> detail::check_event_count(std::uint32_t count) {
  if (count != 0 && count <= kMostEvents) return {};
  return tl::unexpected(Error(
      count == 0 ? ZE_RESULT_ERROR_INVALID_SIZE : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeEventPoolCreate",
      {"K0223",
       "an event pool cannot have that many events",
       {{"asked for", {}, count}, {"most", {}, kMostEvents}},
       {"make a pool of at least 1 event, and several pools for more than " + std::to_string(kMostEvents)}}));
}

Result<Event> EventRef::create_counter_based(ContextRef context, DeviceRef device,
                                             CounterEventOptions options) {
  Handle handle = nullptr;
  if (context.api().zeEventCounterBasedCreate) {
    const auto description = counter_based<abi::CounterBasedEvent>(options);
    KILN_TRY(KILN_CALL_NEWER(counter_based_events, zeEventCounterBasedCreate, context, device, &description,
                             &handle));
  } else {
    const auto description = counter_based<abi::IntelCounterBasedEvent>(options);
    KILN_TRY(KILN_CALL_NEWER(counter_based_events, zexCounterBasedEventCreate2, context, device, &description,
                             &handle));
  }
  return Event::adopt(handle, context.api());
}

Result<void> EventRef::wait(Timeout timeout) const {
  return KILN_CALL(zeEventHostSynchronize, *this, detail::timeout_of(timeout));
}
Result<bool> EventRef::is_signalled() const { return signalled(KILN_CALL(zeEventQueryStatus, *this)); }
Result<void> EventRef::signal() const { return KILN_CALL(zeEventHostSignal, *this); }

Result<KernelTimestamps> EventRef::timestamps() const {
  ze_kernel_timestamp_result_t value{};
  KILN_TRY(KILN_CALL(zeEventQueryKernelTimestamp, *this, &value));
  return KernelTimestamps{value.global.kernelStart, value.global.kernelEnd, value.context.kernelStart,
                          value.context.kernelEnd};
}

Result<std::chrono::nanoseconds> EventRef::kernel_duration(const DeviceProperties& device) const {
  auto ticks = timestamps();
  KILN_TRY(ticks);
  return timestamp_duration(ticks->global_start, ticks->global_end, device.timestamp_bits,
                            device.timer_ticks_per_second);
}

void EventRef::destroy(EventRef ref) { KILN_DESTROY(zeEventDestroy, ref); }

Result<EventPool> EventPoolRef::create(ContextRef context, std::uint32_t count, EventPoolOptions options) {
  KILN_TRY(detail::check_event_count(count));
  auto description = make<ze_event_pool_desc_t>();
  if (options.host_visible) description.flags |= ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  if (options.timestamps) description.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
  description.count = count;
  Handle handle = nullptr;
  if (auto made = KILN_CALL(zeEventPoolCreate, context, &description, 0, nullptr, &handle); !made) {
    const Refusal refusal = detail::survey(made.error().code(), "zeEventPoolCreate", {});
    return tl::unexpected(detail::explained(std::move(made).error(), explain_event_pool(refusal, count)));
  }
  return EventPool::adopt(handle, context.api());
}

Result<Event> EventPoolRef::event(std::uint32_t index, EventOptions options) const {
  auto description = make<ze_event_desc_t>();
  description.index = index;
  description.signal = flag_of(options.signal);
  description.wait = flag_of(options.wait);
  ze_event_handle_t handle = nullptr;
  KILN_TRY(KILN_CALL(zeEventCreate, *this, &description, &handle));
  return Event::adopt(handle, api());
}

void EventPoolRef::destroy(EventPoolRef ref) { KILN_DESTROY(zeEventPoolDestroy, ref); }

Result<void> FenceRef::wait(Timeout timeout) const {
  return KILN_CALL(zeFenceHostSynchronize, *this, detail::timeout_of(timeout));
}
Result<bool> FenceRef::is_signalled() const { return signalled(KILN_CALL(zeFenceQueryStatus, *this)); }
Result<void> FenceRef::reset() const { return KILN_CALL(zeFenceReset, *this); }
void FenceRef::destroy(FenceRef ref) { KILN_DESTROY(zeFenceDestroy, ref); }

}  // namespace kiln
