// SPDX-License-Identifier: MIT
// Of the C interface: events and their pools.
#include "capi/sync.hpp"

namespace kiln_c {

Result<void> Events::read(const char* call, const kiln_event* given, std::uint32_t count, const char* name,
                          const char* count_name) {
  constexpr std::uint32_t kMost = 1 << 24;  // as many as a pool can have
  if (count == 0) return {};
  if (!given) return tl::unexpected(null_parameter(call, name));
  if (count > kMost) return tl::unexpected(out_of_range(call, count_name, count, kMost));
  few_count_ = count <= few_.size() ? count : 0;
  if (!few_count_) more_.resize(count);
  EventRef* const into = few_count_ ? few_.data() : more_.data();
  for (std::uint32_t i = 0; i < count; ++i) {
    KILN_TRY(const EventObject* event, get<EventObject>(call, given[i]));
    into[i] = event->event.get();
  }
  return {};
}

Result<Sync> sync_of(const char* call, kiln_event signal, const kiln_event* wait, std::uint32_t wait_count,
                     Events& events) {
  Sync sync;
  if (signal) {
    KILN_TRY(const EventObject* event, get<EventObject>(call, signal));
    sync.signal = event->event.get();
  }
  KILN_TRY(events.read(call, wait, wait_count, "wait", "wait_count"));
  sync.wait = events.refs();
  return sync;
}

}  // namespace kiln_c

using namespace kiln_c;

namespace {

/// What C calls the default is `otherwise`.
Result<EventScope> scope_of(const char* call, const char* parameter, std::uint32_t given,
                            EventScope otherwise) {
  switch (given) {
    case KILN_SCOPE_DEFAULT:
      return otherwise;
    case KILN_SCOPE_NONE:
      return EventScope::none;
    case KILN_SCOPE_SUB_DEVICE:
      return EventScope::sub_device;
    case KILN_SCOPE_DEVICE:
      return EventScope::device;
    case KILN_SCOPE_HOST:
      return EventScope::host;
    default:
      return tl::unexpected(unknown_bits(call, parameter, given));
  }
}

/// Sets the scopes of `into` and gives the flags. Null: nothing is asked for.
template <class Options>
Result<std::uint32_t> read_options(const char* call, const kiln_event_options* given, Options& into) {
  if (!given) return 0;
  Input<kiln_event_options> input;
  KILN_TRY(Input<kiln_event_options>::read(call, "kiln_event_options", given, input));
  KILN_TRY(into.signal, scope_of(call, "signal_scope", input->signal_scope, into.signal));
  KILN_TRY(into.wait, scope_of(call, "wait_scope", input->wait_scope, into.wait));
  if (input->flags & ~std::uint32_t{KILN_EVENTS_TIMESTAMPS | KILN_EVENTS_DEVICE_ONLY})
    return tl::unexpected(unknown_bits(call, "flags", input->flags));
  return input->flags;
}

kiln_result create_in_pool(const char* call, kiln_event_pool pool, uint32_t index,
                           const kiln_event_options* options, kiln_event* event, kiln_error* error) {
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "event", event));
    auto object = std::make_shared<EventObject>();
    KILN_TRY(object->pool, hold<EventPoolObject>(call, pool));
    object->device = object->pool->device;
    EventOptions wanted;
    KILN_TRY(const std::uint32_t flags, read_options(call, options, wanted));
    if (flags)
      return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, "flags",
                                          "are those of an event without a pool",
                                          {"give them to kiln_event_pool_create()"}));
    if (index >= object->pool->count)
      return tl::unexpected(out_of_range(call, "index", index, object->pool->count));
    KILN_TRY(object->event, object->pool->pool->event(index, wanted));
    return give(call, std::move(object), event);
  });
}

}  // namespace

kiln_result kiln_event_pool_create(kiln_device device, uint32_t count, uint32_t flags, kiln_event_pool* pool,
                                   kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "pool", pool));
    auto object = std::make_shared<EventPoolObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    if (flags & ~std::uint32_t{KILN_EVENTS_TIMESTAMPS | KILN_EVENTS_DEVICE_ONLY})
      return tl::unexpected(unknown_bits(call, "flags", flags));
    EventPoolOptions options;
    options.timestamps = flags & KILN_EVENTS_TIMESTAMPS;
    options.host_visible = !(flags & KILN_EVENTS_DEVICE_ONLY);
    KILN_TRY(object->pool, EventPoolRef::create(object->device->open.context.get(), count, options));
    object->count = count;
    return give(call, std::move(object), pool);
  });
}

void kiln_event_pool_destroy(kiln_event_pool pool) { destroy<EventPoolObject>(pool); }

kiln_result kiln_event_create(kiln_event_pool pool, uint32_t index, kiln_event* event, kiln_error* error) {
  const kiln_event_options options = KILN_INIT(kiln_event_options);
  return create_in_pool(__func__, pool, index, &options, event, error);
}

kiln_result kiln_event_create_with(kiln_event_pool pool, uint32_t index, const kiln_event_options* options,
                                   kiln_event* event, kiln_error* error) {
  return create_in_pool(__func__, pool, index, options, event, error);
}

kiln_result kiln_event_create_counter_based(kiln_device device, const kiln_event_options* options,
                                            kiln_event* event, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "event", event));
    auto object = std::make_shared<EventObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    CounterEventOptions wanted;
    KILN_TRY(const std::uint32_t flags, read_options(call, options, wanted));
    wanted.timestamps = flags & KILN_EVENTS_TIMESTAMPS;
    wanted.host_visible = !(flags & KILN_EVENTS_DEVICE_ONLY);
    const OpenDevice& open = object->device->open;
    KILN_TRY(object->event, EventRef::create_counter_based(open.context.get(), open.device, wanted));
    return give(call, std::move(object), event);
  });
}

kiln_result kiln_event_wait(kiln_event event, uint64_t timeout, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const EventObject* object, get<EventObject>(call, event));
    return object->event->wait(timeout_of(timeout));
  });
}

kiln_result kiln_event_status(kiln_event event, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const EventObject* object, get<EventObject>(call, event));
    KILN_TRY(const bool signalled, object->event->is_signalled());
    if (!signalled) return tl::unexpected(Error(ZE_RESULT_NOT_READY, "zeEventQueryStatus"));
    return {};
  });
}

kiln_result kiln_event_signal(kiln_event event, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const EventObject* object, get<EventObject>(call, event));
    return object->event->signal();
  });
}

kiln_result kiln_event_reset(kiln_event event, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const EventObject* object, get<EventObject>(call, event));
    return object->event->reset();
  });
}

kiln_result kiln_event_get_timestamps(kiln_event event, kiln_timestamps* timestamps, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const EventObject* object, get<EventObject>(call, event));
    KILN_TRY(check_struct(call, "kiln_timestamps", timestamps));
    KILN_TRY(const KernelTimestamps ticks, object->event->timestamps());
    KILN_TRY(const auto duration, object->event->kernel_duration(object->device->open.properties));
    kiln_timestamps known = KILN_INIT(kiln_timestamps);
    known.global_start = ticks.global_start;
    known.global_end = ticks.global_end;
    known.context_start = ticks.context_start;
    known.context_end = ticks.context_end;
    known.duration = static_cast<std::uint64_t>(duration.count());
    return write(call, "kiln_timestamps", known, timestamps);
  });
}

void* kiln_event_native(kiln_event event) {
  const auto* const object = find<EventObject>(event);
  return object ? object->event.get().raw() : nullptr;
}

kiln_result kiln_event_lend(kiln_device device, void* native, kiln_event* event, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "event", event));
    auto object = std::make_shared<EventObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    if (!native) return tl::unexpected(null_parameter(call, "native"));
    object->event = Event::adopt(static_cast<ze_event_handle_t>(native), object->device->open.device.api());
    object->lent = true;
    return give(call, std::move(object), event);
  });
}

void kiln_event_destroy(kiln_event event) { destroy<EventObject>(event); }
