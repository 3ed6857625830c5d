// SPDX-License-Identifier: MIT
// Events, pools and fences; timestamps become durations.
#include "kiln/event.hpp"

#include "kiln/structures.hpp"
#include "level_zero/call.hpp"

namespace kiln {
namespace {

Result<bool> signalled(ze_result_t code, const char* call) {
  if (code == ZE_RESULT_NOT_READY) return false;
  KILN_TRY(check(code, call));
  return true;
}

}  // namespace

Result<void> EventRef::wait(Timeout timeout) const {
  return KILN_CALL(zeEventHostSynchronize, raw(), detail::timeout_of(timeout));
}
Result<bool> EventRef::is_signalled() const {
  return signalled(api().zeEventQueryStatus(raw()), "zeEventQueryStatus");
}
Result<void> EventRef::signal() const { return KILN_CALL(zeEventHostSignal, raw()); }
Result<void> EventRef::reset() const { return KILN_CALL(zeEventHostReset, raw()); }

Result<KernelTimestamps> EventRef::timestamps() const {
  ze_kernel_timestamp_result_t value{};
  KILN_TRY(KILN_CALL(zeEventQueryKernelTimestamp, raw(), &value));
  return KernelTimestamps{value.global.kernelStart, value.global.kernelEnd, value.context.kernelStart,
                          value.context.kernelEnd};
}

Result<std::chrono::nanoseconds> EventRef::kernel_duration(const DeviceProperties& device) const {
  auto ticks = timestamps();
  KILN_TRY(ticks);
  return timestamp_duration(ticks->global_start, ticks->global_end, device.timestamp_bits,
                            device.timer_ticks_per_second);
}

void EventRef::destroy(Handle handle) { KILN_DESTROY(zeEventDestroy, handle); }

Result<EventPool> EventPoolRef::create(ContextRef context, std::uint32_t count, EventPoolOptions options) {
  auto description = make<ze_event_pool_desc_t>();
  if (options.host_visible) description.flags |= ZE_EVENT_POOL_FLAG_HOST_VISIBLE;
  if (options.timestamps) description.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
  description.count = count;
  Handle handle = nullptr;
  KILN_TRY(KILN_CALL(zeEventPoolCreate, context.raw(), &description, 0, nullptr, &handle));
  return EventPool::adopt(handle);
}

Result<Event> EventPoolRef::event(std::uint32_t index) const {
  auto description = make<ze_event_desc_t>();
  description.index = index;
  description.signal = description.wait = ZE_EVENT_SCOPE_FLAG_HOST;
  ze_event_handle_t handle = nullptr;
  KILN_TRY(KILN_CALL(zeEventCreate, raw(), &description, &handle));
  return Event::adopt(handle);
}

void EventPoolRef::destroy(Handle handle) { KILN_DESTROY(zeEventPoolDestroy, handle); }

Result<void> FenceRef::wait(Timeout timeout) const {
  return KILN_CALL(zeFenceHostSynchronize, raw(), detail::timeout_of(timeout));
}
Result<bool> FenceRef::is_signalled() const {
  return signalled(api().zeFenceQueryStatus(raw()), "zeFenceQueryStatus");
}
Result<void> FenceRef::reset() const { return KILN_CALL(zeFenceReset, raw()); }
void FenceRef::destroy(Handle handle) { KILN_DESTROY(zeFenceDestroy, handle); }

}  // namespace kiln
