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

}  // namespace
}  // namespace kiln_c

using namespace kiln_c;

kiln_result kiln_list_create(kiln_device device, uint32_t flags, kiln_list* list, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "list", list));
    auto object = std::make_shared<ListObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    if (flags & ~std::uint32_t{KILN_LIST_IMMEDIATE | KILN_LIST_SYNCHRONOUS})
      return tl::unexpected(unknown_bits(call, "flags", flags));
    if (flags == KILN_LIST_SYNCHRONOUS)
      return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_ARGUMENT, call, "flags",
                                          "has KILN_LIST_SYNCHRONOUS without KILN_LIST_IMMEDIATE",
                                          {"a list that is not immediate runs on a queue: make that one "
                                           "with KILN_QUEUE_SYNCHRONOUS"}));
    const OpenDevice& open = object->device->open;
    const ContextRef context = open.context.get();
    const std::uint32_t group = object->device->queue_group;
    QueueOptions options;
    options.synchronous = flags & KILN_LIST_SYNCHRONOUS;
    KILN_TRY(object->list, flags & KILN_LIST_IMMEDIATE
                               ? CommandListRef::create_immediate(context, open.device, options, group)
                               : CommandListRef::create(context, open.device, group));
    return give(call, std::move(object), list);
  });
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
    KILN_TRY(known.read(call, events, count));
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

void kiln_list_destroy(kiln_list list) { destroy<ListObject>(list); }

kiln_result kiln_queue_create(kiln_device device, uint32_t flags, kiln_queue* queue, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(receives(call, "queue", queue));
    auto object = std::make_shared<QueueObject>();
    KILN_TRY(object->device, hold<DeviceObject>(call, device));
    if (flags & ~std::uint32_t{KILN_QUEUE_SYNCHRONOUS})
      return tl::unexpected(unknown_bits(call, "flags", flags));
    const OpenDevice& open = object->device->open;
    QueueOptions options;
    options.synchronous = flags & KILN_QUEUE_SYNCHRONOUS;
    KILN_TRY(object->queue,
             CommandQueueRef::create(open.context.get(), open.device, options, object->device->queue_group));
    return give(call, std::move(object), queue);
  });
}

kiln_result kiln_queue_execute(kiln_queue queue, const kiln_list* lists, uint32_t count, kiln_error* error) {
  const char* const call = __func__;
  return run(call, error, [&]() -> Result<void> {
    KILN_TRY(const QueueObject* object, get<QueueObject>(call, queue));
    constexpr std::uint32_t kMost = 1 << 20;
    if (!lists) return tl::unexpected(null_parameter(call, "lists"));
    if (count == 0) return tl::unexpected(bad_parameter(ZE_RESULT_ERROR_INVALID_SIZE, call, "count", "is 0"));
    if (count > kMost) return tl::unexpected(out_of_range(call, "count", count, kMost));
    std::vector<CommandListRef> refs;
    for (std::uint32_t i = 0; i < count; ++i) {
      KILN_TRY(const ListObject* list, get<ListObject>(call, lists[i]));
      refs.push_back(list->list.get());
    }
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

void kiln_queue_destroy(kiln_queue queue) { destroy<QueueObject>(queue); }
