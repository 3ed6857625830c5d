// SPDX-License-Identifier: MIT
// zeCommandQueue* and zeFence*.
#include <memory>

#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/objects/command_list.hpp"
#include "drivers/cpu/objects/device.hpp"

namespace kiln::cpu {
namespace {

class CommandQueue : public Object {
 public:
  using Handle = ze_command_queue_handle_t;
  CommandQueue(const Context& context, const ze_command_queue_desc_t& desc)
      : Object(HandleKind::command_queue),
        desc(desc),
        stream(context.life.losses(), desc.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, desc.priority) {}
  ze_command_queue_desc_t desc;
  Stream stream;
};

class Fence : public Object {
 public:
  using Handle = ze_fence_handle_t;
  explicit Fence(LossesBefore losses) : Object(HandleKind::fence), losses(losses) {}
  const LossesBefore losses;
  EventRef state;
};

}  // namespace

ze_result_t check_queue_desc(const ze_command_queue_desc_t& desc) {
  if ((desc.flags & ~abi::kQueueFlags) || desc.mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS ||
      desc.priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH)
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  // One queue in each group.
  return desc.ordinal < kQueueGroups && desc.index == 0 ? ZE_RESULT_SUCCESS
                                                        : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t command_queue_create(ze_context_handle_t context, ze_device_handle_t device,
                                 const ze_command_queue_desc_t* desc, ze_command_queue_handle_t* queue) {
  KILN_NEED_HANDLE(context);
  KILN_NEED_HANDLE(device);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(queue);
  if (const auto result = check_queue_desc(*desc); result != ZE_RESULT_SUCCESS) return result;
  return guarded([&] {
    *queue = handle(new CommandQueue(*object<Context>(context), *desc));
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t command_queue_destroy(ze_command_queue_handle_t queue) {
  KILN_NEED_HANDLE(queue);
  if (const auto result = stop_for_good(object<CommandQueue>(queue)->stream); result != ZE_RESULT_SUCCESS)
    return result;
  delete object<CommandQueue>(queue);
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_queue_execute_command_lists(ze_command_queue_handle_t queue, std::uint32_t count,
                                                ze_command_list_handle_t* lists, ze_fence_handle_t fence) {
  KILN_NEED_HANDLE(queue);
  KILN_NEED_POINTER(lists);
  if (count == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
  if (fence) KILN_NEED_HANDLE(fence);
  count_submission();
  if (const auto state = object<CommandQueue>(queue)->stream.losses().state(); state != ZE_RESULT_SUCCESS)
    return state;
  return guarded([&] {
    std::vector<std::shared_ptr<Recording>> recordings;
    if (const auto result = collect_recordings(count, lists, recordings); result != ZE_RESULT_SUCCESS)
      return result;
    // Lists of one group do not run on a queue of another.
    const std::uint32_t ordinal = object<CommandQueue>(queue)->desc.ordinal;
    for (std::uint32_t i = 0; i < count; ++i)
      if (object<CommandList>(lists[i])->ordinal != ordinal) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    Stream& stream = object<CommandQueue>(queue)->stream;
    Command* command = stream.acquire();
    if (fence) command->signal = object<Fence>(fence)->state;
    fill_with_recordings(*command, std::move(recordings));
    return stream.submit(command);
  });
}

ze_result_t command_queue_synchronize(ze_command_queue_handle_t queue, std::uint64_t timeout) {
  KILN_NEED_HANDLE(queue);
  return object<CommandQueue>(queue)->stream.synchronize(timeout);
}

ze_result_t command_queue_get_ordinal(ze_command_queue_handle_t queue, std::uint32_t* ordinal) {
  KILN_NEED_HANDLE(queue);
  KILN_NEED_POINTER(ordinal);
  *ordinal = object<CommandQueue>(queue)->desc.ordinal;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_queue_get_index(ze_command_queue_handle_t queue, std::uint32_t* index) {
  KILN_NEED_HANDLE(queue);
  KILN_NEED_POINTER(index);
  *index = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_queue_get_flags(ze_command_queue_handle_t queue, ze_command_queue_flags_t* flags) {
  KILN_NEED_HANDLE(queue);
  KILN_NEED_POINTER(flags);
  *flags = object<CommandQueue>(queue)->desc.flags;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_queue_get_mode(ze_command_queue_handle_t queue, ze_command_queue_mode_t* mode) {
  KILN_NEED_HANDLE(queue);
  KILN_NEED_POINTER(mode);
  *mode = object<CommandQueue>(queue)->desc.mode;
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_queue_get_priority(ze_command_queue_handle_t queue,
                                       ze_command_queue_priority_t* priority) {
  KILN_NEED_HANDLE(queue);
  KILN_NEED_POINTER(priority);
  *priority = object<CommandQueue>(queue)->desc.priority;
  return ZE_RESULT_SUCCESS;
}

ze_result_t fence_create(ze_command_queue_handle_t queue, const ze_fence_desc_t* desc,
                         ze_fence_handle_t* fence) {
  KILN_NEED_HANDLE(queue);
  KILN_NEED_POINTER(desc);
  KILN_NEED_POINTER(fence);
  if (desc->flags & ~ze_fence_flags_t{ZE_FENCE_FLAG_SIGNALED}) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  return guarded([&] {
    auto created = std::make_unique<Fence>(object<CommandQueue>(queue)->stream.losses());
    created->state = std::make_shared<EventState>();
    if (desc->flags & ZE_FENCE_FLAG_SIGNALED) created->state->signal({});
    *fence = handle(created.release());
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t fence_destroy(ze_fence_handle_t fence) {
  KILN_NEED_HANDLE(fence);
  delete object<Fence>(fence);
  return ZE_RESULT_SUCCESS;
}

ze_result_t fence_host_synchronize(ze_fence_handle_t fence, std::uint64_t timeout) {
  KILN_NEED_HANDLE(fence);
  EventState& state = *object<Fence>(fence)->state;
  const std::uint64_t ended = state.signalled() ? state.times().end_ns : UINT64_MAX;
  if (const auto lost = object<Fence>(fence)->losses.state(ended); lost != ZE_RESULT_SUCCESS) return lost;
  if (timeout == 0) return state.signalled() ? state.outcome() : ZE_RESULT_NOT_READY;
  return state.wait(deadline_after(timeout)) ? state.outcome() : ZE_RESULT_NOT_READY;
}

ze_result_t fence_query_status(ze_fence_handle_t fence) { return fence_host_synchronize(fence, 0); }

ze_result_t fence_reset(ze_fence_handle_t fence) {
  KILN_NEED_HANDLE(fence);
  object<Fence>(fence)->state->reset();
  return ZE_RESULT_SUCCESS;
}

}  // namespace kiln::cpu
