// SPDX-License-Identifier: MIT
// Counter-based events (1.15): no pool and no reset; each append makes the event stand for the command
// appended.
#include <cstring>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/api/ipc.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/event.hpp"

namespace kiln::cpu {
namespace {

constexpr std::uint32_t kScopeFlags = 0x7;

ze_result_t share_cell(CounterBased& counter, EventRef& state) {
  counter.file = make_shared_file(sizeof(EventCell));
  if (!counter.file) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  Mapping mapping = map_shared(counter.file, sizeof(EventCell));
  if (!mapping) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  counter.cell = std::make_shared<Mapping>(std::move(mapping));
  state = std::make_shared<EventState>(counter.cell, *static_cast<EventCell*>(counter.cell->get()));
  return ZE_RESULT_SUCCESS;
}

}  // namespace

ze_result_t event_counter_based_create(ze_context_handle_t context, ze_device_handle_t device,
                                       const abi::CounterBasedDesc* desc, ze_event_handle_t* event) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(event);
  constexpr std::uint32_t kBothTimes = abi::kCounterDeviceTimestamp | abi::kCounterHostTimestamp;
  if ((desc->flags & ~abi::kCounterFlags) || (desc->flags & kBothTimes) == kBothTimes ||
      ((desc->signal | desc->wait) & ~kScopeFlags))
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  // Counters in the application's own memory: zeDeviceGetProperties says that there are none.
  for (const auto type : {abi::kCounterExternalSync, abi::kCounterExternalStorage})
    if (find_chained<abi::Chained>(desc->pNext, type)) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  return guarded([&] {
    auto created = std::make_unique<Event>(object<Context>(context)->life.losses());
    created->counter_based.emplace().flags = desc->flags;
    created->signal_scope = desc->signal;
    created->wait_scope = desc->wait;
    created->mapped_timestamps = desc->flags & abi::kCounterHostTimestamp;
    created->state = std::make_shared<EventState>();
    if (desc->flags & abi::kCounterIpc)
      if (const auto result = share_cell(*created->counter_based, created->state);
          result != ZE_RESULT_SUCCESS)
        return result;
    created->state->signal({});  // nothing to wait for yet
    *event = handle(created.release());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t event_counter_based_get_ipc_handle(ze_event_handle_t event_handle,
                                               abi::CounterIpcHandle* handle) {
  KILN_NEED_HANDLE(event_handle);
  KILN_NEED_POINTER(handle);
  Event& event = *object<Event>(event_handle);
  if (!event.counter_based || !event.counter_based->cell) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const auto shared = shared_handle(event.counter_based->file.get(), SharedKind::event, sizeof(EventCell));
  if (!shared) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  write_handle(*shared, *handle);
  return ZE_RESULT_SUCCESS;
}

ze_result_t event_counter_based_open_ipc_handle(ze_context_handle_t context, abi::CounterIpcHandle from,
                                                ze_event_handle_t* event) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_POINTER(event);
  return guarded([&] {
    auto created = std::make_unique<Event>(object<Context>(context)->life.losses());
    CounterBased& counter = created->counter_based.emplace();
    counter.file = open_shared(read_handle(from), SharedKind::event);
    if (!counter.file) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    Mapping mapping = map_shared(counter.file, sizeof(EventCell));
    if (!mapping) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    counter.cell = std::make_shared<Mapping>(std::move(mapping));
    counter.flags = abi::kCounterIpc;
    created->state =
        std::make_shared<EventState>(counter.cell, *static_cast<EventCell*>(counter.cell->get()));
    *event = handle(created.release());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t event_counter_based_close_ipc_handle(ze_event_handle_t event) { return event_destroy(event); }

// The counter is the driver's own, and no kernel can wait for it.
ze_result_t event_counter_based_get_device_address(ze_event_handle_t event, std::uint64_t* completion,
                                                   std::uint64_t* address) {
  KILN_NEED_HANDLE(event);
  KILN_NEED_POINTER(completion);
  KILN_NEED_POINTER(address);
  return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

ze_result_t event_get_counter_based_flags(ze_event_handle_t event, std::uint32_t* flags) {
  KILN_NEED_HANDLE(event);
  KILN_NEED_POINTER(flags);
  const auto& counter = object<Event>(event)->counter_based;
  if (!counter) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  *flags = counter->flags;
  return ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
