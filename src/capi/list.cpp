// SPDX-License-Identifier: MIT
// Of the C interface: lists of commands and the queues that run them.
#include "capi/sync.hpp"

namespace kiln_c {
namespace {

/// Runs `append(list, sync)` with what the caller gave.
template <class Append>
Result<void> appended(const char* call, kiln_list list, const kiln_sync* given, Append append) {
  KILN_TRY(const ListObject* object, get<ListObject>(call, list));
  Events events;
  Sync sync;
  if (given) {
    Input<kiln_sync> input;
    KILN_TRY(Input<kiln_sync>::read(call, "kiln_sync", given, input));
    KILN_TRY(sync, sync_of(call, input->signal, input->wait, input->wait_count, events));
  }
  return append(object->list.get(), sync);
}

/// Lists behind their handles.
Result<std::vector<CommandListRef>> lists_of(const char* call, const kiln_list* given, std::uint32_t count) {
  constexpr std::uint32_t kMost = 1 << 20;
  if (!given) return tl::unexpected(null_parameter(call, "lists"));
  if (count == 0) return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_SIZE, call, "count", "is 0"));
  if (count > kMost) return tl::unexpected(out_of_range(call, "count", count, kMost));
  std::vector<CommandListRef> refs;
  for (std::uint32_t i = 0; i < count; ++i) {
    KILN_TRY(const ListObject* list, get<ListObject>(call, given[i]));
    refs.push_back(list->list.get());
  }
  return refs;
}

Result<QueueOptions> queue_options(const char* call, std::uint32_t priority, std::uint32_t index) {
  QueueOptions options;
  options.index = index;
  if (priority > KILN_PRIORITY_HIGH) return tl::unexpected(unknown_bits(call, "priority", priority));
  static_assert(KILN_PRIORITY_LOW == static_cast<int>(QueuePriority::low) &&
                KILN_PRIORITY_HIGH == static_cast<int>(QueuePriority::high));
  options.priority = static_cast<QueuePriority>(priority);
  return options;
}

kiln_result create_list(const char* call, kiln_device device, const kiln_list_options* given, kiln_list* list,
                        kiln_error* error) {
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "list", list));
    auto object = std::make_shared<ListObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    Input<kiln_list_options> input;
    KILN_TRY(Input<kiln_list_options>::read(call, "kiln_list_options", given, input));
    const std::uint32_t flags = input->flags;
    const bool immediate = flags & KILN_LIST_IMMEDIATE;
    if (flags & ~std::uint32_t{KILN_LIST_IMMEDIATE | KILN_LIST_SYNCHRONOUS | KILN_LIST_IN_ORDER |
                               KILN_LIST_COPY_OFFLOAD | KILN_LIST_QUEUE_GROUP})
      return tl::unexpected(unknown_bits(call, "flags", flags));
    if (!immediate && ((flags & KILN_LIST_SYNCHRONOUS) || input->priority || input->queue_index))
      return tl::unexpected(bad_parameter(
          ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
          flags & KILN_LIST_SYNCHRONOUS ? "flags"
          : input->priority             ? "priority"
                                        : "queue_index",
          flags & KILN_LIST_SYNCHRONOUS ? "has KILN_LIST_SYNCHRONOUS without KILN_LIST_IMMEDIATE"
                                        : "is set without KILN_LIST_IMMEDIATE",
          {"a list that is not immediate runs on a queue: ask that of the queue"}));
    if (!(flags & KILN_LIST_QUEUE_GROUP) && input->queue_group)
      return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, "queue_group",
                                          "is set without KILN_LIST_QUEUE_GROUP"));
    KILN_TRY(QueueOptions options, queue_options(call, input->priority, input->queue_index));
    options.synchronous = flags & KILN_LIST_SYNCHRONOUS;
    ListOptions of_list;
    of_list.in_order = flags & KILN_LIST_IN_ORDER;
    of_list.copy_offload = flags & KILN_LIST_COPY_OFFLOAD;
    const OpenDevice& open = object->device->open;
    const ContextRef context = open.context.get();
    const std::uint32_t group =
        flags & KILN_LIST_QUEUE_GROUP ? input->queue_group : object->device->queue_group;
    KILN_TRY(object->list,
             immediate ? CommandListRef::create_immediate(context, open.device, options, group, of_list)
                       : CommandListRef::create(context, open.device, group, of_list));
    return give(call, std::move(object), list);
  });
}

kiln_result create_queue(const char* call, kiln_device device, const kiln_queue_options* given,
                         kiln_queue* queue, kiln_error* error) {
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "queue", queue));
    auto object = std::make_shared<QueueObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    Input<kiln_queue_options> input;
    KILN_TRY(Input<kiln_queue_options>::read(call, "kiln_queue_options", given, input));
    const std::uint32_t flags = input->flags;
    if (flags & ~std::uint32_t{KILN_QUEUE_SYNCHRONOUS | KILN_QUEUE_QUEUE_GROUP})
      return tl::unexpected(unknown_bits(call, "flags", flags));
    if (!(flags & KILN_QUEUE_QUEUE_GROUP) && input->queue_group)
      return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, "queue_group",
                                          "is set without KILN_QUEUE_QUEUE_GROUP"));
    KILN_TRY(QueueOptions options, queue_options(call, input->priority, input->queue_index));
    options.synchronous = flags & KILN_QUEUE_SYNCHRONOUS;
    const OpenDevice& open = object->device->open;
    const std::uint32_t group =
        flags & KILN_QUEUE_QUEUE_GROUP ? input->queue_group : object->device->queue_group;
    KILN_TRY(object->queue, CommandQueueRef::create(open.context.get(), open.device, options, group));
    return give(call, std::move(object), queue);
  });
}

Result<RegionPlace> place_of(const char* call, const char* parameter, const kiln_region_place* given) {
  if (!given) return tl::unexpected(null_parameter(call, parameter));
  return RegionPlace{given->x, given->y, given->z, given->pitch, given->slice_pitch};
}

}  // namespace
}  // namespace kiln_c

using namespace kiln_c;

kiln_result kiln_list_create(kiln_device device, uint32_t flags, kiln_list* list, kiln_error* error) {
  kiln_list_options options = KILN_INIT(kiln_list_options);
  options.flags = flags;
  return create_list(__func__, device, &options, list, error);
}

kiln_result kiln_list_create_with(kiln_device device, const kiln_list_options* options, kiln_list* list,
                                  kiln_error* error) {
  return create_list(__func__, device, options, list, error);
}

kiln_result kiln_list_barrier(kiln_list list, const kiln_sync* sync, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&] {
    return appended(call, list, sync, [](CommandListRef to, const Sync& with) { return to.barrier(with); });
  });
}

kiln_result kiln_list_copy(kiln_list list, void* to, const void* from, size_t bytes, const kiln_sync* sync,
                           kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&] {
    return appended(call, list, sync, [&](CommandListRef commands, const Sync& with) {
      return commands.copy(to, from, bytes, with);
    });
  });
}

kiln_result kiln_list_copy_buffer(kiln_list list, kiln_buffer to, kiln_buffer from, const kiln_sync* sync,
                                  kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const BufferObject* target, get<BufferObject>(call, to));
    KILN_TRY(const BufferObject* source, get<BufferObject>(call, from));
    return appended(call, list, sync, [&](CommandListRef commands, const Sync& with) {
      return commands.copy(target->buffer, source->buffer, with);
    });
  });
}

kiln_result kiln_list_fill(kiln_list list, void* to, const void* pattern, size_t pattern_size, size_t bytes,
                           const kiln_sync* sync, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    if (!pattern) return tl::unexpected(null_parameter(call, "pattern"));
    return appended(call, list, sync, [&](CommandListRef commands, const Sync& with) {
      return commands.fill(to, bytes_of(pattern, pattern_size), bytes, with);
    });
  });
}

kiln_result kiln_list_copy_region(kiln_list list, void* to, const kiln_region_place* to_place,
                                  const void* from, const kiln_region_place* from_place, kiln_extent size,
                                  const kiln_sync* sync, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&] {
    return appended(call, list, sync, [&](CommandListRef commands, const Sync& with) -> Result<void> {
      KILN_TRY(const RegionPlace target, place_of(call, "to_place", to_place));
      KILN_TRY(const RegionPlace source, place_of(call, "from_place", from_place));
      return commands.copy_region(to, target, from, source, extent_of(size), with);
    });
  });
}

kiln_result kiln_list_prefetch(kiln_list list, const void* data, size_t bytes, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const ListObject* object, get<ListObject>(call, list));
    return object->list->prefetch(data, bytes);
  });
}

kiln_result kiln_list_advise(kiln_list list, const void* data, size_t bytes, uint32_t advice,
                             kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    static_assert(
        static_cast<int>(KILN_ADVICE_SET_READ_MOSTLY) == ZE_MEMORY_ADVICE_SET_READ_MOSTLY &&
        static_cast<int>(KILN_ADVICE_CLEAR_READ_MOSTLY) == ZE_MEMORY_ADVICE_CLEAR_READ_MOSTLY &&
        static_cast<int>(KILN_ADVICE_SET_PREFERRED_LOCATION) == ZE_MEMORY_ADVICE_SET_PREFERRED_LOCATION &&
        static_cast<int>(KILN_ADVICE_CLEAR_NON_ATOMIC_MOSTLY) == ZE_MEMORY_ADVICE_CLEAR_NON_ATOMIC_MOSTLY &&
        static_cast<int>(KILN_ADVICE_BIAS_UNCACHED) == ZE_MEMORY_ADVICE_BIAS_UNCACHED);
    KILN_TRY(const ListObject* object, get<ListObject>(call, list));
    if (advice > KILN_ADVICE_BIAS_UNCACHED) return tl::unexpected(unknown_bits(call, "advice", advice));
    return object->list->advise(object->device->open.device, data, bytes,
                                static_cast<ze_memory_advice_t>(advice));
  });
}

kiln_result kiln_list_write_timestamp(kiln_list list, uint64_t* to, const kiln_sync* sync,
                                      kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&] {
    return appended(call, list, sync, [&](CommandListRef commands, const Sync& with) {
      return commands.write_timestamp(to, with);
    });
  });
}

kiln_result kiln_list_append(kiln_list list, const kiln_list* lists, uint32_t count, const kiln_sync* sync,
                             kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&] {
    return appended(call, list, sync, [&](CommandListRef commands, const Sync& with) -> Result<void> {
      KILN_TRY(const std::vector<CommandListRef> refs, lists_of(call, lists, count));
      return commands.append(refs, with);
    });
  });
}

kiln_result kiln_list_host_function(kiln_list list, kiln_host_function function, void* user,
                                    const kiln_sync* sync, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&] {
    return appended(call, list, sync, [&](CommandListRef commands, const Sync& with) {
      return commands.host_function(function, user, with);
    });
  });
}

kiln_result kiln_list_signal(kiln_list list, kiln_event event, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const ListObject* object, get<ListObject>(call, list));
    KILN_TRY(const EventObject* signalled, get<EventObject>(call, event));
    return object->list->signal(signalled->event.get());
  });
}

kiln_result kiln_list_wait(kiln_list list, const kiln_event* events, uint32_t count, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const ListObject* object, get<ListObject>(call, list));
    Events known;
    KILN_TRY(known.read(call, events, count, "events", "count"));
    return count == 0 ? Result<void>() : object->list->wait(known.refs());
  });
}

kiln_result kiln_list_reset_event(kiln_list list, kiln_event event, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const ListObject* object, get<ListObject>(call, list));
    KILN_TRY(const EventObject* reset, get<EventObject>(call, event));
    return object->list->reset_event(reset->event.get());
  });
}

kiln_result kiln_list_synchronize(kiln_list list, uint64_t timeout, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const ListObject* object, get<ListObject>(call, list));
    return object->list->synchronize(timeout_of(timeout));
  });
}

kiln_result kiln_list_close(kiln_list list, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const ListObject* object, get<ListObject>(call, list));
    return object->list->close();
  });
}

kiln_result kiln_list_reset(kiln_list list, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const ListObject* object, get<ListObject>(call, list));
    return object->list->reset();
  });
}

void* kiln_list_native(kiln_list list) {
  const auto* const object = find<ListObject>(list);
  return object ? object->list.get().raw() : nullptr;
}

kiln_result kiln_list_lend(kiln_device device, void* native, kiln_list* list, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "list", list));
    auto object = std::make_shared<ListObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    if (!native) return tl::unexpected(null_parameter(call, "native"));
    object->list =
        CommandList::adopt(static_cast<ze_command_list_handle_t>(native), object->device->open.device.api());
    object->lent = true;
    return give(call, std::move(object), list);
  });
}

void kiln_list_destroy(kiln_list list) { destroy<ListObject>(list); }

kiln_result kiln_queue_create(kiln_device device, uint32_t flags, kiln_queue* queue, kiln_error* error) {
  kiln_queue_options options = KILN_INIT(kiln_queue_options);
  options.flags = flags;
  return create_queue(__func__, device, &options, queue, error);
}

kiln_result kiln_queue_create_with(kiln_device device, const kiln_queue_options* options, kiln_queue* queue,
                                   kiln_error* error) {
  return create_queue(__func__, device, options, queue, error);
}

kiln_result kiln_queue_execute(kiln_queue queue, const kiln_list* lists, uint32_t count, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const QueueObject* object, get<QueueObject>(call, queue));
    KILN_TRY(const std::vector<CommandListRef> refs, lists_of(call, lists, count));
    return object->queue->execute(refs);
  });
}

kiln_result kiln_queue_synchronize(kiln_queue queue, uint64_t timeout, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const QueueObject* object, get<QueueObject>(call, queue));
    return object->queue->synchronize(timeout_of(timeout));
  });
}

void* kiln_queue_native(kiln_queue queue) {
  const auto* const object = find<QueueObject>(queue);
  return object ? object->queue.get().raw() : nullptr;
}

void kiln_queue_destroy(kiln_queue queue) { destroy<QueueObject>(queue); }
