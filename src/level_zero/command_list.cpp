// SPDX-License-Identifier: MIT
// Command lists and queues.
#include "kiln/command_list.hpp"

#include <bit>

#include "kiln/refusal.hpp"
#include "kiln/structures.hpp"
#include "level_zero/call.hpp"
#include "level_zero/newer.hpp"
#include "level_zero/survey.hpp"

namespace kiln {
namespace {

using detail::Handles;
using detail::Optional;

/// What is given for `wait`: their number and their handles.
std::uint32_t count(const Waits& waits) { return static_cast<std::uint32_t>(waits.size()); }
Handles<ze_event_handle_t> handles(const Waits& waits) {
  return Handles(std::span(waits.data(), waits.size()));
}

ze_command_queue_priority_t priority_of(QueuePriority priority) {
  switch (priority) {
    case QueuePriority::normal:
      break;
    case QueuePriority::low:
      return ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW;
    case QueuePriority::high:
      return ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH;
  }
  return ZE_COMMAND_QUEUE_PRIORITY_NORMAL;
}

ze_command_queue_desc_t queue_description(const QueueOptions& options, std::uint32_t queue_group) {
  auto description = make<ze_command_queue_desc_t>();
  description.ordinal = queue_group;
  description.index = options.index;
  description.priority = priority_of(options.priority);
  description.mode =
      options.synchronous ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  return description;
}

/// The flags of a list, in the words of its kind.
struct ListFlags {
  std::uint32_t in_order, copy_offload;
};
constexpr ListFlags kImmediateFlags{abi::kQueueInOrder, abi::kQueueCopyOffload},
    kRegularFlags{abi::kListInOrder, abi::kListCopyOffload};

/// Older drivers ignore a flag, and a list would be out of order in silence: they are asked first.
Result<std::uint32_t> flags_of(const ListOptions& options, const ListFlags& flags, DeviceRef device,
                               const char* call) {
  std::uint32_t value = 0;
  if (options.in_order) {
    KILN_TRY(detail::require(Feature::in_order_lists, device, call));
    value |= flags.in_order;
  }
  if (options.copy_offload && detail::require(Feature::copy_offload, device, call))
    value |= flags.copy_offload;
  return value;
}

/// A loader that checks parameters, and is older than the flag, refuses what the driver would take.
Result<void> take_flags(Result<void> result, const ListOptions& options) {
  if (result || !options.in_order || result.error().code() != ZE_RESULT_ERROR_INVALID_ENUMERATION)
    return result;
  return tl::unexpected(
      detail::lacking(Feature::in_order_lists, result.error().call(), result.error().code()));
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

[[gnu::cold, gnu::noinline]] Result<void> not_submitted(Result<void> result, CommandListRef list) {
  // Nobody asks the device of what never reached the driver.
  const Diagnostic* known = result.error().diagnostic();
  if (known && known->answer && known->answer->by == AnsweredBy::kiln) return result;
  const Refusal refusal = detail::survey(result.error().code(), result.error().call(), device_of(list));
  return tl::unexpected(detail::explained(std::move(result).error(), explain_submission(refusal)));
}

/// On the way of every command: a good one leaves nothing to move or to end.
[[gnu::always_inline]] inline Result<void> submitted(Result<void>&& result, CommandListRef list = {}) {
  if (result) [[likely]]
    return {};
  return not_submitted(std::move(result), list);
}

/// A command whose last parameters are what it signals and what it waits for.
template <class... Parameters, class... Given>
Result<void> append_command(const char* call, ze_result_t (*Api::*function)(Parameters...),
                            CommandListRef list, const Sync& sync, Given... given) {
  return submitted(detail::call(call, function, list, given..., Optional{sync.signal}, count(sync.wait),
                                handles(sync.wait)),
                   list);
}

#define KILN_APPEND(name, ...) append_command(#name, &Api::name, __VA_ARGS__)

/// As append(), of what takes no short way.
[[gnu::cold, gnu::noinline]] Result<void> append_lists(CommandListRef list,
                                                       const Handles<ze_command_list_handle_t>& all,
                                                       const Sync& sync) {
  return submitted(
      KILN_CALL_NEWER(append_lists, zeCommandListImmediateAppendCommandListsExp, list, all.size(), all,
                      Optional{sync.signal}, count(sync.wait), handles(sync.wait)),
      list);
}

/// A box that is empty or reaches over the end of a row or slice: drivers copy something else then.
bool fits(const RegionPlace& place, const Extent& size) {
  const std::uint64_t width = std::uint64_t{place.x} + size.x, height = std::uint64_t{place.y} + size.y;
  return total(size) != 0 && width <= place.pitch &&
         ((size.z == 1 && place.z == 0) || height <= place.slice_pitch / place.pitch);
}

Error bad_region(const char* which, const RegionPlace& place, const Extent& size) {
  return Error(ZE_RESULT_ERROR_INVALID_SIZE, "zeCommandListAppendMemoryCopyRegion",
               {"K0231",
                std::string("the ") + which + " of a copy has no room for its region",
                {{"a row, with what is before it", {}, std::uint64_t{place.x} + size.x, "B"},
                 {"pitch of rows", {}, place.pitch, "B"},
                 {"rows, with those before", {}, std::uint64_t{place.y} + size.y},
                 {"slices, with those before", {}, std::uint64_t{place.z} + size.z},
                 {"pitch of slices", {}, place.slice_pitch, "B"}},
                {"give a region that is not empty, whose rows fit the pitch, and, with several slices, whose "
                 "slices fit "
                 "the pitch of slices"}});
}

ze_copy_region_t region_of(const RegionPlace& place, const Extent& size) {
  return {place.x, place.y, place.z, size.x, size.y, size.z};
}

}  // namespace

/// Drivers 22.43 and 26.27 index their engines by the group without a look at their number.
Result<void> detail::check_queue_group(DeviceRef device, std::uint32_t group, const char* call) {
  std::uint32_t groups = 0;
  KILN_TRY(KILN_CALL(zeDeviceGetCommandQueueGroupProperties, device, &groups, nullptr));
  if (group < groups) return {};
  return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                              {"K0224",
                               "the device has no such queue group",
                               {{"asked for", {}, group}, {"groups, from 0", {}, groups}},
                               {"take the one that DeviceRef::compute_queue_group() gives"}}));
}

Result<void> detail::check_queue(DeviceRef device, std::uint32_t group, std::uint32_t index,
                                 const char* call) {
  KILN_TRY(check_queue_group(device, group, call));
  if (index == 0) return {};
  KILN_TRY(const auto groups, device.queue_groups());
  if (group < groups.size() && index < groups[group].queues) return {};
  const std::uint32_t queues = group < groups.size() ? groups[group].queues : 0;
  return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, call,
                              {"K0224",
                               "the queue group has no such queue",
                               {{"asked for", {}, index}, {"queues of the group, from 0", {}, queues}},
                               {"take an index below QueueGroup::queues"}}));
}

Error detail::bad_fill(std::size_t pattern, std::size_t bytes) {
  return Error(ZE_RESULT_ERROR_INVALID_SIZE, "zeCommandListAppendMemoryFill",
               {"K0226",
                "a fill cannot repeat its pattern",
                {{"pattern", {}, pattern, "B"}, {"to be filled", {}, bytes, "B"}},
                {"take a pattern of 1, 2, 4, 8 bytes and so on"}});
}

Error detail::explain_unsent(ze_result_t code, const char* call, CommandListRef list) {
  return not_submitted(tl::unexpected(refused(code, call)), list).error();
}

Error detail::bad_timestamp(std::uintptr_t address) {
  return Error(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "zeCommandListAppendWriteGlobalTimestamp",
               {"K0239",
                "a timestamp is to be written to an address that is no multiple of 8",
                {{"above a multiple of 8", {}, address % alignof(std::uint64_t), "B"}},
                {"give it a place of its own in an array of `uint64_t`"}});
}

Result<CommandList> CommandListRef::create(ContextRef context, DeviceRef device, std::uint32_t queue_group,
                                           ListOptions options) {
  KILN_TRY(detail::check_queue_group(device, queue_group, "zeCommandListCreate"));
  auto description = make<ze_command_list_desc_t>();
  description.commandQueueGroupOrdinal = queue_group;
  KILN_TRY(description.flags, flags_of(options, kRegularFlags, device, "zeCommandListCreate"));
  Handle handle = nullptr;
  KILN_TRY(take_flags(made(KILN_CALL(zeCommandListCreate, context, device, &description, &handle), device),
                      options));
  return CommandList::adopt(handle, context.api());
}

Result<CommandList> CommandListRef::create_immediate(ContextRef context, DeviceRef device,
                                                     QueueOptions options, std::uint32_t queue_group,
                                                     ListOptions list_options) {
  constexpr const char* kCreate = "zeCommandListCreateImmediate";
  KILN_TRY(detail::check_queue(device, queue_group, options.index, kCreate));
  auto description = queue_description(options, queue_group);
  KILN_TRY(description.flags, flags_of(list_options, kImmediateFlags, device, kCreate));
  Handle handle = nullptr;
  KILN_TRY(take_flags(
      made(KILN_CALL(zeCommandListCreateImmediate, context, device, &description, &handle), device),
      list_options));
  return CommandList::adopt(handle, context.api());
}

Result<void> detail::append_barrier(CommandListRef list, const Sync& sync) {
  return KILN_APPEND(zeCommandListAppendBarrier, list, sync);
}

Result<void> detail::append_copy(CommandListRef list, void* to, const void* from, std::size_t bytes,
                                 const Sync& sync) {
  if (!to || !from)  // Intel's driver ends the process
    return tl::unexpected(
        detail::null_pointer("zeCommandListAppendMemoryCopy", to ? "source" : "destination"));
  return KILN_APPEND(zeCommandListAppendMemoryCopy, list, sync, to, from, bytes);
}

Result<void> detail::append_timestamp(CommandListRef list, std::uint64_t* to, const Sync& sync) {
  if (!to)
    return tl::unexpected(detail::null_pointer("zeCommandListAppendWriteGlobalTimestamp", "destination"));
  if (const auto address = reinterpret_cast<std::uintptr_t>(to); address % alignof(std::uint64_t) != 0)
    return tl::unexpected(detail::bad_timestamp(address));
  return KILN_APPEND(zeCommandListAppendWriteGlobalTimestamp, list, sync, to);
}

Result<void> CommandListRef::copy(const Buffer& to, const Buffer& from, const Sync& sync) const {
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
                                  const Sync& sync) const {
  if (!to) return tl::unexpected(detail::null_pointer("zeCommandListAppendMemoryFill", "destination"));
  if (!std::has_single_bit(pattern.size())) return tl::unexpected(detail::bad_fill(pattern.size(), bytes));
  return KILN_APPEND(zeCommandListAppendMemoryFill, *this, sync, to, pattern.data(), pattern.size(), bytes);
}

Result<void> CommandListRef::copy_region(void* to, const RegionPlace& to_place, const void* from,
                                         const RegionPlace& from_place, Extent size, const Sync& sync) const {
  if (!to || !from)
    return tl::unexpected(
        detail::null_pointer("zeCommandListAppendMemoryCopyRegion", to ? "source" : "destination"));
  if (!fits(to_place, size)) return tl::unexpected(bad_region("destination", to_place, size));
  if (!fits(from_place, size)) return tl::unexpected(bad_region("source", from_place, size));
  ze_copy_region_t to_region = region_of(to_place, size), from_region = region_of(from_place, size);
  auto* to_bytes = static_cast<std::byte*>(to);
  const auto* from_bytes = static_cast<const std::byte*>(from);
  if (size.z == 1) {
    // Intel's driver copies a region of one slice without looking at which, seen with 22.43.
    to_bytes += std::size_t{to_region.originZ} * to_place.slice_pitch;
    from_bytes += std::size_t{from_region.originZ} * from_place.slice_pitch;
    to_region.originZ = from_region.originZ = 0;
  }
  return KILN_APPEND(zeCommandListAppendMemoryCopyRegion, *this, sync, to_bytes, &to_region, to_place.pitch,
                     to_place.slice_pitch, from_bytes, &from_region, from_place.pitch,
                     from_place.slice_pitch);
}

Result<void> CommandListRef::prefetch(const void* data, std::size_t bytes) const {
  if (!data) return tl::unexpected(detail::null_pointer("zeCommandListAppendMemoryPrefetch", "memory"));
  return submitted(KILN_CALL(zeCommandListAppendMemoryPrefetch, *this, data, bytes), *this);
}

Result<void> CommandListRef::advise(DeviceRef device, const void* data, std::size_t bytes,
                                    ze_memory_advice_t advice) const {
  if (!data) return tl::unexpected(detail::null_pointer("zeCommandListAppendMemAdvise", "memory"));
  return submitted(KILN_CALL(zeCommandListAppendMemAdvise, *this, device, data, bytes, advice), *this);
}

Result<void> CommandListRef::append(std::span<const CommandListRef> lists, const Sync& sync) const {
  constexpr const char* kAppendLists = "zeCommandListImmediateAppendCommandListsExp";
  if (lists.empty()) return tl::unexpected(detail::null_pointer(kAppendLists, "command lists"));
  const Handles all(lists);
  detail::FewWaits waits;
  if (!detail::can_send(*this, sync, waits) || all.has_empty() || !all.is_of(*table()) ||
      !table()->zeCommandListImmediateAppendCommandListsExp) [[unlikely]]
    return append_lists(*this, all, sync);
  const ze_result_t code = table()->zeCommandListImmediateAppendCommandListsExp(
      raw(), all.size(), all.data(), sync.signal.raw(), detail::count_of(sync), waits);
  if (detail::is_lacking(code)) [[unlikely]]
    return tl::unexpected(detail::lacking(Feature::append_lists, kAppendLists, code));
  return detail::sent(code, kAppendLists, *this);
}

Result<void> CommandListRef::host_function(void (*function)(void*), void* user, const Sync& sync) const {
  if (!function) return tl::unexpected(detail::null_pointer("zeCommandListAppendHostFunction", "function"));
  return submitted(KILN_CALL_NEWER(host_functions, zeCommandListAppendHostFunction, *this, function, user,
                                   nullptr, Optional{sync.signal}, count(sync.wait), handles(sync.wait)),
                   *this);
}

Result<void> CommandListRef::signal(EventRef event) const {
  return submitted(KILN_CALL(zeCommandListAppendSignalEvent, *this, event), *this);
}

Result<void> CommandListRef::wait(const Waits& events) const {
  return submitted(KILN_CALL(zeCommandListAppendWaitOnEvents, *this, count(events), handles(events)), *this);
}

Result<void> CommandListRef::reset_event(EventRef event) const {
  return submitted(KILN_CALL(zeCommandListAppendEventReset, *this, event), *this);
}

Result<void> CommandListRef::launch_unchecked(KernelRef kernel, Extent groups, const Sync& sync) const {
  const ze_group_count_t group_count{groups.x, groups.y, groups.z};
  return submitted(KILN_CALL(zeCommandListAppendLaunchKernel, *this, kernel, &group_count,
                             Optional{sync.signal}, count(sync.wait), handles(sync.wait)),
                   *this);
}

Result<void> CommandListRef::synchronize(Timeout timeout) const {
  return KILN_CALL_NEWER(list_synchronize, zeCommandListHostSynchronize, *this, detail::timeout_of(timeout));
}

void CommandListRef::destroy(CommandListRef ref) { KILN_DESTROY(zeCommandListDestroy, ref); }

Result<CommandQueue> CommandQueueRef::create(ContextRef context, DeviceRef device, QueueOptions options,
                                             std::uint32_t queue_group) {
  KILN_TRY(detail::check_queue(device, queue_group, options.index, "zeCommandQueueCreate"));
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
