// SPDX-License-Identifier: MIT
// Schedules fibers: sub-group after sub-group, each up to where its items wait; a waiting item goes straight
// to the next one, so each costs one switch.
#include "drivers/cpu/runtime/fibers/fiber_group.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "drivers/cpu/runtime/collective.hpp"
#include "drivers/cpu/runtime/deadlock.hpp"
#include "drivers/cpu/runtime/fibers/fiber_switch.hpp"
#include "drivers/cpu/runtime/launch_limit.hpp"

namespace kiln::cpu {

using boost::context::detail::transfer_t;

/// The items of one group.
///
/// When all items of a sub-group wait or have ended, its collective that stands first in the program runs, if
/// all that it needs are there. So items that left a branch or a loop wait for those still inside, as lanes
/// of a GPU that runs the smallest address first do. When no sub-group can go on, the work-group's collective
/// runs.
class FiberGroup {
 public:
  FiberGroup(ItemEntry entry, const GroupState& group, const std::byte* arguments, FiberStacks& stacks,
             std::uint32_t sub_group_size)
      : entry_(entry),
        group_(group),
        arguments_(arguments),
        stacks_(stacks),
        sub_group_size_(sub_group_size) {
    const std::uint64_t* size = group_.launch->local_size;
    const std::size_t count = size[0] * size[1] * size[2];
    places_ = stacks_.places(count);
    waits_ = stacks_.waits(count);
    std::ranges::fill(places_, kReady);
    std::size_t index = 0;
    for (std::uint64_t z = 0; z < size[2]; ++z) {
      for (std::uint64_t y = 0; y < size[1]; ++y) {
        for (std::uint64_t x = 0; x < size[0]; ++x) {
          Fiber& fiber = stacks_.start(index, this, fiber_main);
          fiber.group = &group_;
          fiber.local_id[0] = x;
          fiber.local_id[1] = y;
          fiber.local_id[2] = z;
          fiber.lane = index % sub_group_size_;
          fiber.sub_group = index / sub_group_size_;
          ++index;
        }
      }
    }
  }

  /// Until all items have ended, or can go no further.
  void go_on() {
    if (at_grid_barrier_) std::ranges::fill(places_, kReady);
    at_grid_barrier_ = false;
    home_ = {};  // of this thread
    home_.group = this;
#if defined(KILN_FIBERS_TSAN)
    home_.sanitizer = __tsan_get_current_fiber();
#endif
    const Home home(home_);
    enter_sub_group(0);
    switch_to(home_, next());
  }

  [[nodiscard]] bool at_grid_barrier() const { return at_grid_barrier_; }
  /// Who waits where, when the items wait for each other in vain.
  [[nodiscard]] std::string& report() { return report_; }

  void wait(Fiber& fiber, std::uint32_t place, const Wait& wait) {
    waits_[current_] = wait;
    barrier(fiber, place);
  }

  void barrier(Fiber& fiber, std::uint32_t place) {
    places_[current_] = place;
    any_at_sub_group_ |= place < kGroupPlace;
    // Most often the next item is ready.
    if (upcoming_ < end_ && places_[upcoming_] == kReady) {
      current_ = upcoming_++;
      return switch_to(fiber.context, (&fiber + 1)->context);
    }
    Context& to = next();
    if (&to != &fiber.context) switch_to(fiber.context, to);
  }

 private:
  void enter_sub_group(std::size_t first) {
    begin_ = upcoming_ = first;
    any_at_sub_group_ = false;
    end_ = std::min(first + sub_group_size_, places_.size());
  }

  // Where to go after the current item.
  Context& next() {
    for (;;) {
      for (; upcoming_ < end_; ++upcoming_) {
        if (places_[upcoming_] == kReady) {
          current_ = upcoming_++;
          return stacks_.fiber(current_).context;
        }
      }
      if (any_at_sub_group_ && run_sub_group_collective())
        upcoming_ = begin_;
      else if (end_ < places_.size())
        enter_sub_group(end_);
      else if (run_group_collective())
        enter_sub_group(0);
      else
        return home_;
    }
  }

  bool run_sub_group_collective() {
    const auto places = places_.subspan(begin_, end_ - begin_);
    std::uint32_t tried = kReady;
    for (;;) {
      std::uint32_t place = kGroupPlace;
      for (const std::uint32_t other : places)
        if (other > tried && other < place) place = other;
      if (place == kGroupPlace) return false;
      members_.clear();
      for (std::uint32_t i = 0; i < places.size(); ++i)
        if (places[i] == place) members_.push_back(i);
      const bool is_barrier = (place & kBarrierPlace) != 0;
      const bool may_diverge = !is_barrier && (waits_[begin_ + members_[0]].what & kMayDiverge) != 0;
      if (may_diverge || members_.size() == places.size()) {
        if (!is_barrier) run_collective(waits_.subspan(begin_, places.size()), members_);
        for (const std::uint32_t member : members_) places[member] = kReady;
        return true;
      }
      tried = place;
    }
  }

  // False when the group has come to its end, good or bad.
  bool run_group_collective() {
    const std::uint32_t place = places_[0];
    std::uint32_t difference = 0;
    for (const std::uint32_t other : places_) difference |= other ^ place;
    // Sub-group collectives are done, so that a place all agree on is one of the group.
    if (difference != 0) report_ = describe_deadlock(group_, places_, waits_);
    if (difference != 0 || place == kEnded) return false;
    if ((place & kGridPlace) != 0) {
      at_grid_barrier_ = true;
      return false;
    }
    if ((place & kBarrierPlace) == 0) {
      members_.resize(places_.size());
      for (std::uint32_t i = 0; i < members_.size(); ++i) members_[i] = i;
      run_collective(waits_, members_);
    }
    std::ranges::fill(places_, kReady);
    return true;
  }

  static void fiber_main(transfer_t transfer) {
    FiberGroup& group = *arrived(transfer, nullptr).group;
    Fiber& fiber = group.stacks_.fiber(group.current_);
    group.entry_(&fiber, group.arguments_);
    group.places_[group.current_] = kEnded;
    switch_to(fiber.context, group.next(), true);
    std::abort();  // an ended fiber is never switched to
  }

  ItemEntry entry_;
  const GroupState& group_;
  const std::byte* arguments_;
  FiberStacks& stacks_;
  std::uint32_t sub_group_size_;
  Context home_;
  std::span<std::uint32_t> places_;  // of all items
  std::span<Wait> waits_;
  std::vector<std::uint32_t> members_;      // of one collective
  std::size_t current_ = 0, upcoming_ = 0;  // items
  std::size_t begin_ = 0, end_ = 0;         // the sub-group that runs
  bool any_at_sub_group_ = false;           // an item of it waits for the others of it
  bool at_grid_barrier_ = false;            // all items wait for the other groups
  std::string report_;
};

namespace {

// A call made on another stack; as a Context it is the place to come back to.
struct StackCall : Context {
  GroupEntry entry;
  const GroupState& group;
  const std::byte* arguments;
  Context& stack;

  static void main(transfer_t transfer) {
    auto& call = static_cast<StackCall&>(arrived(transfer, nullptr));
    call.entry(&call.group, call.arguments);
    switch_to(call.stack, call, true);
    std::abort();
  }
};

}  // namespace

void run_on_stack(GroupEntry entry, const GroupState& group, const std::byte* arguments,
                  FiberStacks& stacks) {
  Context& stack = stacks.start(0, nullptr, StackCall::main).context;
  StackCall call{{}, entry, group, arguments, stack};
#if defined(KILN_FIBERS_TSAN)
  call.sanitizer = __tsan_get_current_fiber();
#endif
  const Home home(call);
  switch_to(call, stack);
}

std::string run_fiber_group(ItemEntry entry, const GroupState& group, const std::byte* arguments,
                            FiberStacks& stacks, std::uint32_t sub_group_size) {
  FiberGroup fibers(entry, group, arguments, stacks, sub_group_size);
  fibers.go_on();
  return std::move(fibers.report());
}

HeldGroup::HeldGroup(ItemEntry entry, const GroupState& group, const std::byte* arguments,
                     FiberStacks& stacks, std::uint32_t sub_group_size)
    : fibers_(std::make_unique<FiberGroup>(entry, group, arguments, stacks, sub_group_size)) {}

HeldGroup::~HeldGroup() = default;

HeldGroup::State HeldGroup::go_on() {
  fibers_->go_on();
  if (fibers_->at_grid_barrier()) return State::waits;
  return fibers_->report().empty() ? State::ended : State::hangs;
}

std::string HeldGroup::report() { return fibers_->report(); }

}  // namespace kiln::cpu

void kiln_barrier(kiln::cpu::ItemState* item, std::uint64_t place) {
  auto& fiber = static_cast<kiln::cpu::Fiber&>(*item);
  fiber.context.group->barrier(fiber, static_cast<std::uint32_t>(place));
}

void kiln_grid_barrier(kiln::cpu::ItemState* item, std::uint64_t place) { kiln_barrier(item, place); }

void kiln_collective(kiln::cpu::ItemState* item, std::uint64_t place, std::uint64_t what, std::byte* value,
                     std::uint64_t parameter, kiln::cpu::Combine combine) {
  auto& fiber = static_cast<kiln::cpu::Fiber&>(*item);
  fiber.context.group->wait(fiber, static_cast<std::uint32_t>(place), {what, value, parameter, combine});
}
