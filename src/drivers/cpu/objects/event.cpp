// SPDX-License-Identifier: MIT
// zeEventPool* and zeEvent*.
#include "drivers/cpu/objects/event.hpp"

#include <algorithm>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/last_error.hpp"
#include "drivers/cpu/settings/fault.hpp"
#include "drivers/cpu/streams/order.hpp"

namespace kiln::cpu {
namespace {

constexpr std::uint32_t kEventScopes = 0x7;
constexpr std::uint64_t kEventBytes = 256;  // of device memory an event takes on Intel's driver, about

/// False, and the last error says it: an event is there already.
bool take_place(EventPlaces& places, std::uint32_t index) {
  const std::lock_guard lock(places.mutex);
  if (places.taken[index]) {
    set_last_error("the pool has an event of index " + std::to_string(index) + " already");
    return false;
  }
  return places.taken[index] = true;
}

}  // namespace

bool map_cells(EventPlaces& places, std::size_t bytes) {
  Mapping mapping = map_shared(places.file, bytes);
  if (!mapping) return false;
  places.cells = std::make_shared<Mapping>(std::move(mapping));
  return true;
}

Event::~Event() {
  if (!places) return;
  const std::lock_guard lock(places->mutex);
  places->taken[index] = false;
}

EventRef begin_append(Event& event) {
  if (!event.counter_based) return event.state;
  // Who waits for an earlier command goes on waiting for that one.
  if (event.counter_based->cell)
    event.state->reset();
  else
    event.state = std::make_shared<EventState>();
  return event.state;
}

ze_kernel_timestamp_result_t kernel_timestamp(const EventState& event) {
  // Rounded inwards, so that the device never seems to take longer than the host that waited for it.
  const auto times = event.times();
  const std::uint64_t end = ns_to_ticks(times.end_ns);
  const std::uint64_t start = std::min(end, ns_to_ticks(times.start_ns) + (times.start_ns != 0));
  const std::uint32_t bits = device().profile->kernel_timestamp_bits;
  const ze_kernel_timestamp_data_t data{low_bits(start, bits), low_bits(end, bits)};
  return {data, data};
}

ze_result_t event_pool_create(ze_context_handle_t context, const ze_event_pool_desc_t* desc,
                              std::uint32_t count, ze_device_handle_t* devices,
                              ze_event_pool_handle_t* pool) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(pool);
  if (count > 0 && !devices) return ZE_RESULT_ERROR_INVALID_SIZE;
  if (desc->flags & ~abi::kEventPoolFlags) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  for (std::uint32_t i = 0; i < count; ++i) KILN_NEED_HANDLE(devices[i]);
  if (desc->count == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
  if (desc->count > device().total_memory / kEventBytes) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  return guarded([&] {
    auto created = std::make_unique<EventPool>(context);
    created->flags = desc->flags;
    created->count = desc->count;
    created->places = std::make_shared<EventPlaces>(desc->count);
    created->counter_based = find_chained<abi::Flags>(desc->pNext, abi::kCounterBasedPool) != nullptr;
    if (desc->flags & ZE_EVENT_POOL_FLAG_IPC) {
      const std::size_t bytes = std::size_t{desc->count} * sizeof(EventCell);
      created->places->file = make_shared_file(bytes);
      if (!created->places->file || !map_cells(*created->places, bytes))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *pool = handle(created.release());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t event_pool_destroy(ze_event_pool_handle_t pool) {
  KILN_NEED_HANDLE(pool);
  if (object<EventPool>(pool)->opened)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;  // zeEventPoolCloseIpcHandle's
  delete object<EventPool>(pool);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_pool_get_context_handle(ze_event_pool_handle_t pool, ze_context_handle_t* context) {
  KILN_NEED_HANDLE(pool);
  KILN_NEED_POINTER(context);
  *context = object<EventPool>(pool)->context;
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_pool_get_flags(ze_event_pool_handle_t pool, ze_event_pool_flags_t* flags) {
  KILN_NEED_HANDLE(pool);
  KILN_NEED_POINTER(flags);
  *flags = object<EventPool>(pool)->flags;
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_create(ze_event_pool_handle_t pool_handle, const ze_event_desc_t* desc,
                         ze_event_handle_t* event) {
  KILN_NEED_HANDLE(pool_handle);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(event);
  if ((desc->signal | desc->wait) & ~kEventScopes) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  EventPool* pool = object<EventPool>(pool_handle);
  if (desc->index >= pool->count) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return guarded([&] {
    auto created = std::make_unique<Event>(pool->losses);
    if (!take_place(*pool->places, desc->index)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    created->pool = pool;
    created->places = pool->places;
    created->index = desc->index;
    created->mapped_timestamps = pool->flags & abi::kEventPoolMappedTimestamp;
    created->signal_scope = desc->signal;
    created->wait_scope = desc->wait;
    if (const auto& cells = pool->places->cells; cells && !pool->counter_based) {
      EventCell& cell = static_cast<EventCell*>(cells->get())[desc->index];
      created->state = std::make_shared<EventState>(cells, cell);
    } else {
      created->state = std::make_shared<EventState>();
    }
    if (pool->counter_based) {
      created->counter_based.emplace();
      created->state->signal({});
    }
    *event = handle(created.release());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t event_destroy(ze_event_handle_t event) {
  KILN_NEED_HANDLE(event);
  delete object<Event>(event);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_host_signal(ze_event_handle_t event) {
  KILN_NEED_HANDLE(event);
  if (object<Event>(event)->counter_based) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;  // as 26.27
  const EventRef state = object<Event>(event)->state;
  const std::uint64_t now = now_ns();
  state->signal({now, now});
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_host_synchronize(ze_event_handle_t event, std::uint64_t timeout) {
  KILN_NEED_HANDLE(event);
  const EventRef held = object<Event>(event)->state;
  EventState& state = *held;
  const std::uint64_t ended = state.signalled() ? state.times().end_ns : UINT64_MAX;
  if (const auto lost = object<Event>(event)->losses.state(ended); lost != ZE_RESULT_SUCCESS) return lost;
  Held::release();
  if (timeout == 0) return state.signalled() ? state.outcome() : ZE_RESULT_NOT_READY;
  return state.wait(deadline_after(timeout)) ? state.outcome() : ZE_RESULT_NOT_READY;
}

ze_result_t event_query_status(ze_event_handle_t event) { return event_host_synchronize(event, 0); }

ze_result_t event_host_reset(ze_event_handle_t event) {
  KILN_NEED_HANDLE(event);
  if (object<Event>(event)->counter_based) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;  // as 26.27
  object<Event>(event)->state->reset();
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_query_kernel_timestamp(ze_event_handle_t event, ze_kernel_timestamp_result_t* result) {
  KILN_NEED_HANDLE(event);
  KILN_NEED_POINTER(result);
  Held::release();
  const EventState& state = *object<Event>(event)->state;
  if (!state.signalled()) return ZE_RESULT_NOT_READY;
  *result = kernel_timestamp(state);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_query_timestamps_exp(ze_event_handle_t event, ze_device_handle_t device,
                                       std::uint32_t* count, ze_kernel_timestamp_result_t* timestamps) {
  KILN_NEED_HANDLE(event);
  KILN_NEED_HANDLE(device);
  Held::release();
  const EventState& state = *object<Event>(event)->state;
  if (timestamps && !state.signalled()) return ZE_RESULT_NOT_READY;
  return enumerate(1, count, timestamps, [&](std::uint32_t i) { timestamps[i] = kernel_timestamp(state); });
}

ze_result_t event_query_kernel_timestamps_ext(ze_event_handle_t event_handle, ze_device_handle_t device,
                                              std::uint32_t* count, abi::KernelTimestampResults* results) {
  KILN_NEED_HANDLE(event_handle);
  KILN_NEED_HANDLE(device);
  Held::release();
  const Event& event = *object<Event>(event_handle);
  if (results && !event.state->signalled()) return ZE_RESULT_NOT_READY;
  return enumerate(1, count, results, [&](std::uint32_t i) {
    if (results->pKernelTimestampsBuffer)
      results->pKernelTimestampsBuffer[i] = kernel_timestamp(*event.state);
    if (results->pSynchronizedTimestampsBuffer && event.mapped_timestamps) {
      const auto times = event.state->times();
      results->pSynchronizedTimestampsBuffer[i] = {times.start_ns, times.end_ns, times.start_ns,
                                                   times.end_ns};
    }
  });
}

ze_result_t event_get_event_pool(ze_event_handle_t event, ze_event_pool_handle_t* pool) {
  KILN_NEED_HANDLE(event);
  KILN_NEED_POINTER(pool);
  if (!object<Event>(event)->pool) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  *pool = handle(object<Event>(event)->pool);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_get_signal_scope(ze_event_handle_t event, ze_event_scope_flags_t* scope) {
  KILN_NEED_HANDLE(event);
  KILN_NEED_POINTER(scope);
  *scope = object<Event>(event)->signal_scope;
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_get_wait_scope(ze_event_handle_t event, ze_event_scope_flags_t* scope) {
  KILN_NEED_HANDLE(event);
  KILN_NEED_POINTER(scope);
  *scope = object<Event>(event)->wait_scope;
  return ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
