// SPDX-License-Identifier: MIT
// Adds up what the workers counted, and words the defects.
#include "drivers/cpu/counting/counters.hpp"

#include <algorithm>
#include <utility>

#include "drivers/cpu/program.hpp"

namespace kiln::cpu {
namespace {

constexpr std::size_t kMostDefects = 100;  // causes of one kernel

std::string group_text(const Defect& defect) {
  return "(" + std::to_string(defect.group[0]) + ", " + std::to_string(defect.group[1]) + ", " +
         std::to_string(defect.group[2]) + ")";
}

std::string where(const Place& place) {
  if (place.line != 0) return "line " + std::to_string(place.line);
  return place.id != 0 ? "SPIR-V id %" + std::to_string(place.id) : "an instruction without id";
}

const char* verb(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::read:
      return "reads";
    case PlaceKind::write:
      return "writes";
    default:
      return "updates";
  }
}

std::string target(const Defect& defect) {
  const std::string size = std::to_string(defect.available) + " B";
  const std::string offset = "offset " + std::to_string(defect.offset);
  if (defect.kind == DefectKind::slm_bounds) return offset + " of " + size + " of SLM";
  if (defect.kind == DefectKind::unwritten)
    return offset + " of " + size + " of SLM, which nobody in the work-group has written";
  if (defect.available == 0) return "an address in no allocation";
  if (defect.argument >= 0)
    return offset + " of the " + size + " behind argument " + std::to_string(defect.argument);
  if (defect.kind == DefectKind::indirect_access)
    return offset + " of " + size + " of " + memory_name(defect.memory_kind) +
           " memory that is no argument, which zeKernelSetIndirectAccess does not allow";
  return offset + " of a variable of " + size;
}

}  // namespace

const char* memory_name(std::uint32_t kind) {
  switch (kind) {
    case kHostMemory:
      return "host";
    case kDeviceMemory:
      return "device";
    default:
      return "shared";
  }
}

std::string describe(const Defect& defect, const KernelPlaces& places) {
  const Place& place = places[defect.place];
  std::string text =
      "work-item " + std::to_string(defect.item) + " of work-group " + group_text(defect) + " ";
  if (defect.kind == DefectKind::race)
    return text + verb(place.kind) + " SLM at offset " + std::to_string(defect.offset) + " (" + where(place) +
           ") where work-item " + std::to_string(defect.other_item) + " " +
           verb(places[defect.other_place].kind) + " (" + where(places[defect.other_place]) +
           "), without a barrier between";
  return text + verb(place.kind) + " " + std::to_string(defect.bytes) + " B at " + target(defect) + " (" +
         where(place) + ")";
}

void Tally::add(const Tally& other) {
  accesses += other.accesses;
  bytes += other.bytes;
  together += other.together;
  for (const auto& [count, times] : other.lines) lines[count] += times;
  turns.taken += other.turns.taken;
  turns.least += other.turns.least;
  came_from(other.argument);
  if (other.example.better_than(example)) example = other.example;
}

void add_defect(Defects& defects, const Defect& defect) {
  // Which of two that race comes first is no other cause.
  const auto [one, other] = std::minmax(defect.place, defect.other_place);
  const Defects::key_type key(defect.kind, one, other);
  const auto found = defects.find(key);
  if (found == defects.end()) {
    if (defects.size() < kMostDefects) defects.emplace(key, defect);
    return;
  }
  const std::uint64_t count = found->second.count + defect.count;
  // Of the first group: which worker is first is chance.
  const auto order = [](const Defect& one) { return std::tuple(one.group[2], one.group[1], one.group[0]); };
  if (order(defect) < order(found->second)) found->second = defect;
  found->second.count = count;
}

void KernelCounters::clear() {
  const std::lock_guard lock(mutex_);
  tallies_.assign(places_.size(), {});
  defects_.clear();
  told_.clear();
  launches_ = groups_ = items_ = 0;
  split_ = false;
}

void KernelCounters::add_launch(std::uint64_t groups, std::uint64_t items) {
  const std::lock_guard lock(mutex_);
  ++launches_;
  groups_ += groups;
  items_ += groups * items;
}

void KernelCounters::add(const std::vector<Tally>& tallies, const Defects& defects, bool split) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < tallies_.size() && i < tallies.size(); ++i) tallies_[i].add(tallies[i]);
  for (const auto& [key, defect] : defects) add_defect(defects_, defect);
  // What is read in the phase in which it is written is a race, whichever comes first here.
  const auto races = [&](std::uint32_t place) {
    return std::ranges::any_of(defects_, [&](const auto& each) {
      const Defect& other = each.second;
      return other.kind == DefectKind::race && (other.place == place || other.other_place == place);
    });
  };
  std::erase_if(defects_, [&](const auto& each) {
    return each.second.kind == DefectKind::unwritten && races(each.second.place);
  });
  split_ = split_ || split;
}

std::string KernelCounters::new_defects(const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [key, defect] : defects_)
    if (!std::exchange(told_[key], true))
      text += "kernel '" + kernel + "': " + describe(defect, places_) + "\n";
  return text;
}

}  // namespace kiln::cpu
