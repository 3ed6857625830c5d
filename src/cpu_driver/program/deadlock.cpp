// SPDX-License-Identifier: MIT
// Writes the report about a work-group whose items wait for each other in vain.
#include "cpu_driver/program/deadlock.hpp"

#include <map>
#include <vector>

namespace kiln::cpu {
namespace {

// Long lists help nobody: as many ranges of ids, and as many places.
constexpr std::size_t kMostRanges = 16, kMostPlaces = 8;

std::string name_of(const Wait& wait) {
  const std::string group = (wait.what & kOfSubGroup) != 0 ? "sub-group " : "work-group ";
  switch (wait.kind()) {
    case Meeting::reduce:
    case Meeting::clustered_reduce:
      return group + "reduction";
    case Meeting::inclusive_scan:
    case Meeting::exclusive_scan:
      return group + "scan";
    case Meeting::gather:
      return group + "broadcast";
    case Meeting::ballot:
      return group + "ballot";
    case Meeting::barrier:
      break;
  }
  return group + "barrier";
}

// "0-15, 20, 22, ..., 30"
std::string ranges(std::span<const std::uint32_t> ids) {
  std::string out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < ids.size();) {
    if (++count > kMostRanges) return out + ", ...";
    const std::uint32_t step = i + 1 < ids.size() ? ids[i + 1] - ids[i] : 0;
    std::size_t last = i;
    while (last + 1 < ids.size() && ids[last + 1] - ids[last] == step) ++last;
    if (step != 1 && last < i + 3) last = i;
    out += (out.empty() ? "" : ", ") + std::to_string(ids[i]);
    if (last != i) {
      out += step == 1 ? "-" : ", " + std::to_string(ids[i + 1]) + ", ..., ";
      out += std::to_string(ids[last]);
    }
    i = last + 1;
  }
  return out;
}

}  // namespace

std::string describe_deadlock(const GroupState& group, std::span<const std::uint32_t> places,
                              std::span<const Wait> waits) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_place;  // by the order in the program; ended last
  for (std::uint32_t i = 0; i < places.size(); ++i)
    by_place[places[i] == kEnded ? kEnded : places[i] & ~kGroupPlace].push_back(i);
  std::string out = "hangs in work-group (" + std::to_string(group.group_id[0]) + ", " +
                    std::to_string(group.group_id[1]) + ", " + std::to_string(group.group_id[2]) + "):";
  std::size_t count = 0;
  for (const auto& [place, ids] : by_place) {
    if (++count > kMostPlaces && place != kEnded) continue;
    out += count == 1 ? " " : "; ";
    out += std::to_string(ids.size()) + " of " + std::to_string(places.size()) + " work-items ";
    out += place == kEnded
               ? "have ended"
               : "wait at meeting " + std::to_string(place) + " of the kernel, a " + name_of(waits[ids[0]]);
    out += " (linear local ids " + ranges(ids) + ")";
  }
  return out;
}

}  // namespace kiln::cpu
