// SPDX-License-Identifier: MIT
// Writes the report about a work-group whose items wait for each other in vain.
#include "drivers/cpu/runtime/deadlock.hpp"

#include <map>
#include <vector>

namespace kiln::cpu {
namespace {

// Long lists help nobody: as many ranges of ids, and as many places.
constexpr std::size_t kMostRanges = 16, kMostPlaces = 8;

std::string name_of(std::uint32_t place, const Wait& wait) {
  if ((place & kGridPlace) != 0) return "barrier of all work-groups";
  const std::string group = (place & kGroupPlace) != 0 ? "work-group " : "sub-group ";
  if ((place & kBarrierPlace) != 0) return group + "barrier";
  switch (wait.kind()) {
    case Collective::reduce:
    case Collective::clustered_reduce:
      return group + "reduction";
    case Collective::inclusive_scan:
    case Collective::exclusive_scan:
      return group + "scan";
    case Collective::gather:
      return group + "broadcast";
    case Collective::ballot:
      return group + "ballot";
    case Collective::barrier:
      break;
  }
  return group + "function";
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
    by_place[places[i] == kEnded ? kEnded : places[i] & ~(kGroupPlace | kGridPlace)].push_back(i);
  std::string out = "hangs in work-group (" + std::to_string(group.group_id[0]) + ", " +
                    std::to_string(group.group_id[1]) + ", " + std::to_string(group.group_id[2]) + "):";
  std::size_t count = 0;
  for (const auto& [place, ids] : by_place) {
    if (++count > kMostPlaces && place != kEnded) continue;
    out += count == 1 ? " " : "; ";
    out += std::to_string(ids.size()) + " of " + std::to_string(places.size()) + " work-items ";
    out += place == kEnded ? "have ended"
                           : "wait at collective " + std::to_string(place / 2) + " of the kernel, a " +
                                 name_of(places[ids[0]], waits[ids[0]]);
    out += " (linear local ids " + ranges(ids) + ")";
  }
  return out;
}

}  // namespace kiln::cpu
