// SPDX-License-Identifier: MIT
// Lists and queues: what cannot be made, submitted, or waited for.
#include <algorithm>
#include <array>
#include <optional>

#include "drivers/layer/explain.hpp"
#include "drivers/layer/guard.hpp"
#include "drivers/layer/hooks.hpp"
#include "drivers/layer/recorder.hpp"
#include "drivers/layer/tell.hpp"

namespace kiln::layer {
namespace {

void remember(const void* queue, ze_device_handle_t device, std::uint32_t flags) {
  quietly([&] { known.queues.add(queue, [&](KnownQueue& made) { made.device = device; }); });
  record_child();
  record_list(queue, flags);
}

std::uint32_t mode_of(const ze_command_queue_desc_t& description) {
  return (description.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS ? std::uint32_t{record::kSynchronous} : 0) |
         (description.flags & kiln::abi::kQueueInOrder ? std::uint32_t{record::kInOrder} : 0);
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
  KILN_GUARD(first_of(need_handles("zeCommandQueueCreate", context, device),
                      need("zeCommandQueueCreate", "description", description),
                      need("zeCommandQueueCreate", "queue", queue)));
  KILN_GUARD(guard_queue("zeCommandQueueCreate", device, description->ordinal, description->index));
  const ze_result_t code = real.zeCommandQueueCreate(context, device, description, queue);
  if (code != ZE_RESULT_SUCCESS) return refused_queue({code, "zeCommandQueueCreate"}, device);
  remember(*queue, device, record::kQueue | mode_of(*description));
  return code;
}

ze_result_t ZE_APICALL hook::zeCommandQueueDestroy(ze_command_queue_handle_t queue) {
  KILN_GUARD(need_handles("zeCommandQueueDestroy", queue));
  known.queues.remove(queue, [](KnownQueue& gone) { gone.device = nullptr; });
  record_destroyed(queue);
  return real.zeCommandQueueDestroy(queue);
}

ze_result_t ZE_APICALL hook::zeCommandListDestroy(ze_command_list_handle_t list) {
  KILN_GUARD(need_handles("zeCommandListDestroy", list));
  known.queues.remove(list, [](KnownQueue& gone) { gone.device = nullptr; });
  record_destroyed(list);
  return real.zeCommandListDestroy(list);
}

ze_result_t ZE_APICALL hook::zeCommandListCreate(ze_context_handle_t context, ze_device_handle_t device,
                                                 const ze_command_list_desc_t* description,
                                                 ze_command_list_handle_t* list) {
  KILN_GUARD(first_of(need_handles("zeCommandListCreate", context, device),
                      need("zeCommandListCreate", "description", description),
                      need("zeCommandListCreate", "list", list)));
  KILN_GUARD(guard_queue("zeCommandListCreate", device, description->commandQueueGroupOrdinal, 0));
  const ze_result_t code = real.zeCommandListCreate(context, device, description, list);
  if (code != ZE_RESULT_SUCCESS) return refused_queue({code, "zeCommandListCreate"}, device);
  remember(*list, device, description->flags & kiln::abi::kListInOrder ? std::uint32_t{record::kInOrder} : 0);
  return code;
}

ze_result_t ZE_APICALL hook::zeCommandListCreateImmediate(ze_context_handle_t context,
                                                          ze_device_handle_t device,
                                                          const ze_command_queue_desc_t* description,
                                                          ze_command_list_handle_t* list) {
  KILN_GUARD(first_of(need_handles("zeCommandListCreateImmediate", context, device),
                      need("zeCommandListCreateImmediate", "description", description),
                      need("zeCommandListCreateImmediate", "list", list)));
  KILN_GUARD(guard_queue("zeCommandListCreateImmediate", device, description->ordinal, description->index));
  const ze_result_t code = real.zeCommandListCreateImmediate(context, device, description, list);
  if (code != ZE_RESULT_SUCCESS) return refused_queue({code, "zeCommandListCreateImmediate"}, device);
  remember(*list, device, record::kImmediate | mode_of(*description));
  return code;
}

ze_result_t ZE_APICALL hook::zeCommandListClose(ze_command_list_handle_t list) {
  KILN_GUARD(need_handles("zeCommandListClose", list));
  const ze_result_t code = real.zeCommandListClose(list);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeCommandListClose"}, list);
}

ze_result_t ZE_APICALL hook::zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void* to,
                                                           const void* from, std::size_t size,
                                                           ze_event_handle_t signal, std::uint32_t waits,
                                                           ze_event_handle_t* events) {
  KILN_GUARD(first_of(need_handles("zeCommandListAppendMemoryCopy", list),
                      need("zeCommandListAppendMemoryCopy", "destination", to),
                      need("zeCommandListAppendMemoryCopy", "source", from)));
  const Recording recording(record::Call::copy, list);
  recording.set_bytes(size, signal);
  recording.begin();
  const ze_result_t code = real.zeCommandListAppendMemoryCopy(list, to, from, size, signal, waits, events);
  recording.end(code);
  return code == ZE_RESULT_SUCCESS
             ? code
             : refused_work({code, "zeCommandListAppendMemoryCopy", waits != 0 && !events}, list);
}

ze_result_t ZE_APICALL hook::zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void* to,
                                                           const void* pattern, std::size_t pattern_size,
                                                           std::size_t size, ze_event_handle_t signal,
                                                           std::uint32_t waits, ze_event_handle_t* events) {
  KILN_GUARD(first_of(need_handles("zeCommandListAppendMemoryFill", list),
                      guard_fill(to, pattern, pattern_size, size)));
  const Recording recording(record::Call::fill, list);
  recording.set_bytes(size, signal);
  recording.begin();
  const ze_result_t code =
      real.zeCommandListAppendMemoryFill(list, to, pattern, pattern_size, size, signal, waits, events);
  recording.end(code);
  return code == ZE_RESULT_SUCCESS
             ? code
             : refused_work({code, "zeCommandListAppendMemoryFill", waits != 0 && !events}, list);
}

ze_result_t ZE_APICALL hook::zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t queue,
                                                               std::uint32_t count,
                                                               ze_command_list_handle_t* lists,
                                                               ze_fence_handle_t fence) {
  KILN_GUARD(first_of(need_handles("zeCommandQueueExecuteCommandLists", queue),
                      need("zeCommandQueueExecuteCommandLists", "lists", lists)));
  std::array<std::optional<Recording>, record::kSubmitted> recordings;
  const std::uint32_t recorded_lists = lists ? std::min(count, record::kSubmitted) : 0;
  for (std::uint32_t i = 0; i < recorded_lists; ++i) {
    const Recording& recording = recordings[i].emplace(record::Call::submit, lists[i]);
    recording.set(queue, fence);
    recording.set_numbers(i + 1, count);
    recording.begin();
  }
  const ze_result_t code = real.zeCommandQueueExecuteCommandLists(queue, count, lists, fence);
  for (std::uint32_t i = 0; i < recorded_lists; ++i) recordings[i]->end(code);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeCommandQueueExecuteCommandLists"}, queue);
}

ze_result_t ZE_APICALL hook::zeCommandQueueSynchronize(ze_command_queue_handle_t queue,
                                                       std::uint64_t timeout) {
  KILN_GUARD(need_handles("zeCommandQueueSynchronize", queue));
  const Recording recording(record::Call::wait_queue, queue);
  recording.begin();
  const ze_result_t code = real.zeCommandQueueSynchronize(queue, timeout);
  recording.end_wait(code);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeCommandQueueSynchronize"}, queue);
}

ze_result_t ZE_APICALL hook::zeCommandListHostSynchronize(ze_command_list_handle_t list,
                                                          std::uint64_t timeout) {
  KILN_GUARD(need_handles("zeCommandListHostSynchronize", list));
  const Recording recording(record::Call::wait_list, list);
  recording.begin();
  const ze_result_t code = real.zeCommandListHostSynchronize(list, timeout);
  recording.end_wait(code);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeCommandListHostSynchronize"}, list);
}

ze_result_t ZE_APICALL hook::zeEventHostSynchronize(ze_event_handle_t event, std::uint64_t timeout) {
  KILN_GUARD(need_handles("zeEventHostSynchronize", event));
  const Recording recording(record::Call::wait_event, event);
  recording.begin();
  const ze_result_t code = real.zeEventHostSynchronize(event, timeout);
  recording.end_wait(code);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeEventHostSynchronize"}, nullptr);
}

ze_result_t ZE_APICALL hook::zeFenceHostSynchronize(ze_fence_handle_t fence, std::uint64_t timeout) {
  KILN_GUARD(need_handles("zeFenceHostSynchronize", fence));
  const Recording recording(record::Call::wait_fence, fence);
  recording.begin();
  const ze_result_t code = real.zeFenceHostSynchronize(fence, timeout);
  recording.end_wait(code);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeFenceHostSynchronize"}, nullptr);
}

ze_result_t ZE_APICALL hook::zeEventQueryStatus(ze_event_handle_t event) {
  KILN_GUARD(need_handles("zeEventQueryStatus", event));
  const ze_result_t code = real.zeEventQueryStatus(event);
  if (code == ZE_RESULT_NOT_READY) return code;
  record_status(record::Call::query_event, event, code);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeEventQueryStatus"}, nullptr);
}

ze_result_t ZE_APICALL hook::zeFenceQueryStatus(ze_fence_handle_t fence) {
  KILN_GUARD(need_handles("zeFenceQueryStatus", fence));
  const ze_result_t code = real.zeFenceQueryStatus(fence);
  if (code == ZE_RESULT_NOT_READY) return code;
  record_status(record::Call::query_fence, fence, code);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, "zeFenceQueryStatus"}, nullptr);
}

ze_result_t ZE_APICALL hook::zeCommandListAppendImageCopy(ze_command_list_handle_t list, ze_image_handle_t to,
                                                          ze_image_handle_t from, ze_event_handle_t signal,
                                                          std::uint32_t waits, ze_event_handle_t* events) {
  constexpr const char* kCall = "zeCommandListAppendImageCopy";
  KILN_GUARD(need_handles(kCall, list, to, from));
  const Recording recording(record::Call::image_copy, list);
  recording.set(signal, nullptr);
  recording.begin();
  const ze_result_t code = real.zeCommandListAppendImageCopy(list, to, from, signal, waits, events);
  recording.end(code);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, kCall, waits != 0 && !events}, list);
}

ze_result_t ZE_APICALL hook::zeCommandListAppendImageCopyRegion(ze_command_list_handle_t list,
                                                                ze_image_handle_t to, ze_image_handle_t from,
                                                                const ze_image_region_t* to_region,
                                                                const ze_image_region_t* from_region,
                                                                ze_event_handle_t signal, std::uint32_t waits,
                                                                ze_event_handle_t* events) {
  constexpr const char* kCall = "zeCommandListAppendImageCopyRegion";
  KILN_GUARD(first_of(need_handles(kCall, list, to, from), guard_region(kCall, to, to_region),
                      guard_region(kCall, from, from_region)));
  const Recording recording(record::Call::image_region, list);
  recording.set(signal, nullptr);
  recording.begin();
  const ze_result_t code =
      real.zeCommandListAppendImageCopyRegion(list, to, from, to_region, from_region, signal, waits, events);
  recording.end(code);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, kCall, waits != 0 && !events}, list);
}

ze_result_t ZE_APICALL hook::zeCommandListAppendImageCopyToMemory(
    ze_command_list_handle_t list, void* to, ze_image_handle_t from, const ze_image_region_t* region,
    ze_event_handle_t signal, std::uint32_t waits, ze_event_handle_t* events) {
  constexpr const char* kCall = "zeCommandListAppendImageCopyToMemory";
  KILN_GUARD(first_of(need_handles(kCall, list, from), need(kCall, "destination", to),
                      guard_region(kCall, from, region)));
  const Recording recording(record::Call::from_image, list);
  recording.set(signal, nullptr);
  recording.begin();
  const ze_result_t code =
      real.zeCommandListAppendImageCopyToMemory(list, to, from, region, signal, waits, events);
  recording.end(code);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, kCall, waits != 0 && !events}, list);
}

ze_result_t ZE_APICALL hook::zeCommandListAppendImageCopyFromMemory(
    ze_command_list_handle_t list, ze_image_handle_t to, const void* from, const ze_image_region_t* region,
    ze_event_handle_t signal, std::uint32_t waits, ze_event_handle_t* events) {
  constexpr const char* kCall = "zeCommandListAppendImageCopyFromMemory";
  KILN_GUARD(
      first_of(need_handles(kCall, list, to), need(kCall, "source", from), guard_region(kCall, to, region)));
  const Recording recording(record::Call::to_image, list);
  recording.set(signal, nullptr);
  recording.begin();
  const ze_result_t code =
      real.zeCommandListAppendImageCopyFromMemory(list, to, from, region, signal, waits, events);
  recording.end(code);
  return code == ZE_RESULT_SUCCESS ? code : refused_work({code, kCall, waits != 0 && !events}, list);
}

}  // namespace kiln::layer
