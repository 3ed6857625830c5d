// SPDX-License-Identifier: MIT
// Launches as rows, and names that last.
#include "drivers/layer/recent.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "drivers/layer/locks.hpp"

namespace kiln::layer {
namespace {

std::string by_dimension(const ze_group_count_t& groups) {
  return std::to_string(groups.groupCountX) + " x " + std::to_string(groups.groupCountY) + " x " +
         std::to_string(groups.groupCountZ);
}

}  // namespace

void RecentLaunches::add_rows(Diagnostic& diagnostic) const {
  const std::uint64_t end = next_.load(std::memory_order_relaxed);
  for (std::uint64_t back = 1; back <= std::min(end, kMost); ++back) {
    const Launch& launch = launches_[(end - back) % kMost];
    const char* const kernel = launch.kernel.load(std::memory_order_relaxed);
    if (!kernel) continue;
    diagnostic.rows.push_back({back == 1 ? "launched last" : "before that",
                               "`" + std::string(kernel) + "`, " + by_dimension(launch.groups) + " groups"});
  }
}

const char* lasting(const std::string& name) {
  static auto* const names = new std::unordered_set<std::string>;  // its strings do not move
  const std::lock_guard lock(mutex_of(Lock::names));
  return names->insert(name).first->c_str();
}

}  // namespace kiln::layer
