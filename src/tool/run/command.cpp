// SPDX-License-Identifier: MIT
// `kiln run`: a sample kernel from file to checked answer.
#include <algorithm>
#include <cstdio>
#include <limits>

#include "tool/arguments/usage.hpp"
#include "tool/common/output.hpp"
#include "tool/common/session.hpp"
#include "tool/executed/executed.hpp"
#include "tool/kernel/load.hpp"
#include "tool/report/report.hpp"
#include "tool/run/advise.hpp"
#include "tool/run/measure.hpp"
#include "tool/run/print_counters.hpp"
#include "tool/run/sample_pairs.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

struct Report {
  const samples::Sample& sample;
  const OpenDevice& device;
  const Bundle& bundle;
  const samples::Prepared& prepared;
  Outcome outcome;
  std::optional<Counters> counters;  ///< nothing: not asked for
  bool show_counters = false;
  ReportFacts facts{};  ///< with the counters, or for a page
  Json native{};        ///< what a simulated GPU executed; null: not asked for
  std::optional<Advice> advice{};
};

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// What of the file was taken, and why: "member 64.12.60.7 for pvc, made for this device".
std::string choice_text(const Bundle& bundle) {
  std::string text = bundle.member().empty() ? "the file" : "member " + bundle.member();
  if (!bundle.target().empty()) text += " for " + bundle.target();
  switch (bundle.fit()) {
    case BinaryFit::exact:
      return text + ": made for this device";
    case BinaryFit::compatible:
      return text + ": the driver takes it";
    case BinaryFit::spirv:
      if (bundle.target() == "cpu") return "the variant for CPUs, " + bundle.file();
      break;
  }
  return text + ": no native code in it is for this device";
}

Json report_json(const Report& r) {
  Json json{{"kernel", r.sample.name},
            {"device", r.device.properties.name},
            {"binary", to_string(r.bundle.origin())},
            {"file", r.bundle.file()},
            {"member", text_or_null(r.bundle.member())},
            {"target", text_or_null(r.bundle.target())},
            {"fit", to_string(r.bundle.fit())},
            {"build_ms", milliseconds(r.bundle.build_time())},
            {"host_ms", milliseconds(r.outcome.host)}};
  json["device_ms"] = r.outcome.executed ? Json(milliseconds(r.outcome.device)) : Json();
  const Extent &groups = r.prepared.shape.groups, &size = r.prepared.shape.group_size;
  json["groups"] = {groups.x, groups.y, groups.z};
  json["group_size"] = {size.x, size.y, size.z};
  json["slm_argument_bytes"] = r.prepared.slm;
  json["elements"] = r.prepared.elements;
  for (const samples::Predicted& p : r.prepared.predicted) json["predicted"][p.what] = p.value;
  const double seconds = std::max(milliseconds(r.outcome.device) / 1e3, std::numeric_limits<double>::min());
  if (r.outcome.executed) {
    json["gb_per_s"] = r.prepared.bytes / seconds / 1e9;
    if (r.prepared.operations > 0) json["gflop_per_s"] = r.prepared.operations / seconds / 1e9;
    json["ok"] = !r.outcome.mismatch;
  } else {
    json["ok"] = nullptr;  // the kernel was submitted, not executed
  }
  if (r.outcome.mismatch)
    json["first_wrong"] = {{"index", r.outcome.mismatch->index},
                           {"got", r.outcome.mismatch->got},
                           {"wanted", r.outcome.mismatch->wanted}};
  if (!r.native.is_null()) json["native_counters"] = r.native;
  if (!r.counters) return json;
  for (const samples::Predicted& p : r.prepared.predicted)
    if (const auto value = counted(*r.counters, p)) json["counted"][p.what] = *value;
  json["defects"] = defects_json(*r.counters);
  if (!r.show_counters) return json;
  json["counters"] = to_json(*r.counters);
  if (r.advice) json["advice"] = advice_json(*r.advice);
  json["findings"] = Json::array();
  for (const Finding& each : findings_of(json, r.facts))
    json["findings"].push_back(Json::parse(to_json(each.diagnostic)).value());
  return json;
}

void print_text(const Report& r) {
  const Json json = report_json(r);
  say("%s on %s\n", r.sample.name, r.device.properties.name.c_str());
  say("  binary       %s, from %s, %.2f ms\n", to_string(r.bundle.origin()), r.bundle.file().c_str(),
      milliseconds(r.bundle.build_time()));
  if (!r.bundle.member().empty() || !r.bundle.target().empty())
    say("  taken        %s\n", choice_text(r.bundle).c_str());
  say("  launch       %s groups of %s work-items", extent_text(r.prepared.shape.groups).c_str(),
      extent_text(r.prepared.shape.group_size).c_str());
  if (r.prepared.slm) say(", %llu B of SLM arguments", static_cast<unsigned long long>(r.prepared.slm));
  for (const samples::Predicted& p : r.prepared.predicted) {
    say("\n  predicted    %s: %llu", p.what, static_cast<unsigned long long>(p.value));
    if (const auto value = !r.counters ? std::nullopt : counted(*r.counters, p))
      say(", counted %llu", static_cast<unsigned long long>(*value));
  }
  say("\n  host time    %.3f ms\n", milliseconds(r.outcome.host));
  if (!r.outcome.executed) {
    say("  accepted     not executed: a capture device gives no answers\n");
    return;
  }
  say("  device time  %.3f ms\n", milliseconds(r.outcome.device));
  say("  throughput   %.2f GB/s", json["gb_per_s"].get<double>());
  if (json.contains("gflop_per_s")) say(", %.2f GFLOP/s", json["gflop_per_s"].get<double>());
  const auto& wrong = r.outcome.mismatch;
  say("\n  ");
  say_painted(wrong ? Paint::bad : Paint::good, "%-13s", wrong ? "WRONG" : "ok");
  if (wrong)
    say("%s\n", wrong_text(*wrong).c_str());
  else
    say("%llu elements as on the host\n", static_cast<unsigned long long>(r.prepared.elements));
  if (!r.native.is_null()) print_executed(r.native);
  if (r.show_counters) {
    print_counters(*r.counters);
    if (r.advice) print_advice(json["advice"]);
    print_findings(findings_of(json, r.facts), r.facts);
  } else if (r.counters) {
    print_defects(*r.counters);
  }
}

/// Reports an error on stderr, and as JSON on stdout when that was asked for.
int fail(const RunOptions& options, const Error& error) {
  complain("%s", error.text().c_str());
  if (options.json) print({{"kernel", options.kernel}, {"ok", false}, {"error", to_json(error)}});
  return exit_code(error);
}

int list_samples(bool json) {
  Json list = Json::array();
  for (const samples::Sample& sample : samples::all()) {
    list.push_back({{"name", sample.name}, {"summary", sample.summary}});
    if (!json) say("%-32s %s\n", sample.name, sample.summary);
  }
  if (json) print(list);
  return kOk;
}

/// By the file that the module was made from.
std::optional<NamedSource> source_of(
    const std::vector<std::pair<std::string, std::optional<NamedSource>>>& known, const std::string& file) {
  const auto found = std::ranges::find(known, file, [](const auto& each) { return each.first; });
  return found == known.end() ? std::nullopt : found->second;
}

Result<std::vector<KernelFile>> files_of(const samples::Sample& sample, const RunOptions& options) {
  if (options.bundle.empty()) return find_kernel_files(kernel_folder(), sample.family);
  auto file = read_kernel_file(options.bundle);
  if (!file) return tl::unexpected(file.error());
  std::vector<KernelFile> files;
  files.push_back(*std::move(file));
  return files;
}

/// The sample's launches again, on the CPU device with the limits of that product: its totals.
Result<Json> count_on_cpu(const samples::Sample& sample, const RunOptions& options,
                          const std::string& product) {
  KILN_TRY(const auto device, open_chosen("cpu:" + product));
  KILN_TRY(auto files, files_of(sample, options));
  KILN_TRY(auto bundle, Bundle::load(device, std::move(files), counted_build()));
  KILN_TRY(CheckedKernel* const kernel, bundle.kernel(sample.kernel));
  KILN_TRY(const auto prepared,
           sample.prepare(device, {options.size, options.group, options.slm, options.seed.value_or(1)}));
  KILN_TRY(measure(device, prepared, *kernel, options.repeat));
  KILN_TRY(const auto counters, read_counters(device, kernel->kernel()));
  return to_json(counters)["totals"];
}

}  // namespace

int run(const RunOptions& options) {
  if (options.list) return list_samples(options.json);
  if (options.all) return run_all(options);
  const samples::Sample* sample = samples::find(options.kernel);
  if (!sample && is_kernel_file(options.kernel)) return run_file(options);
  if (!sample) return fail(options, samples::unknown_sample(options.kernel));
  RunOptions alone = options;
  alone.sweep = alone.against = {};
  if (alone.has_kernel_options() || (!options.group && !options.group_extent.empty()))
    return fail(options,
                samples::bad_choice("a sample chooses its arguments, groups and build options itself",
                                    "--size, --group, --slm and --seed are for samples; for a kernel file of "
                                    "the same name give ./" +
                                        options.kernel));
  if (!options.sweep.empty() || !options.against.empty()) {
    if (options.check_memory || !options.bundle.empty() || (options.group && !options.sweep.empty()))
      return fail(options,
                  usage_error("--check-memory and --bundle are for one run, and --sweep sets the group",
                              {"leave them out, or run the sample alone"}));
    const auto status =
        options.sweep.empty() ? compare_samples(*sample, options) : sweep_sample(*sample, options);
    return status ? *status : fail(options, status.error());
  }
  const auto device = open_chosen(options.device);
  if (!device) return fail(options, device.error());
  // A report has counters where the device counts; elsewhere it shows the rest and says what is missing.
  const bool native = is_executed_counted(*device, options);
  const bool counts =
      (options.counters && !native) || options.advise || (!options.report.empty() && can_count(*device));
  const bool watched = counts || options.check_memory;
  if (const auto can = can_count(*device); watched && !can) return fail(options, can.error());
  auto files = files_of(*sample, options);
  if (!files) return fail(options, files.error());
  std::vector<std::pair<std::string, std::optional<NamedSource>>> sources;
  for (const KernelFile& file : *files) sources.emplace_back(file.name, named_source(file.bytes));
  const auto settings = cache_options();
  if (!settings) return fail(options, settings.error());
  Cache cache = Cache::open(*settings);
  BundleOptions build = watched ? counted_build() : BundleOptions();
  if (native) build.flags = kReadableCode;
  auto bundle = Bundle::load(*device, *std::move(files), build, &cache);
  if (!bundle) return fail(options, bundle.error());
  const auto kernel = bundle->kernel(sample->kernel);
  if (!kernel) return fail(options, kernel.error());
  const auto prepared =
      sample->prepare(*device, {options.size, options.group, options.slm, options.seed.value_or(1)});
  if (!prepared) return fail(options, prepared.error());
  if (native)
    if (const auto begun = begin_executed(*device); !begun) return fail(options, begun.error());
  auto outcome = measure(*device, *prepared, **kernel, options.repeat);
  if (!outcome) return fail(options, outcome.error());
  Report report{*sample, *device, *bundle, *prepared, *outcome, std::nullopt, counts};
  if (watched) {
    auto counters = read_counters(*device, (*kernel)->kernel());
    if (!counters) return fail(options, counters.error());
    report.counters = *std::move(counters);
  }
  if (native) {
    auto executed = read_executed(*device, *bundle, sample->kernel);
    if (!executed) return fail(options, executed.error());
    report.native = executed_json(
        *executed, count_on_cpu(*sample, options, simulated_product(*executed)).value_or(Json()));
  }
  if (options.advise) {
    auto advice = outcome->mismatch || !report.counters->defects.empty()
                      ? Result<Advice>(no_advice())
                      : advise_sample(*device, options, *sample, *prepared);
    if (!advice) return fail(options, advice.error());
    report.advice = *std::move(advice);
  }
  if (counts || !options.report.empty())
    report.facts = report_facts(*device, **kernel, *sample, *prepared, bundle->file(),
                                source_of(sources, bundle->file()), report.counters);
  if (native) report.facts.executed = executed_section(report.native);
  if (!options.report.empty())
    if (const auto written = write_report(options.report, report_page(report_json(report), report.facts));
        !written)
      return fail(options, written.error());
  if (options.json)
    print(report_json(report));
  else
    print_text(report);
  if (!options.report.empty() && !options.json) say("  report       %s\n", options.report.c_str());
  return outcome->mismatch || (watched && !report.counters->defects.empty()) ? kWrongAnswer : kOk;
}

}  // namespace kiln::tool
