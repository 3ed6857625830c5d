// SPDX-License-Identifier: MIT
// Sums up counters.
#include "tool/advise/cost.hpp"

#include <algorithm>

namespace kiln::tool {
namespace {

// As in findings (K0808): more is hard to reach with whole work-groups.
constexpr double kEnoughThreads = 75;  // percent
constexpr std::uint64_t kStepBytes = 64;

}  // namespace

double CountedCost::total() const {
  const auto sum = static_cast<double>(lines + turns + barriers + spilled);
  return sum * kEnoughThreads / std::clamp(static_cast<double>(threads_percent), 1.0, kEnoughThreads);
}

CountedCost cost_of(const Counters& counters, std::uint64_t group_size, std::uint64_t slm,
                    const std::optional<NativeUse>& native) {
  CountedCost cost;
  const std::uint64_t launches = std::max<std::uint64_t>(counters.launches, 1),
                      lanes = std::max<std::uint64_t>(counters.sub_group_size, 1);
  for (const MemoryTotal& each : counters.totals) {
    cost.lines += each.lines;
    cost.turns += each.turns;
  }
  cost.lines /= launches;
  cost.turns /= launches;
  // Work-items arrive; of a group that does not fill its last hardware thread that one arrives all the same.
  const std::uint64_t items = std::max<std::uint64_t>(group_size, 1),
                      threads_a_group = (items + lanes - 1) / lanes;
  cost.barriers = (counters.barriers / launches * threads_a_group + items - 1) / items;
  if (!native) return cost;
  cost.occupancy = occupancy(native->facts, native->limits, group_size, slm);
  if (const std::uint32_t most = threads_per_core(native->limits, 128); cost.occupancy->threads_per_core > 0)
    cost.threads_percent = cost.occupancy->groups_per_core * cost.occupancy->threads_per_group * 100 / most;
  // Each hardware thread writes and reads what it spills once, at least.
  const std::uint64_t threads = counters.groups / launches * cost.occupancy->threads_per_group;
  cost.spilled = threads * 2 * ((native->facts.spill_size + kStepBytes - 1) / kStepBytes);
  return cost;
}

}  // namespace kiln::tool
