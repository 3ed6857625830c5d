// SPDX-License-Identifier: MIT
// Counters of a kernel as JSON; docs/counters.md has the form.
#include "drivers/cpu/counting/counters.hpp"
#include "support/json.hpp"

namespace kiln::cpu {
namespace {

using detail::Json;

const char* name_of(PlaceKind kind) {
  constexpr const char* kNames[] = {"read", "write", "atomic", "barrier"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* name_of(PlaceMemory memory) {
  constexpr const char* kNames[] = {"none", "global", "constant", "slm", "generic", "private"};
  return kNames[static_cast<std::size_t>(memory)];
}

const char* name_of(DefectKind kind) {
  constexpr const char* kNames[] = {"slm_out_of_bounds", "global_out_of_bounds", "slm_race",
                                    "indirect_access", "slm_unwritten"};
  return kNames[static_cast<std::size_t>(kind)];
}

Json number_or_null(std::uint64_t number) { return number == 0 ? Json() : Json(number); }

bool is_slm(const Place& place, const Tally& tally) {
  return place.memory == PlaceMemory::slm || (place.memory == PlaceMemory::generic && tally.turns.taken > 0);
}

Json example_of(const AccessExample& example, bool slm) {
  Json json{{"group", example.group}, {"sub_group", example.sub_group}};
  for (const auto& [lane, offset] : example.lanes)
    json["lanes"].push_back({{"lane", lane}, {"offset", offset}});
  if (slm)
    json["turns"] = example.turns.taken;
  else
    json["lines"] = example.lines;
  return json;
}

Json instruction(const Place& place, const Tally& tally, const KernelFacts& facts) {
  Json json{{"id", number_or_null(place.id)},
            {"line", number_or_null(place.line)},
            {"kind", name_of(place.kind)},
            {"memory", name_of(place.memory)},
            {"accesses", tally.accesses}};
  if (place.kind == PlaceKind::barrier) return json;
  json["bytes"] = tally.bytes;
  json["width"] = number_or_null(place.bytes);
  if (place.memory == PlaceMemory::private_memory) return json;
  const std::int32_t argument = tally.argument == kNoArgument ? place.argument : tally.argument;
  json["argument"] = argument < 0 ? Json() : Json(argument);
  if (argument >= 0 && static_cast<std::size_t>(argument) < facts.arguments.size())
    json["argument_name"] = facts.arguments[static_cast<std::size_t>(argument)].name;
  json["sub_group_accesses"] = tally.together;
  const bool slm = is_slm(place, tally);
  if (slm) {
    json["turns"] = tally.turns.taken;
    json["conflict_turns"] = tally.turns.taken - tally.turns.least;
  } else {
    json["lines"] = Json::object();
    for (const auto& [lines, times] : tally.lines) json["lines"][std::to_string(lines)] = times;
  }
  json["neighbours"] = {{"accesses", place.neighbours}, {"bytes", place.neighbour_bytes}};
  if (!tally.example.lanes.empty()) json["example"] = example_of(tally.example, slm);
  return json;
}

/// "global_reads": sums by memory and kind.
void add_to_totals(Json& totals, const Place& place, const Tally& tally) {
  if (place.kind == PlaceKind::barrier) {
    totals["barriers"] = totals.value("barriers", std::uint64_t{0}) + tally.accesses;
    return;
  }
  const bool slm = is_slm(place, tally);
  std::string memory = slm ? "slm" : name_of(place.memory);
  if (memory == "generic") memory = "global";
  Json& sums = totals[memory + "_" + name_of(place.kind) + "s"];
  const auto add = [&](const char* name, std::uint64_t more) {
    sums[name] = sums.value(name, std::uint64_t{0}) + more;
  };
  if (sums.is_null()) sums = Json::object();
  add("accesses", tally.accesses);
  add("bytes", tally.bytes);
  if (place.memory == PlaceMemory::private_memory) return;
  add("sub_group_accesses", tally.together);
  std::uint64_t lines = 0;
  for (const auto& [count, times] : tally.lines) lines += count * times;
  if (!slm) return add("lines", lines);
  add("turns", tally.turns.taken);
  add("conflict_turns", tally.turns.taken - tally.turns.least);
}

Json place_of(const Place& place) {
  return {
      {"id", number_or_null(place.id)}, {"line", number_or_null(place.line)}, {"kind", name_of(place.kind)}};
}

Json defect_json(const Defect& defect, const KernelPlaces& places) {
  Json json{{"defect", name_of(defect.kind)},
            {"text", describe(defect, places)},
            {"at", place_of(places[defect.place])},
            {"group", defect.group},
            {"work_item", defect.item},
            {"offset", defect.offset},
            {"bytes", defect.bytes},
            {"available", defect.available},
            {"times", defect.count}};
  if (defect.kind == DefectKind::race) {
    json["other"] = place_of(places[defect.other_place]);
    json["other_work_item"] = defect.other_item;
  }
  if (defect.kind == DefectKind::indirect_access) {
    json["address"] = defect.address;
    json["memory"] = memory_name(defect.memory_kind);
  }
  if (defect.kind == DefectKind::global_bounds) {
    json["address"] = defect.address;
    json["argument"] = defect.argument < 0 ? Json() : Json(defect.argument);
  }
  return json;
}

}  // namespace

std::string KernelCounters::to_json(const KernelFacts& facts, std::uint32_t sub_group_size) const {
  const std::lock_guard lock(mutex_);
  Json json{{"kernel", facts.name},     {"sub_group_size", sub_group_size},
            {"launches", launches_},    {"groups", groups_},
            {"work_items", items_},     {"complete", !split_},
            {"totals", Json::object()}, {"instructions", Json::array()},
            {"defects", Json::array()}};
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (tallies_[i].accesses == 0) continue;
    add_to_totals(json["totals"], places_[i], tallies_[i]);
    json["instructions"].push_back(instruction(places_[i], tallies_[i], facts));
  }
  for (const auto& [key, defect] : defects_) json["defects"].push_back(defect_json(defect, places_));
  return json.dump();
}

}  // namespace kiln::cpu
