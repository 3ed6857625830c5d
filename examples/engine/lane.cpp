// SPDX-License-Identifier: MIT
// Lanes on an immediate list in order, or on a queue where the driver is older.
#include "lane.hpp"

#include <vector>

namespace engine {
namespace {

using namespace kiln;

struct Place {
  std::uint32_t group = 0, queue = 0;
};

/// Copies have engines of their own on most devices: a group of queues that cannot compute.
Result<Place> place_of(const OpenDevice& device, Lane::Kind kind, std::uint32_t number) {
  KILN_TRY(const auto groups, device.device.queue_groups());
  KILN_TRY(std::uint32_t group, device.device.compute_queue_group());
  const auto is = [&](std::uint32_t i, ze_command_queue_group_property_flag_t flag) {
    return (groups[i].flags & flag) != 0;
  };
  if (kind == Lane::Kind::copy)
    for (std::uint32_t i = 0; i < groups.size(); ++i)
      if (is(i, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) &&
          !is(i, ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)) {
        group = i;
        break;
      }
  return Place{group, number % groups[group].queues};
}

}  // namespace

Result<Ways> ways_of(DriverRef driver, Submission asked) {
  if (asked == Submission::barriers) return Ways{};
  if (driver.has(Feature::in_order_lists)) return Ways{true, driver.has(Feature::append_lists)};
  if (asked == Submission::automatic) return Ways{};
  return tl::unexpected(Error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "in-order lists"));
}

Result<void> Recording::zero(void* to, std::size_t bytes) const {
  constexpr std::uint32_t kZero = 0;
  KILN_TRY(list.fill(to, std::as_bytes(std::span(&kZero, 1)), bytes));
  return order();
}

Result<Lane> Lane::create(const OpenDevice& device, Ways ways, Kind kind, std::uint32_t number) {
  Lane lane;
  lane.ways_ = ways;
  lane.kind_ = kind;
  KILN_TRY(const Place place, place_of(device, kind, number));
  lane.group_ = place.group;
  const ContextRef context = device.context.get();
  const QueueOptions queue{.index = place.queue};
  if (ways.in_order && ways.append) {
    KILN_TRY(lane.immediate_, CommandListRef::create_immediate(context, device.device, queue, place.group,
                                                               {.in_order = true, .copy_offload = true}));
  } else {
    KILN_TRY(lane.queue_, CommandQueueRef::create(context, device.device, queue, place.group));
  }
  return lane;
}

Result<CommandList> Lane::new_list(const OpenDevice& device) const {
  return CommandListRef::create(device.context.get(), device.device, group_,
                                {.in_order = ways_.in_order, .copy_offload = kind_ == Kind::copy});
}

Result<void> Lane::wait(std::chrono::seconds timeout) const {
  if (immediate_) return immediate_->synchronize(timeout);
  return queue_ ? queue_->synchronize(timeout) : Result<void>();
}

}  // namespace engine
