// SPDX-License-Identifier: MIT
// Sizes of groups from text, and what they gave as a table or JSON.
#include "tool/run/sweep_table.hpp"

#include <algorithm>

#include "support/digits.hpp"
#include "tool/common/output.hpp"
#include "tool/common/table.hpp"
#include "tool/kernel/specification.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

constexpr std::uint64_t kLargestGroupSize = 1 << 20;

Json swept_json(const SweptSize& swept) {
  Json json{{"group", swept.size}};
  if (!swept.refused.empty()) {
    json["refused"] = swept.refused;
    return json;
  }
  json["groups"] = {swept.groups.x, swept.groups.y, swept.groups.z};
  json["host_ms"] = milliseconds(swept.outcome.host);
  json["device_ms"] = swept.outcome.executed ? Json(milliseconds(swept.outcome.device)) : Json();
  if (swept.occupancy)
    json["occupancy"] = {{"percent", swept.occupancy->percent()},
                         {"groups_per_core", swept.occupancy->groups_per_core},
                         {"limit", to_string(swept.occupancy->limit)}};
  if (swept.barriers) json["barriers"] = *swept.barriers;
  const auto or_null = [](const std::optional<bool>& value) { return value ? Json(*value) : Json(); };
  json["right"] = or_null(swept.right);
  json["same"] = or_null(swept.same);
  return json;
}

void print_swept(const Sweep& sweep) {
  std::vector<std::vector<std::string>> table{{"GROUP", "ANSWER", "DEVICE ms", "HOST ms", "GROUPS", "THREADS",
                                               "LIMIT", sweep.counted ? "ARRIVALS" : "BARRIERS"}};
  for (const SweptSize& each : sweep.sizes) {
    const std::string size = std::to_string(each.size);
    if (!each.refused.empty()) {
      table.push_back({size, each.refused, "-", "-", "-", "-", "-", "-"});
      continue;
    }
    const auto groups = std::uint64_t{each.groups.x} * each.groups.y * each.groups.z;
    table.push_back({size,
                     each.is_wrong()                ? "WRONG"
                     : sweep.verified && each.right ? "ok"
                     : !each.same                   ? "-"
                     : *each.same                   ? "same"
                                                    : "differs",
                     each.outcome.executed ? milliseconds_text(each.outcome.device) : "-",
                     milliseconds_text(each.outcome.host), std::to_string(groups),
                     each.occupancy ? std::to_string(each.occupancy->percent()) + "%" : "-",
                     each.occupancy ? to_string(each.occupancy->limit) : "-",
                     each.barriers                              ? std::to_string(*each.barriers)
                     : sweep.counted || !sweep.barriers_a_group ? "-"
                                                                : std::to_string(*sweep.barriers_a_group)});
  }
  print_table(std::move(table), 2, 0, [](std::size_t column, std::string_view cell) {
    return column == 1 && cell == "WRONG" ? Paint::bad : Paint::none;
  });
}

}  // namespace

Result<std::vector<std::uint32_t>> parse_sweep(const std::string& text) {
  std::vector<std::uint32_t> sizes;
  std::string_view rest = text;
  const auto add = [&](std::string_view digits) {
    const auto size = detail::parse_digits(digits);
    if (!size || *size == 0 || *size > kLargestGroupSize) return false;
    sizes.push_back(static_cast<std::uint32_t>(*size));
    return true;
  };
  bool good = rest.starts_with("group=");
  rest.remove_prefix(good ? 6 : 0);
  if (const auto dots = rest.find(".."); good && dots != rest.npos) {
    good = add(rest.substr(0, dots)) && add(rest.substr(dots + 2)) && sizes[0] <= sizes[1];
    const std::uint64_t first = good ? sizes[0] : 1, last = good ? sizes[1] : 0;
    sizes.clear();
    for (std::uint64_t size = first; size <= last; size *= 2)
      sizes.push_back(static_cast<std::uint32_t>(size));
  } else {
    while (good) {
      const auto comma = rest.find(',');
      good = add(rest.substr(0, comma));
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  if (good) return sizes;
  return tl::unexpected(bad_specification("--sweep is none of group sizes: `" + text + "`",
                                          {"give --sweep group=16..1024, or group=32,48,64"}));
}

bool Sweep::none_ran() const {
  return std::ranges::all_of(sizes, [](const SweptSize& each) { return !each.refused.empty(); });
}

namespace {

Json sweep_json(const Sweep& sweep, const SweptSize* best, bool right) {
  const bool compared =
      std::ranges::any_of(sweep.sizes, [](const SweptSize& each) { return each.right.has_value(); });
  Json list = Json::array();
  for (const SweptSize& each : sweep.sizes) list.push_back(swept_json(each));
  Json all{{"kernel", sweep.kernel}, {"device", sweep.device.properties.name}, {"sweep", std::move(list)}};
  all["best"] = best ? Json(best->size) : Json();
  all["occupancy_of"] = sweep.occupancy_of.empty() ? Json() : Json(sweep.occupancy_of);
  if (sweep.barriers_a_group) all["barriers_a_group"] = *sweep.barriers_a_group;
  all["ok"] = compared ? Json(right) : Json();
  return all;
}

}  // namespace

Result<int> report_sweep(const Sweep& sweep, const RunOptions& options) {
  const SweptSize *best = nullptr, *slowest = nullptr;
  for (const SweptSize& each : sweep.sizes) {
    if (!each.refused.empty() || each.is_wrong() || !each.outcome.executed) continue;
    if (!best || each.outcome.device < best->outcome.device) best = &each;
    if (!slowest || each.outcome.device > slowest->outcome.device) slowest = &each;
  }
  const bool right = std::ranges::none_of(sweep.sizes, &SweptSize::is_wrong);
  const Json json = sweep_json(sweep, best, right);
  if (!options.report.empty()) {
    KILN_TRY(write_report(options.report, sweep_page(json, sweep.device.kind == DeviceKind::cpu)));
  }
  if (options.json) {
    print(json);
    return right ? kOk : kWrongAnswer;
  }
  say("%s on %s\n", sweep.kernel.c_str(), sweep.device.properties.name.c_str());
  print_swept(sweep);
  if (best)
    say("best: groups of %u, %.3f ms on this device, %.2f times as fast as groups of %u\n", best->size,
        milliseconds(best->outcome.device),
        static_cast<double>(slowest->outcome.device.count()) /
            static_cast<double>(std::max<std::int64_t>(best->outcome.device.count(), 1)),
        slowest->size);
  if (!sweep.occupancy_of.empty())
    say("THREADS: part of a core's hardware threads with work on %s, by %s%s\n", sweep.occupancy_of.c_str(),
        sweep.occupancy_basis.c_str(),
        sweep.device.kind == DeviceKind::cpu ? "; times are of the CPU device, not of that product" : "");
  if (!options.report.empty()) say("  report       %s\n", options.report.c_str());
  return right ? kOk : kWrongAnswer;
}

}  // namespace kiln::tool
