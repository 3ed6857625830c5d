// SPDX-License-Identifier: MIT
// Command lists and queues.
#include "kiln/command_list.hpp"

#include <bit>

#include "kiln/refusal.hpp"
#include "kiln/structures.hpp"
#include "level_zero/call.hpp"
#include "level_zero/survey.hpp"

namespace kiln {
namespace {

using detail::Handles;
using detail::Optional;

std::uint32_t count(const Sync& sync) { return static_cast<std::uint32_t>(sync.wait.size()); }

ze_command_queue_desc_t queue_description(QueueOptions options, std::uint32_t queue_group) {
  auto description = make<ze_command_queue_desc_t>();
  description.ordinal = queue_group;
  description.mode =
      options.synchronous ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  return description;
}

/// Drivers 22.43 and 26.27 index their engines by the group without a look at their number.
Result<void> check_queue_group(DeviceRef device, std::uint32_t group, const char* call) {
  std::uint32_t groups = 0;
  KILN_TRY(KILN_CALL(zeDeviceGetCommandQueueGroupProperties, device, &groups, nullptr));
  if (group < groups) return {};
  return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                              {"K0224",
                               "the device has no such queue group",
                               {{"asked for", {}, group}, {"groups, from 0", {}, groups}},
                               {"take the one that DeviceRef::compute_queue_group() gives"}}));
}

/// Says what is known when a list or a queue cannot be made.
Result<void> made(Result<void> result, DeviceRef device) {
  if (result) return result;
  const Refusal refusal = detail::survey(result.error().code(), result.error().call(), device);
  return tl::unexpected(detail::explained(std::move(result).error(), explain_queue(refusal)));
}

/// The device behind a list, whose state tells a hang from lack of memory; empty before Level Zero 1.9.
DeviceRef device_of(CommandListRef list) {
  ze_device_handle_t device = nullptr;
  if (!list || !list.api().zeCommandListGetDeviceHandle ||
      list.api().zeCommandListGetDeviceHandle(list.raw(), &device) != ZE_RESULT_SUCCESS)
    return {};
  return {device, list.api()};
}

Result<void> submitted(Result<void> result, CommandListRef list = {}) {
  if (result) [[likely]]
    return result;
  // Nobody asks the device of what never reached the driver.
  const Diagnostic* known = result.error().diagnostic();
  if (known && known->answer && known->answer->by == AnsweredBy::kiln) return result;
  const Refusal refusal = detail::survey(result.error().code(), result.error().call(), device_of(list));
  return tl::unexpected(detail::explained(std::move(result).error(), explain_submission(refusal)));
}

Error bad_fill(std::size_t pattern, std::size_t bytes) {
  return Error(ZE_RESULT_ERROR_INVALID_SIZE, "zeCommandListAppendMemoryFill",
               {"K0226",
                "a fill cannot repeat its pattern",
                {{"pattern", {}, pattern, "B"}, {"to be filled", {}, bytes, "B"}},
                {"take a pattern of 1, 2, 4, 8 bytes and so on"}});
}

}  // namespace

Result<CommandList> CommandListRef::create(ContextRef context, DeviceRef device, std::uint32_t queue_group) {
  KILN_TRY(check_queue_group(device, queue_group, "zeCommandListCreate"));
  auto description = make<ze_command_list_desc_t>();
  description.commandQueueGroupOrdinal = queue_group;
  Handle handle = nullptr;
  KILN_TRY(made(KILN_CALL(zeCommandListCreate, context, device, &description, &handle), device));
  return CommandList::adopt(handle, context.api());
}

Result<CommandList> CommandListRef::create_immediate(ContextRef context, DeviceRef device,
                                                     QueueOptions options, std::uint32_t queue_group) {
  KILN_TRY(check_queue_group(device, queue_group, "zeCommandListCreateImmediate"));
  const auto description = queue_description(options, queue_group);
  Handle handle = nullptr;
  KILN_TRY(made(KILN_CALL(zeCommandListCreateImmediate, context, device, &description, &handle), device));
  return CommandList::adopt(handle, context.api());
}

Result<void> CommandListRef::close() const { return KILN_CALL(zeCommandListClose, *this); }
Result<void> CommandListRef::reset() const { return KILN_CALL(zeCommandListReset, *this); }

Result<void> CommandListRef::barrier(Sync sync) const {
  return submitted(
      KILN_CALL(zeCommandListAppendBarrier, *this, Optional{sync.signal}, count(sync), Handles(sync.wait)),
      *this);
}

Result<void> CommandListRef::copy(void* to, const void* from, std::size_t bytes, Sync sync) const {
  if (!to || !from)  // Intel's driver ends the process
    return tl::unexpected(
        detail::null_pointer("zeCommandListAppendMemoryCopy", to ? "source" : "destination"));
  return submitted(KILN_CALL(zeCommandListAppendMemoryCopy, *this, to, from, bytes, Optional{sync.signal},
                             count(sync), Handles(sync.wait)),
                   *this);
}

Result<void> CommandListRef::copy(const Buffer& to, const Buffer& from, Sync sync) const {
  if (from.size() > to.size()) {
    Diagnostic diagnostic{"K0206", "a copy does not fit its destination", {}, {}};
    diagnostic.rows = {{"source", "", from.size(), "B"}, {"destination", "", to.size(), "B"}};
    diagnostic.help = {"allocate a larger destination, or copy a part with the pointers and a size"};
    return tl::unexpected(
        Error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "zeCommandListAppendMemoryCopy", std::move(diagnostic)));
  }
  return copy(to.data(), from.data(), from.size(), sync);
}

Result<void> CommandListRef::fill(void* to, std::span<const std::byte> pattern, std::size_t bytes,
                                  Sync sync) const {
  if (!to) return tl::unexpected(detail::null_pointer("zeCommandListAppendMemoryFill", "destination"));
  if (!std::has_single_bit(pattern.size())) return tl::unexpected(bad_fill(pattern.size(), bytes));
  return submitted(KILN_CALL(zeCommandListAppendMemoryFill, *this, to, pattern.data(), pattern.size(), bytes,
                             Optional{sync.signal}, count(sync), Handles(sync.wait)),
                   *this);
}

Result<void> CommandListRef::signal(EventRef event) const {
  return submitted(KILN_CALL(zeCommandListAppendSignalEvent, *this, event), *this);
}

Result<void> CommandListRef::wait(std::span<const EventRef> events) const {
  return submitted(KILN_CALL(zeCommandListAppendWaitOnEvents, *this,
                             static_cast<std::uint32_t>(events.size()), Handles(events)),
                   *this);
}

Result<void> CommandListRef::reset_event(EventRef event) const {
  return submitted(KILN_CALL(zeCommandListAppendEventReset, *this, event), *this);
}

Result<void> CommandListRef::launch_unchecked(KernelRef kernel, Extent groups, Sync sync) const {
  const ze_group_count_t group_count{groups.x, groups.y, groups.z};
  return submitted(KILN_CALL(zeCommandListAppendLaunchKernel, *this, kernel, &group_count,
                             Optional{sync.signal}, count(sync), Handles(sync.wait)),
                   *this);
}

Result<void> CommandListRef::synchronize(Timeout timeout) const {
  if (!api().zeCommandListHostSynchronize)
    return tl::unexpected(Error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "zeCommandListHostSynchronize"));
  return KILN_CALL(zeCommandListHostSynchronize, *this, detail::timeout_of(timeout));
}

void CommandListRef::destroy(CommandListRef ref) { KILN_DESTROY(zeCommandListDestroy, ref); }

Result<CommandQueue> CommandQueueRef::create(ContextRef context, DeviceRef device, QueueOptions options,
                                             std::uint32_t queue_group) {
  KILN_TRY(check_queue_group(device, queue_group, "zeCommandQueueCreate"));
  const auto description = queue_description(options, queue_group);
  Handle handle = nullptr;
  KILN_TRY(made(KILN_CALL(zeCommandQueueCreate, context, device, &description, &handle), device));
  return CommandQueue::adopt(handle, context.api());
}

Result<Fence> CommandQueueRef::create_fence() const {
  const auto description = make<ze_fence_desc_t>();
  ze_fence_handle_t handle = nullptr;
  KILN_TRY(KILN_CALL(zeFenceCreate, *this, &description, &handle));
  return Fence::adopt(handle, api());
}

Result<void> CommandQueueRef::execute(std::span<const CommandListRef> lists, FenceRef fence) const {
  if (lists.empty())  // Intel's driver looks at the first one
    return tl::unexpected(detail::null_pointer("zeCommandQueueExecuteCommandLists", "command lists"));
  return submitted(KILN_CALL(zeCommandQueueExecuteCommandLists, *this,
                             static_cast<std::uint32_t>(lists.size()), Handles(lists), Optional{fence}));
}

Result<void> CommandQueueRef::synchronize(Timeout timeout) const {
  return KILN_CALL(zeCommandQueueSynchronize, *this, detail::timeout_of(timeout));
}

void CommandQueueRef::destroy(CommandQueueRef ref) { KILN_DESTROY(zeCommandQueueDestroy, ref); }

}  // namespace kiln
