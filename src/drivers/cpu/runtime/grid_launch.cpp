// SPDX-License-Identifier: MIT
// Keeps the groups of a launch between its phases.
#include "drivers/cpu/runtime/grid_launch.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "drivers/cpu/compiler/lowering/function_pointers.hpp"
#include "drivers/cpu/counting/recorder.hpp"
#include "drivers/cpu/runtime/fibers/fiber_group.hpp"
#include "drivers/cpu/runtime/floating_point.hpp"
#include "drivers/cpu/runtime/group_run.hpp"
#include "drivers/cpu/runtime/loaded_kernel.hpp"
#include "drivers/cpu/runtime/thread_pool.hpp"

namespace kiln::cpu {
namespace {

struct Group {
  SlmBuffer slm;
  FiberStacks stacks;
  GroupRun state;
  std::optional<Recorder> recorder;
  std::unique_ptr<HeldGroup> items;  // null: not begun
  HeldGroup::State at = HeldGroup::State::waits;
  std::string report;
};

/// What lies between two barriers of the grid, for all groups that wait at the first.
class Phase : public SharedWork {
 public:
  Phase(const Execution& execution, const LaunchState& state, const std::byte* arguments,
        std::uint64_t slm_bytes, std::vector<Group>& groups, LaunchLimit& limit)
      : execution_(execution),
        kernel_(*static_cast<const LoadedKernel*>(execution.kernel->entry)),
        state_(state),
        arguments_(arguments),
        slm_bytes_(slm_bytes),
        groups_(groups),
        limit_(limit) {}

  [[nodiscard]] std::uint64_t width() const override { return groups_.size(); }

  void run(Worker&) override {
    const DefaultFloatingPoint floating_point;
    const LaunchLimit::Thread inside(limit_);
    for (;;) {
      const std::size_t index = next_.fetch_add(1);
      if (index >= groups_.size() || out_of_memory_ || limit_.over()) return;
      Group& group = groups_[index];
      if (group.at == HeldGroup::State::waits && !go_on(group, index)) out_of_memory_ = true;
    }
  }

  [[nodiscard]] bool out_of_memory() const { return out_of_memory_; }

 private:
  bool begin(Group& group, std::uint64_t index) const {
    const std::uint64_t items = state_.local_size[0] * state_.local_size[1] * state_.local_size[2];
    group.state.launch = &state_;
    group.state.slm = group.slm.reserve(slm_bytes_);
    if (group.state.slm == nullptr || !group.stacks.reserve(items, kernel_.stack_bytes)) return false;
    group.state.group_id[0] = index % state_.group_count[0];
    group.state.group_id[1] = index / state_.group_count[0] % state_.group_count[1];
    group.state.group_id[2] = index / state_.group_count[0] / state_.group_count[1];
    if (kernel_.counters != nullptr) {
      group.recorder.emplace(*kernel_.counters, execution_, slm_bytes_);
      group.recorder->begin_group(group.state);
    }
    group.items = std::make_unique<HeldGroup>(kernel_.run_item, group.state, arguments_, group.stacks,
                                              kernel_.sub_group_size);
    return true;
  }

  bool go_on(Group& group, std::uint64_t index) const {
    if (group.items == nullptr && !begin(group, index)) return false;
    if (group.recorder) group.recorder->enter();
    group.at = group.items->go_on();
    if (group.recorder) group.recorder->leave();
    if (kernel_.calls_pointers) group.report = take_wrong_call();
    if (group.at == HeldGroup::State::hangs) group.report = group.items->report();
    return true;
  }

  const Execution& execution_;
  const LoadedKernel& kernel_;
  const LaunchState& state_;
  const std::byte* arguments_;
  std::uint64_t slm_bytes_;
  std::vector<Group>& groups_;
  LaunchLimit& limit_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> out_of_memory_ = false;
};

}  // namespace

GridResult run_grid(const Execution& execution, const LaunchState& state, const std::byte* arguments,
                    std::uint64_t slm_bytes, LaunchLimit& limit) {
  std::vector<Group> groups(state.group_count[0] * state.group_count[1] * state.group_count[2]);
  for (;;) {
    Phase phase(execution, state, arguments, slm_bytes, groups, limit);
    ThreadPool::instance().run(phase);
    if (phase.out_of_memory()) return {true, {}};
    if (limit.over()) return {};
    for (Group& group : groups)
      if (!group.report.empty()) return {false, std::move(group.report)};
    const auto ended = std::ranges::count(groups, HeldGroup::State::ended, &Group::at);
    if (ended == static_cast<std::ptrdiff_t>(groups.size())) return {};
    if (ended > 0)
      return {false, "hangs: " + std::to_string(static_cast<std::ptrdiff_t>(groups.size()) - ended) + " of " +
                         std::to_string(groups.size()) +
                         " work-groups wait at a barrier of all work-groups; " + std::to_string(ended) +
                         " have ended"};
  }
}

}  // namespace kiln::cpu
