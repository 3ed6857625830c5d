// SPDX-License-Identifier: MIT
// Lists and queues: what cannot be made, submitted, or waited for.
#include "drivers/layer/explain.hpp"
#include "drivers/layer/hooks.hpp"
#include "drivers/layer/tell.hpp"

namespace kiln::layer {
namespace {

void remember(const void* queue, ze_device_handle_t device) {
  quietly([&] { known.queues.add(queue, [&](KnownQueue& made) { made.device = device; }); });
}

ze_device_handle_t device_of(const void* queue) {
  const KnownQueue* found = known.queues.find(queue);
  return found ? found->device : nullptr;
}

[[gnu::cold, gnu::noinline]] ze_result_t refused_queue(const Failed failed, ze_device_handle_t device) {
  tell([&] { return explain_queue(failed, device); });
  return failed.code;
}

/// `queue` is a list too; null: what is waited for does not tell.
[[gnu::cold, gnu::noinline]] ze_result_t refused_work(const Failed failed, const void* queue) {
  if (is_failure(failed.code)) tell([&] { return explain_submission(failed, device_of(queue)); });
  return failed.code;
}

}  // namespace

ze_result_t ZE_APICALL hook::zeCommandQueueCreate(ze_context_handle_t context, ze_device_handle_t device,
                                                  const ze_command_queue_desc_t* description,
                                                  ze_command_queue_handle_t* queue) {
  const ze_result_t code = real.zeCommandQueueCreate(context, device, description, queue);
  if (code != ZE_RESULT_SUCCESS) return refused_queue({code, "zeCommandQueueCreate"}, device);
  remember(*queue, device);
  return code;
}

ze_result_t ZE_APICALL hook::zeCommandListCreate(ze_context_handle_t context, ze_device_handle_t device,
                                                 const ze_command_list_desc_t* description,
                                                 ze_command_list_handle_t* list) {
  const ze_result_t code = real.zeCommandListCreate(context, device, description, list);
  if (code != ZE_RESULT_SUCCESS) return refused_queue({code, "zeCommandListCreate"}, device);
  remember(*list, device);
  return code;
}

ze_result_t ZE_APICALL hook::zeCommandListCreateImmediate(ze_context_handle_t context,
                                                          ze_device_handle_t device,
                                                          const ze_command_queue_desc_t* description,
                                                          ze_command_list_handle_t* list) {
  const ze_result_t code = real.zeCommandListCreateImmediate(context, device, description, list);
  if (code != ZE_RESULT_SUCCESS) return refused_queue({code, "zeCommandListCreateImmediate"}, device);
  remember(*list, device);
  return code;
}

ze_result_t ZE_APICALL hook::zeCommandListClose(ze_command_list_handle_t list) {
  const ze_result_t code = real.zeCommandListClose(list);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeCommandListClose"}, list);
}

ze_result_t ZE_APICALL hook::zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void* to,
                                                           const void* from, std::size_t size,
                                                           ze_event_handle_t signal, std::uint32_t waits,
                                                           ze_event_handle_t* events) {
  const ze_result_t code = real.zeCommandListAppendMemoryCopy(list, to, from, size, signal, waits, events);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeCommandListAppendMemoryCopy"}, list);
}

ze_result_t ZE_APICALL hook::zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void* to,
                                                           const void* pattern, std::size_t pattern_size,
                                                           std::size_t size, ze_event_handle_t signal,
                                                           std::uint32_t waits, ze_event_handle_t* events) {
  const ze_result_t code =
      real.zeCommandListAppendMemoryFill(list, to, pattern, pattern_size, size, signal, waits, events);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeCommandListAppendMemoryFill"}, list);
}

ze_result_t ZE_APICALL hook::zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t queue,
                                                               std::uint32_t count,
                                                               ze_command_list_handle_t* lists,
                                                               ze_fence_handle_t fence) {
  const ze_result_t code = real.zeCommandQueueExecuteCommandLists(queue, count, lists, fence);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeCommandQueueExecuteCommandLists"}, queue);
}

ze_result_t ZE_APICALL hook::zeCommandQueueSynchronize(ze_command_queue_handle_t queue,
                                                       std::uint64_t timeout) {
  const ze_result_t code = real.zeCommandQueueSynchronize(queue, timeout);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeCommandQueueSynchronize"}, queue);
}

ze_result_t ZE_APICALL hook::zeCommandListHostSynchronize(ze_command_list_handle_t list,
                                                          std::uint64_t timeout) {
  const ze_result_t code = real.zeCommandListHostSynchronize(list, timeout);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeCommandListHostSynchronize"}, list);
}

ze_result_t ZE_APICALL hook::zeEventHostSynchronize(ze_event_handle_t event, std::uint64_t timeout) {
  const ze_result_t code = real.zeEventHostSynchronize(event, timeout);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeEventHostSynchronize"}, nullptr);
}

ze_result_t ZE_APICALL hook::zeFenceHostSynchronize(ze_fence_handle_t fence, std::uint64_t timeout) {
  const ze_result_t code = real.zeFenceHostSynchronize(fence, timeout);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeFenceHostSynchronize"}, nullptr);
}

}  // namespace kiln::layer
