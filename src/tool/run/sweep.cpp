// SPDX-License-Identifier: MIT
// `kiln run FILE --sweep group=16..1024`: the same work in groups of several sizes.
#include <algorithm>

#include "support/digits.hpp"
#include "tool/common/output.hpp"
#include "tool/common/table.hpp"
#include "tool/report/report.hpp"
#include "tool/run/fault.hpp"
#include "tool/run/file_command.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

constexpr std::uint64_t kLargestGroupSize = 1 << 20;

/// One size of the group, and what came of it.
struct SweptSize {
  std::uint32_t size = 0;
  Extent groups{};
  std::string refused{};  ///< the code of the reason; empty: it ran
  Outcome outcome{};
  std::optional<Occupancy> occupancy{};
  std::optional<std::uint64_t> barriers{};  ///< arrivals of work-items, counted
  std::optional<bool> right{}, same{};      ///< as expected; as the first; nothing: not compared

  [[nodiscard]] bool is_wrong() const { return right && !*right; }
};

/// "group=16..1024" are the powers of two times the first; "group=16,48,100" those.
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

/// The work-items that each size is to cover.
Result<Extent> swept_items(const FileRun& run) {
  const Extent &groups = run.shape().groups, &group = run.shape().group_size;
  const std::uint64_t items[] = {std::uint64_t{groups.x} * group.x, std::uint64_t{groups.y} * group.y,
                                 std::uint64_t{groups.z} * group.z};
  if (std::ranges::max(items) > UINT32_MAX)
    return tl::unexpected(
        wrong_arguments("--sweep covers " + std::to_string(std::ranges::max(items)) + " work-items, above " +
                            std::to_string(UINT32_MAX) + " in one dimension",
                        {"give fewer: --global X, or --groups X --group Y"}, run.code().signature));
  return Extent{static_cast<std::uint32_t>(items[0]), static_cast<std::uint32_t>(items[1]),
                static_cast<std::uint32_t>(items[2])};
}

/// Where no size ran there is nothing to name, and no answer.
Error no_size_ran(const std::vector<SweptSize>& all, const FileRun& run) {
  std::string reasons;
  for (const SweptSize& each : all)
    reasons += (reasons.empty() ? "" : ", ") + std::to_string(each.size) + " (" + each.refused + ")";
  return wrong_arguments("no group size of --sweep can be run: " + reasons,
                         {"give sizes that divide the work-items: --global X says how many there are",
                          "`kiln explain CODE` says what a code means"},
                         run.code().signature);
}

Result<SweptSize> run_size(const OpenDevice& device, FileRun& run, const FileRequest& request,
                           std::uint32_t size, const RunOptions& options) {
  SweptSize swept{size};
  const Extent& group = run.shape().group_size;
  ShapeRequest shape;
  KILN_TRY(shape.global, swept_items(run));
  shape.group = Extent{size, group.y, group.z};
  const auto chosen =
      choose_shape(shape, run.kernel().facts(), run.kernel().limits(), run.arguments(), run.code().signature);
  if (!chosen) {
    swept.refused = "does not divide";
    return swept;
  }
  swept.groups = chosen->groups;
  auto outcome = measure(device, run.prepare(*chosen), run.kernel(), options.repeat);
  if (!outcome) {
    const Diagnostic* why = outcome.error().diagnostic();
    if (!why || !why->code.starts_with("K01")) return tl::unexpected(std::move(outcome).error());
    swept.refused = why->code;
    return swept;
  }
  if (auto overrun = run.overrun()) return tl::unexpected(*std::move(overrun));
  swept.outcome = *outcome;
  if (options.counters) {
    KILN_TRY(const auto counters, read_counters(device, run.kernel().kernel()));
    swept.barriers = counters.barriers;
  }
  for (const BufferResult& each : run.results())  // none where nothing was executed
    if (each.expected)
      swept.right = swept.right.value_or(true) &&
                    compare_arrays(each.data, *each.expected, request.tolerance).count == 0;
  return swept;
}

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

void print_swept(const std::vector<SweptSize>& all, bool counted, std::uint32_t native_barriers) {
  std::vector<std::vector<std::string>> table{{"GROUP", "ANSWER", "DEVICE ms", "HOST ms", "GROUPS", "THREADS",
                                               "LIMIT", counted ? "ARRIVALS" : "BARRIERS"}};
  for (const SweptSize& each : all) {
    const std::string size = std::to_string(each.size);
    if (!each.refused.empty()) {
      table.push_back({size, each.refused, "-", "-", "-", "-", "-", "-"});
      continue;
    }
    const auto groups = std::uint64_t{each.groups.x} * each.groups.y * each.groups.z;
    table.push_back({size,
                     each.is_wrong() ? "WRONG"
                     : !each.same    ? "-"
                     : *each.same    ? "same"
                                     : "differs",
                     each.outcome.executed ? milliseconds_text(each.outcome.device) : "-",
                     milliseconds_text(each.outcome.host), std::to_string(groups),
                     each.occupancy ? std::to_string(each.occupancy->percent()) + "%" : "-",
                     each.occupancy ? to_string(each.occupancy->limit) : "-",
                     each.barriers ? std::to_string(*each.barriers)
                     : counted     ? "-"
                                   : std::to_string(native_barriers)});
  }
  print_table(std::move(table), 2, 0, [](std::size_t column, std::string_view cell) {
    return column == 1 && cell == "WRONG" ? Paint::bad : Paint::none;
  });
}

}  // namespace

Result<int> run_sweep(const RunOptions& options, const FileRequest& request) {
  KILN_TRY(const auto sizes, parse_sweep(options.sweep));
  KILN_TRY(const auto device, open_chosen(options.device));
  if (options.counters) {
    KILN_TRY(can_count(device));
  }
  KILN_TRY(const auto run, FileRun::create(device, request, options.counters));
  const Target* target = device.properties.ip_version ? find_target(*device.properties.ip_version) : nullptr;
  const auto native = target ? native_code_of(run->code(), request.flags, *target) : std::nullopt;
  const FaultGuard guard(device, run->code().facts.name, options.json);
  std::vector<SweptSize> all;
  std::optional<std::vector<std::string>> first;  // digests of what the first size wrote
  for (const std::uint32_t size : sizes) {
    KILN_TRY(auto swept, run_size(device, *run, request, size, options));
    if (swept.refused.empty()) {
      std::vector<std::string> digests;
      for (const BufferResult& each : run->results())
        if (each.is_output) digests.push_back(digest(each.data.bytes));
      if (!first) first = digests;
      if (swept.outcome.executed) swept.same = *first == digests;
      const Extent& group = run->shape().group_size;
      if (native)
        swept.occupancy = occupancy(*native, core_limits(*target), std::uint64_t{size} * group.y * group.z,
                                    native->static_slm + run->slm_arguments());
    }
    all.push_back(std::move(swept));
  }
  const SweptSize *best = nullptr, *slowest = nullptr;
  for (const SweptSize& each : all) {
    if (!each.refused.empty() || each.is_wrong() || !each.outcome.executed) continue;
    if (!best || each.outcome.device < best->outcome.device) best = &each;
    if (!slowest || each.outcome.device > slowest->outcome.device) slowest = &each;
  }
  if (std::ranges::none_of(all, [](const SweptSize& each) { return each.refused.empty(); }))
    return tl::unexpected(no_size_ran(all, *run));
  const bool right = std::ranges::none_of(all, &SweptSize::is_wrong);
  const bool compared =
      std::ranges::any_of(all, [](const SweptSize& each) { return each.right.has_value(); });
  if (options.json) {
    Json list = Json::array();
    for (const SweptSize& each : all) list.push_back(swept_json(each));
    Json json{
        {"kernel", run->code().facts.name}, {"device", device.properties.name}, {"sweep", std::move(list)}};
    json["best"] = best ? Json(best->size) : Json();
    json["occupancy_of"] = native ? Json(std::string(target->name)) : Json();
    if (native) json["barriers_a_group"] = native->barrier_count;
    json["ok"] = compared ? Json(right) : Json();
    print(json);
    return right ? kOk : kWrongAnswer;
  }
  say("%s on %s\n", run->code().facts.name.c_str(), device.properties.name.c_str());
  print_swept(all, options.counters, native ? native->barrier_count : run->kernel().facts().barrier_count);
  if (best)
    say("best: groups of %u, %.3f ms on this device, %.2f times as fast as groups of %u\n", best->size,
        milliseconds(best->outcome.device),
        static_cast<double>(slowest->outcome.device.count()) /
            static_cast<double>(std::max<std::int64_t>(best->outcome.device.count(), 1)),
        slowest->size);
  if (native)
    say("THREADS: part of a core's hardware threads with work on %s, by the native code that ocloc makes for "
        "it%s\n",
        std::string(target->name).c_str(),
        device.kind == DeviceKind::cpu ? "; times are of the CPU device, not of that product" : "");
  return right ? kOk : kWrongAnswer;
}

}  // namespace kiln::tool
