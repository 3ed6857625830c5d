// SPDX-License-Identifier: MIT
// Command lists and queues.
#include "kiln/command_list.hpp"

#include "kiln/structures.hpp"
#include "level_zero/call.hpp"

namespace kiln {
namespace {

using detail::raw_array;

std::uint32_t count(const Sync& sync) { return static_cast<std::uint32_t>(sync.wait.size()); }

ze_command_queue_desc_t queue_description(QueueOptions options, std::uint32_t queue_group) {
  auto description = make<ze_command_queue_desc_t>();
  description.ordinal = queue_group;
  description.mode =
      options.synchronous ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  return description;
}

}  // namespace

Result<CommandList> CommandListRef::create(ContextRef context, DeviceRef device, std::uint32_t queue_group) {
  auto description = make<ze_command_list_desc_t>();
  description.commandQueueGroupOrdinal = queue_group;
  Handle handle = nullptr;
  KILN_TRY(KILN_CALL(zeCommandListCreate, context.raw(), device.raw(), &description, &handle));
  return CommandList::adopt(handle);
}

Result<CommandList> CommandListRef::create_immediate(ContextRef context, DeviceRef device,
                                                     QueueOptions options, std::uint32_t queue_group) {
  const auto description = queue_description(options, queue_group);
  Handle handle = nullptr;
  KILN_TRY(KILN_CALL(zeCommandListCreateImmediate, context.raw(), device.raw(), &description, &handle));
  return CommandList::adopt(handle);
}

Result<void> CommandListRef::close() const { return KILN_CALL(zeCommandListClose, raw()); }
Result<void> CommandListRef::reset() const { return KILN_CALL(zeCommandListReset, raw()); }

Result<void> CommandListRef::barrier(Sync sync) const {
  return KILN_CALL(zeCommandListAppendBarrier, raw(), sync.signal.raw(), count(sync), raw_array(sync.wait));
}

Result<void> CommandListRef::copy(void* to, const void* from, std::size_t bytes, Sync sync) const {
  return KILN_CALL(zeCommandListAppendMemoryCopy, raw(), to, from, bytes, sync.signal.raw(), count(sync),
                   raw_array(sync.wait));
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
  return KILN_CALL(zeCommandListAppendMemoryFill, raw(), to, pattern.data(), pattern.size(), bytes,
                   sync.signal.raw(), count(sync), raw_array(sync.wait));
}

Result<void> CommandListRef::signal(EventRef event) const {
  return KILN_CALL(zeCommandListAppendSignalEvent, raw(), event.raw());
}

Result<void> CommandListRef::wait(std::span<const EventRef> events) const {
  return KILN_CALL(zeCommandListAppendWaitOnEvents, raw(), static_cast<std::uint32_t>(events.size()),
                   raw_array(events));
}

Result<void> CommandListRef::reset_event(EventRef event) const {
  return KILN_CALL(zeCommandListAppendEventReset, raw(), event.raw());
}

Result<void> CommandListRef::launch_unchecked(KernelRef kernel, Extent groups, Sync sync) const {
  const ze_group_count_t group_count{groups.x, groups.y, groups.z};
  return KILN_CALL(zeCommandListAppendLaunchKernel, raw(), kernel.raw(), &group_count, sync.signal.raw(),
                   count(sync), raw_array(sync.wait));
}

Result<void> CommandListRef::synchronize(Timeout timeout) const {
  if (!api().zeCommandListHostSynchronize)
    return tl::unexpected(Error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "zeCommandListHostSynchronize"));
  return KILN_CALL(zeCommandListHostSynchronize, raw(), detail::timeout_of(timeout));
}

void CommandListRef::destroy(Handle handle) { KILN_DESTROY(zeCommandListDestroy, handle); }

Result<CommandQueue> CommandQueueRef::create(ContextRef context, DeviceRef device, QueueOptions options,
                                             std::uint32_t queue_group) {
  const auto description = queue_description(options, queue_group);
  Handle handle = nullptr;
  KILN_TRY(KILN_CALL(zeCommandQueueCreate, context.raw(), device.raw(), &description, &handle));
  return CommandQueue::adopt(handle);
}

Result<Fence> CommandQueueRef::create_fence() const {
  const auto description = make<ze_fence_desc_t>();
  ze_fence_handle_t handle = nullptr;
  KILN_TRY(KILN_CALL(zeFenceCreate, raw(), &description, &handle));
  return Fence::adopt(handle);
}

Result<void> CommandQueueRef::execute(std::span<const CommandListRef> lists, FenceRef fence) const {
  return KILN_CALL(zeCommandQueueExecuteCommandLists, raw(), static_cast<std::uint32_t>(lists.size()),
                   raw_array(lists), fence.raw());
}

Result<void> CommandQueueRef::synchronize(Timeout timeout) const {
  return KILN_CALL(zeCommandQueueSynchronize, raw(), detail::timeout_of(timeout));
}

void CommandQueueRef::destroy(Handle handle) { KILN_DESTROY(zeCommandQueueDestroy, handle); }

}  // namespace kiln
