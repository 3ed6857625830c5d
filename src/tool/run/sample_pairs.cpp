// SPDX-License-Identifier: MIT
// `kiln run SAMPLE --sweep group=16..1024` and `kiln run SAMPLE --against SAMPLE`.
#include "tool/run/sample_pairs.hpp"

#include <algorithm>
#include <cstring>

#include "support/digits.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/common/output.hpp"
#include "tool/common/table.hpp"
#include "tool/report/report.hpp"
#include "tool/run/sweep_table.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

/// A sample with its kernel.
struct LoadedSample {
  const samples::Sample& sample;
  Bundle bundle;
  const CheckedKernel* kernel;
};

Result<LoadedSample> load_sample(const OpenDevice& device, const samples::Sample& sample, bool counts) {
  KILN_TRY(auto files, find_kernel_files(kernel_folder(), sample.family));
  KILN_TRY(const auto settings, cache_options());
  Cache cache = Cache::open(settings);
  KILN_TRY(auto bundle,
           Bundle::load(device, std::move(files), counts ? counted_build() : BundleOptions(), &cache));
  KILN_TRY(const auto kernel, bundle.kernel(sample.kernel));
  return LoadedSample{sample, std::move(bundle), kernel};
}

/// One of two samples that are compared.
struct Side {
  const samples::Sample* sample = nullptr;
  samples::Choices choices;
  samples::Prepared prepared{};
  Outcome outcome{};
  std::optional<Counters> counters{};
};

/// Times without counters, since counting slows one more than the other.
Result<void> run_side(const OpenDevice& device, Side& side, const RunOptions& options) {
  KILN_TRY(side.prepared, side.sample->prepare(device, side.choices));
  KILN_TRY(const auto loaded, load_sample(device, *side.sample, false));
  KILN_TRY(side.outcome, measure(device, side.prepared, *loaded.kernel, options.repeat));
  if (!options.counters) return {};
  KILN_TRY(const auto counted, load_sample(device, *side.sample, true));
  KILN_TRY(const auto again, measure(device, side.prepared, *counted.kernel, 1));
  if (!side.outcome.mismatch) side.outcome.mismatch = again.mismatch;
  KILN_TRY(side.counters, read_counters(device, counted.kernel->kernel()));
  return {};
}

/// What `--against` names, for the same input.
Result<Side> other_side(const Side& here, const RunOptions& options) {
  Side there{here.sample, here.choices};
  if (options.against.starts_with("group=")) {
    const auto size = detail::parse_digits(options.against.substr(6));
    if (!size)
      return tl::unexpected(
          samples::bad_choice("--against " + options.against + " is no size of a group", "give group=64"));
    there.choices.group = *size;
    return there;
  }
  there.sample = samples::find(options.against);
  if (!there.sample) return tl::unexpected(samples::unknown_sample(options.against));
  return there;
}

/// Accesses by memory and kind, lines, turns and barriers; those that either has.
struct CountedRow {
  std::string what;
  std::uint64_t here = 0, there = 0;
};

std::vector<CountedRow> counted_rows(const Counters& here, const Counters& there) {
  std::vector<CountedRow> rows;
  const auto add = [&](const std::string& what, std::uint64_t CountedRow::*side, std::uint64_t count) {
    if (count == 0) return;
    auto row = std::ranges::find(rows, what, &CountedRow::what);
    if (row == rows.end()) row = rows.insert(row, {what});
    (*row).*side += count;
  };
  const auto add_all = [&](const Counters& counters, std::uint64_t CountedRow::*side) {
    for (const MemoryTotal& each : counters.totals) {
      const std::string memory =
          each.memory == MemorySpace::slm ? "SLM" : std::string(to_string(each.memory));
      const std::string what = memory + " " + std::string(to_string(each.kind)) + "s";
      add(what, side, each.accesses);
      add(what + ": cache lines", side, each.lines);
      add(what + ": turns", side, each.turns);
    }
    add("arrivals at barriers", side, counters.barriers);
  };
  add_all(here, &CountedRow::here);
  add_all(there, &CountedRow::there);
  return rows;
}

Json side_json(const Side& side) {
  const auto &groups = side.prepared.shape.groups, &size = side.prepared.shape.group_size;
  Json json{{"kernel", side.sample->name}, {"host_ms", milliseconds(side.outcome.host)}};
  json["device_ms"] = side.outcome.executed ? Json(milliseconds(side.outcome.device)) : Json();
  json["groups"] = {groups.x, groups.y, groups.z};
  json["group_size"] = {size.x, size.y, size.z};
  json["elements"] = side.prepared.elements;
  json["ok"] = side.outcome.executed ? Json(!side.outcome.mismatch) : Json();
  if (side.counters) json["counters"] = to_json(*side.counters);
  return json;
}

void print_sides(const OpenDevice& device, const Side& here, const Side& there, bool agree) {
  say("on %s\n", device.properties.name.c_str());
  std::vector<std::vector<std::string>> table{
      {"SAMPLE", "ANSWER", "DEVICE ms", "HOST ms", "GROUPS", "GROUP"}};
  for (const Side* side : {&here, &there}) {
    const auto count = [](const Extent& each) {
      return std::to_string(std::uint64_t{each.x} * each.y * each.z);
    };
    table.push_back({side->sample->name,
                     !side->outcome.executed  ? "accepted"
                     : side->outcome.mismatch ? "WRONG"
                                              : "ok",
                     side->outcome.executed ? milliseconds_text(side->outcome.device) : "-",
                     milliseconds_text(side->outcome.host), count(side->prepared.shape.groups),
                     count(side->prepared.shape.group_size)});
  }
  print_table(std::move(table), 2, 0, [](std::size_t column, std::string_view cell) {
    return column != 1 ? Paint::none : cell == "WRONG" ? Paint::bad : Paint::good;
  });
  if (!here.outcome.executed) return say("answers were not compared: a capture device gives none\n");
  const Side &fast = here.outcome.device <= there.outcome.device ? here : there,
             &slow = &fast == &here ? there : here;
  if (fast.outcome.device.count() > 0)
    say("the %s is %.2f times as fast on this device\n", &fast == &here ? "first" : "second",
        static_cast<double>(slow.outcome.device.count()) / static_cast<double>(fast.outcome.device.count()));
  say("answers: %s\n", agree ? "the same" : "not the same; each is compared with its own host reference");
  if (!here.counters || !there.counters) return;
  std::vector<std::vector<std::string>> counted{{"COUNTED", "FIRST", "SECOND"}};
  for (const CountedRow& row : counted_rows(*here.counters, *there.counters))
    counted.push_back({row.what, std::to_string(row.here), std::to_string(row.there)});
  say("\n");
  print_table(std::move(counted), 1);
}

bool same_answers(const samples::Prepared& here, const samples::Prepared& there) {
  return here.answer.size() == there.answer.size() && !here.answer.empty() &&
         std::memcmp(here.answer.data(), there.answer.data(), here.answer.size()) == 0;
}

Result<int> compare_on(const OpenDevice& device, Side here, Side there, const RunOptions& options) {
  if (options.counters) {
    KILN_TRY(can_count(device));
  }
  KILN_TRY(run_side(device, here, options));
  KILN_TRY(run_side(device, there, options));
  const bool executed = here.outcome.executed;
  const bool right = !here.outcome.mismatch && !there.outcome.mismatch;
  const bool agree = executed && same_answers(here.prepared, there.prepared);
  const Json json{{"device", device.properties.name},
                  {"this", side_json(here)},
                  {"other", side_json(there)},
                  {"against", options.against},
                  {"same_answer", executed ? Json(agree) : Json()},
                  {"ok", executed ? Json(right) : Json()}};
  if (!options.report.empty()) {
    KILN_TRY(write_report(options.report, against_page(json, device.kind == DeviceKind::cpu)));
  }
  if (options.json)
    print(json);
  else
    print_sides(device, here, there, agree);
  if (!options.report.empty() && !options.json) say("  report       %s\n", options.report.c_str());
  if (!right)
    for (const Side* side : {&here, &there})
      if (side->outcome.mismatch)
        complain("%s: %s\n", side->sample->name, wrong_text(*side->outcome.mismatch).c_str());
  return right ? kOk : kWrongAnswer;
}

}  // namespace

Result<int> sweep_sample(const samples::Sample& sample, const RunOptions& options) {
  KILN_TRY(const auto sizes, parse_sweep(options.sweep));
  KILN_TRY(const auto device, open_chosen(options.device));
  if (options.counters) {
    KILN_TRY(can_count(device));
  }
  KILN_TRY(const auto loaded, load_sample(device, sample, options.counters));
  Sweep all{sample.name, device};
  all.verified = true;
  all.counted = options.counters;
  std::optional<Error> first;
  for (const std::uint32_t size : sizes) {
    SweptSize& swept = all.sizes.emplace_back(SweptSize{size});
    const auto prepared = sample.prepare(device, {options.size, size, options.slm, options.seed.value_or(1)});
    const auto outcome = prepared ? measure(device, *prepared, *loaded.kernel, options.repeat)
                                  : Result<Outcome>(tl::unexpected(prepared.error()));
    if (!outcome) {
      if (!is_refusal(outcome.error())) return tl::unexpected(outcome.error());
      swept.refused = outcome.error().diagnostic()->code;
      if (!first) first = outcome.error();
      continue;
    }
    swept.groups = prepared->shape.groups;
    swept.outcome = *outcome;
    if (outcome->executed) swept.right = !outcome->mismatch;
    std::optional<Counters> counters;
    if (options.counters) {
      KILN_TRY(counters, read_counters(device, loaded.kernel->kernel()));
      swept.barriers = counters->barriers / std::max<std::uint64_t>(counters->launches, 1);
    }
    const ReportFacts facts =
        report_facts(device, *loaded.kernel, sample, *prepared, loaded.bundle.file(), std::nullopt, counters);
    if (!facts.core) continue;
    swept.occupancy = facts.core->occupancy;
    all.occupancy_of = facts.core->product;
    all.occupancy_basis = facts.core->basis;
  }
  if (first && all.none_ran()) return tl::unexpected(*std::move(first));
  return report_sweep(all, options);
}

Result<int> compare_samples(const samples::Sample& sample, const RunOptions& options) {
  Side here{&sample, {options.size, options.group, options.slm, options.seed.value_or(1)}};
  KILN_TRY(auto there, other_side(here, options));
  KILN_TRY(const auto device, open_chosen(options.device));  // and what is run ends before it does
  return compare_on(device, std::move(here), std::move(there), options);
}

}  // namespace kiln::tool
