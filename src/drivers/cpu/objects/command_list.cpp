// SPDX-License-Identifier: MIT
// zeCommandList*: creation, state and queries; the append functions stand in the append_ files.
#include "drivers/cpu/objects/command_list.hpp"

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/objects/device.hpp"
#include "drivers/cpu/objects/last_error.hpp"
#include "drivers/cpu/streams/order.hpp"

namespace kiln::cpu {

ze_result_t check(const Links& links) {
  if (links.signal) KILN_NEED_HANDLE(links.signal);
  if (links.wait_count == 0) return ZE_RESULT_SUCCESS;
  if (!links.waits) return ZE_RESULT_ERROR_INVALID_SIZE;
  for (std::uint32_t i = 0; i < links.wait_count; ++i) KILN_NEED_HANDLE(links.waits[i]);
  return ZE_RESULT_SUCCESS;
}

ze_result_t check_counting(const CommandList& list, ze_event_handle_t signal) {
  if (!signal || list.in_order() || !object<Event>(signal)->counter_based) return ZE_RESULT_SUCCESS;
  return guarded([] {
    set_last_error("an event that counts is signalled by lists in order alone");
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  });
}

void connect(Command& command, const Links& links) {
  for (std::uint32_t i = 0; i < links.wait_count; ++i)
    command.waits.push_back(object<Event>(links.waits[i])->state);
  if (!links.signal) return;
  Event& event = *object<Event>(links.signal);
  command.signal = begin_append(event);
  command.counts = event.counter_based.has_value();
}

ze_result_t drop_from_closed_list() {
  return guarded([] {
    set_last_error(
        "the command list is closed: the command was dropped and never runs; reset the list first");
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t stop_for_good(Stream& stream) {
  constexpr std::uint64_t kPatience = 10'000'000'000;  // ns
  if (stream.stop(kPatience)) return ZE_RESULT_SUCCESS;
  set_last_error(
      "a kernel of the command list or queue has run for 10 seconds since it was to be destroyed; it "
      "stays, and may be destroyed when the kernel has ended");
  return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
}

void fill_with_recordings(Command& command, std::vector<std::shared_ptr<Recording>> recordings) {
  for (const auto& recording : recordings)
    for (const Command& recorded : *recording)
      if (recorded.counts) recorded.signal->reset();
  command.action = [recordings = std::move(recordings)](Stream& stream) {
    ze_result_t first_failure = ZE_RESULT_SUCCESS;
    const auto note = [&](ze_result_t result) {
      if (first_failure == ZE_RESULT_SUCCESS) first_failure = result;
      return !(stream.stopping() && result == ZE_RESULT_ERROR_DEVICE_LOST);
    };
    for (const auto& recording : recordings)
      if (order().shuffle && !recording->in_order) {
        std::vector<const Command*> commands;
        for (const Command& recorded : *recording) commands.push_back(&recorded);
        if (const auto result = stream.run_unordered(commands, {}); !note(result)) return result;
      } else {
        for (const Command& recorded : *recording)
          if (const auto result = stream.run(recorded); !note(result)) return result;
      }
    return first_failure;
  };
}

ze_result_t collect_recordings(std::uint32_t count, const ze_command_list_handle_t* lists,
                               std::vector<std::shared_ptr<Recording>>& recordings) {
  for (std::uint32_t i = 0; i < count; ++i) {
    KILN_NEED_HANDLE(lists[i]);
    const CommandList& list = *object<CommandList>(lists[i]);
    if (list.immediate()) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    if (!list.closed) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    recordings.push_back(list.recording);
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_create(ze_context_handle_t context, ze_device_handle_t device,
                                const ze_command_list_desc_t* desc, ze_command_list_handle_t* list) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(list);
  // The conformance suite asks for the value that ends the enumeration, and Intel's drivers look at no flags.
  if (desc->flags != ZE_COMMAND_LIST_FLAG_FORCE_UINT32 && (desc->flags & ~abi::kListFlags))
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  if (desc->commandQueueGroupOrdinal >= kQueueGroups) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return guarded([&] {
    auto created = std::make_unique<CommandList>(context, object<Context>(context)->life.losses(), device);
    created->ordinal = desc->commandQueueGroupOrdinal;
    created->flags = desc->flags;
    created->recording = std::make_shared<Recording>((desc->flags & abi::kListInOrder) != 0);
    *list = handle(created.release());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t command_list_create_immediate(ze_context_handle_t context, ze_device_handle_t device,
                                          const ze_command_queue_desc_t* desc,
                                          ze_command_list_handle_t* list) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(list);
  if (const auto result = check_queue_desc(*desc); result != ZE_RESULT_SUCCESS) return result;
  return guarded([&] {
    auto created = std::make_unique<CommandList>(context, object<Context>(context)->life.losses(), device);
    created->flags = desc->flags;
    created->mode = desc->mode;
    created->priority = desc->priority;
    created->ordinal = desc->ordinal;
    created->stream =
        std::make_unique<Stream>(created->losses, desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                 desc->priority, order().shuffle && !(desc->flags & abi::kQueueInOrder));
    *list = handle(created.release());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t command_list_destroy(ze_command_list_handle_t list) {
  KILN_NEED_HANDLE(list);
  if (object<CommandList>(list)->immediate())
    if (const auto result = stop_for_good(*object<CommandList>(list)->stream); result != ZE_RESULT_SUCCESS)
      return result;
  delete object<CommandList>(list);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_close(ze_command_list_handle_t list) {
  KILN_NEED_HANDLE(list);
  // An immediate list is always open.
  if (!object<CommandList>(list)->immediate()) object<CommandList>(list)->closed = true;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_reset(ze_command_list_handle_t handle) {
  KILN_NEED_HANDLE(handle);
  CommandList& list = *object<CommandList>(handle);
  if (list.immediate()) return ZE_RESULT_SUCCESS;
  return guarded([&] {
    list.recording = std::make_shared<Recording>(list.recording->in_order);
    list.closed = false;
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t command_list_host_synchronize(ze_command_list_handle_t handle, std::uint64_t timeout) {
  KILN_NEED_HANDLE(handle);
  CommandList& list = *object<CommandList>(handle);
  return list.immediate() ? list.stream->synchronize(timeout) : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t command_list_immediate_append_command_lists_exp(
    ze_command_list_handle_t list, std::uint32_t count, ze_command_list_handle_t* lists,
    ze_event_handle_t signal, std::uint32_t wait_count, ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(lists);
  if (!object<CommandList>(list)->immediate()) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
  return guarded([&] {
    std::vector<std::shared_ptr<Recording>> recordings;
    if (const auto result = collect_recordings(count, lists, recordings); result != ZE_RESULT_SUCCESS)
      return result;
    return append(list, {signal, wait_count, waits},
                  [&](Command& command) { fill_with_recordings(command, std::move(recordings)); });
  });
}

ze_result_t command_list_get_device_handle(ze_command_list_handle_t list, ze_device_handle_t* device_handle) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(device_handle);
  *device_handle = object<CommandList>(list)->device;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_get_context_handle(ze_command_list_handle_t list, ze_context_handle_t* context) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(context);
  *context = object<CommandList>(list)->context;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_get_ordinal(ze_command_list_handle_t list, std::uint32_t* ordinal) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(ordinal);
  *ordinal = object<CommandList>(list)->ordinal;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_immediate_get_index(ze_command_list_handle_t list, std::uint32_t* index) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(index);
  if (!object<CommandList>(list)->immediate()) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
  *index = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_is_immediate(ze_command_list_handle_t list, ze_bool_t* immediate) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(immediate);
  *immediate = object<CommandList>(list)->immediate();
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_immediate_append_command_lists_with_parameters(
    ze_command_list_handle_t list, std::uint32_t count, ze_command_list_handle_t* lists, const void*,
    ze_event_handle_t signal, std::uint32_t wait_count, ze_event_handle_t* waits) {
  return command_list_immediate_append_command_lists_exp(list, count, lists, signal, wait_count, waits);
}

ze_result_t command_list_create_clone_exp(ze_command_list_handle_t list_handle,
                                          ze_command_list_handle_t* clone) {
  KILN_NEED_HANDLE(list_handle);
  KILN_NEED_POINTER(clone);
  const CommandList& list = *object<CommandList>(list_handle);
  if (list.immediate()) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
  if (!list.closed) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return guarded([&] {
    auto created = std::make_unique<CommandList>(list.context, list.losses, list.device);
    created->ordinal = list.ordinal;
    created->flags = list.flags;
    created->closed = true;
    created->recording = std::make_shared<Recording>(*list.recording);
    *clone = handle(created.release());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t command_list_get_flags(ze_command_list_handle_t list, ze_command_list_flags_t* flags) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(flags);
  if (object<CommandList>(list)->immediate()) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
  *flags = object<CommandList>(list)->flags;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_immediate_get_flags(ze_command_list_handle_t list, ze_command_queue_flags_t* flags) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(flags);
  if (!object<CommandList>(list)->immediate()) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
  *flags = object<CommandList>(list)->flags;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_immediate_get_mode(ze_command_list_handle_t list, ze_command_queue_mode_t* mode) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(mode);
  if (!object<CommandList>(list)->immediate()) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
  *mode = object<CommandList>(list)->mode;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_immediate_get_priority(ze_command_list_handle_t list,
                                                ze_command_queue_priority_t* priority) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(priority);
  if (!object<CommandList>(list)->immediate()) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
  *priority = object<CommandList>(list)->priority;
  return ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
