// SPDX-License-Identifier: MIT
// What was counted of a kernel, and the defects that were found, over all its launches.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "drivers/cpu/compiler/instrument/places.hpp"
#include "drivers/cpu/counting/access_rules.hpp"
#include "kiln/binary.hpp"

namespace kiln::cpu {

/// A sub-group's access, lane by lane. Offsets are those in SLM, or in the allocation.
struct AccessExample {
  std::uint64_t group = 0;  ///< linear
  std::uint64_t sub_group = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> lanes;  ///< lane, offset
  std::uint32_t lines = 0;
  Turns turns;

  /// With the most lanes, then of the first group.
  [[nodiscard]] bool better_than(const AccessExample& other) const {
    return std::tuple(other.lanes.size(), group, sub_group) <
           std::tuple(lanes.size(), other.group, other.sub_group);
  }
};

inline constexpr std::int32_t kNoArgument = -1, kSeveralArguments = -2;

/// Of one place.
struct Tally {
  std::uint64_t accesses = 0, bytes = 0;           ///< of work-items
  std::uint64_t together = 0;                      ///< accesses of sub-groups
  std::map<std::uint32_t, std::uint64_t> lines{};  ///< accesses of sub-groups by the cache lines they touch
  Turns turns;                                     ///< of SLM banks
  std::int32_t argument = kNoArgument;             ///< whose memory it is
  AccessExample example;

  void came_from(std::int32_t which) {
    if (which == kNoArgument) return;
    argument = argument == kNoArgument || argument == which ? which : kSeveralArguments;
  }
  void add(const Tally& other);
};

enum class DefectKind : std::uint8_t { slm_bounds, global_bounds, race, indirect_access, unwritten };

struct Defect {
  DefectKind kind;
  std::uint32_t place = 0, other_place = 0;  ///< the other one of races
  std::uint64_t item = 0, other_item = 0;    ///< linear local ids
  std::array<std::uint64_t, 3> group{};
  std::int64_t offset = 0;  ///< in SLM, the variable, or the allocation; may be negative
  std::uint64_t bytes = 0,
                available = 0;          ///< of the access, and of what it should lie in; 0: it lies nowhere
  std::uint32_t memory_kind = 0;        ///< a MemoryKindBit that is not allowed
  std::uint64_t address = 0;            ///< of global memory
  std::int32_t argument = kNoArgument;  ///< whose memory it should lie in
  std::uint64_t count = 1;              ///< of this kind at these places
};

/// One for each cause: kind and places.
using Defects = std::map<std::tuple<DefectKind, std::uint32_t, std::uint32_t>, Defect>;
void add_defect(Defects& defects, const Defect& defect);

/// Of one kernel of a module. Thread-safe.
class KernelCounters {
 public:
  explicit KernelCounters(KernelPlaces places) : places_(std::move(places)), tallies_(places_.size()) {}

  [[nodiscard]] const KernelPlaces& places() const { return places_; }
  void add_launch(std::uint64_t groups, std::uint64_t items);
  void add(const std::vector<Tally>& tallies, const Defects& defects, bool split);

  /// docs/counters.md has the form.
  [[nodiscard]] std::string to_json(const KernelFacts& facts, std::uint32_t sub_group_size) const;
  void clear();
  /// A line for each defect found since the last call; empty: none.
  [[nodiscard]] std::string new_defects(const std::string& kernel);

 private:
  const KernelPlaces places_;
  mutable std::mutex mutex_;
  std::vector<Tally> tallies_;
  Defects defects_;
  std::uint64_t launches_ = 0, groups_ = 0, items_ = 0;
  bool split_ = false;
  std::map<Defects::key_type, bool> told_;
};

/// "device", "host" or "shared", of a MemoryKindBit.
[[nodiscard]] const char* memory_name(std::uint32_t kind);

/// "reads 4 bytes at 128 of SLM, which has 128": one sentence without the kernel.
[[nodiscard]] std::string describe(const Defect& defect, const KernelPlaces& places);

}  // namespace kiln::cpu
