// SPDX-License-Identifier: MIT
// `kiln run FILE`: a kernel of the user's, from file to what it wrote.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "build/front_end.hpp"
#include "offline/ocloc.hpp"
#include "support/whole_file.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/common/output.hpp"
#include "tool/executed/executed.hpp"
#include "tool/kernel/case_file.hpp"
#include "tool/kernel/npy.hpp"
#include "tool/report/report.hpp"
#include "tool/run/advise.hpp"
#include "tool/run/fault.hpp"
#include "tool/run/file_command.hpp"
#include "tool/run/print_counters.hpp"
#include "tool/samples/counters.hpp"

namespace kiln::tool {
namespace {

/// All that is said of a run.
struct FileReport {
  const FileRun& run;
  const OpenDevice& device;
  Outcome outcome;
  std::vector<BufferResult> results;
  std::optional<Error> overrun;
  Tolerance tolerance;
  std::optional<Counters> counters{};  ///< nothing: not asked for
  bool show_counters = false;
  ReportFacts facts{};
  Json native{};  ///< what a simulated GPU executed; null: not asked for
  std::optional<Advice> advice{};

  [[nodiscard]] bool is_compared() const {
    return std::ranges::any_of(results, [](const BufferResult& each) { return each.expected.has_value(); });
  }
};

Json argument_json(const Bound& bound, const KernelParameter& parameter) {
  Json json{{"name", bound.label}, {"type", shown_type(parameter)}};
  switch (bound.kind) {
    case ArgumentKind::local_pointer:
      json["local_bytes"] = bound.local_bytes;
      break;
    case ArgumentKind::global_pointer:
      if (bound.is_null) {
        json["null"] = true;
        break;
      }
      json["bytes"] = bound.data.bytes.size();
      json["access"] = to_string(bound.access);
      break;
    default:
      if (!parameter.element && bound.data.numbers() > 1 && size_of(bound.data.type.scalar) == 1) {
        json["bytes"] = bound.data.bytes.size();  // of a struct
        break;
      }
      json["value"] = number_text(bound.data, 0);
      for (std::uint64_t i = 1; i < bound.data.type.lanes; ++i)
        json["value"] = json["value"].get<std::string>() + "," + number_text(bound.data, i);
      break;
  }
  return json;
}

Json differences_json(const FileReport& report) {
  Json list = Json::array();
  for (const BufferResult& each : report.results) {
    if (!each.expected) continue;
    const Difference difference = compare_arrays(each.data, *each.expected, report.tolerance);
    if (difference.count == 0) continue;
    Json json{{"name", each.label},
              {"count", difference.count},
              {"of", each.data.meant_numbers()},
              {"index", difference.first}};
    json["got"] = difference.got;
    json["wanted"] = difference.wanted;
    json["largest"] = difference.largest <= 1e300 ? Json(difference.largest) : Json();
    list.push_back(std::move(json));
  }
  return list;
}

Json file_json(const FileReport& r) {
  const Bundle& bundle = r.run.bundle();
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json json{{"kernel", r.run.code().facts.name},
            {"device", r.device.properties.name},
            {"binary", to_string(bundle.origin())},
            {"file", r.run.code().path},
            {"member", or_null(bundle.member())},
            {"target", or_null(bundle.target())},
            {"build_ms", milliseconds(bundle.build_time())},
            {"host_ms", milliseconds(r.outcome.host)}};
  json["device_ms"] = r.outcome.executed ? Json(milliseconds(r.outcome.device)) : Json();
  json["executed"] = r.outcome.executed;
  const Extent &groups = r.run.shape().groups, &size = r.run.shape().group_size;
  json["groups"] = {groups.x, groups.y, groups.z};
  json["group_size"] = {size.x, size.y, size.z};
  json["slm_argument_bytes"] = r.run.slm_arguments();
  json["arguments"] = Json::array();
  for (std::size_t i = 0; i < r.run.arguments().size(); ++i)
    json["arguments"].push_back(argument_json(r.run.arguments()[i], r.run.code().signature.parameters[i]));
  json["outputs"] = Json::array();
  std::uint64_t compared = 0;
  for (const BufferResult& each : r.results) {
    if (each.expected) compared += each.data.meant_numbers();
    if (!each.is_output && each.save.empty()) continue;
    Json output = summary_json(each.data);
    output["name"] = each.label;
    output["saved"] = or_null(each.save);
    json["outputs"].push_back(std::move(output));
  }
  json["elements"] = compared;
  json["differences"] = differences_json(r);
  json["ok"] = Json();
  if (r.outcome.executed && r.is_compared()) json["ok"] = json["differences"].empty();
  if (r.overrun) {
    json["ok"] = false;
    json["error"] = to_json(*r.overrun);
  }
  if (!r.native.is_null()) json["native_counters"] = r.native;
  if (!r.counters) return json;
  json["defects"] = defects_json(*r.counters);
  if (!json["defects"].empty()) json["ok"] = false;
  if (!r.show_counters) return json;
  json["counters"] = to_json(*r.counters);
  if (r.advice) json["advice"] = advice_json(*r.advice);
  json["findings"] = Json::array();
  for (const Finding& each : findings_of(json, r.facts))
    json["findings"].push_back(Json::parse(to_json(each.diagnostic)).value());
  return json;
}

void print_file_text(const FileReport& r, const Json& json) {
  const Bundle& bundle = r.run.bundle();
  say("%s on %s\n", r.run.code().facts.name.c_str(), r.device.properties.name.c_str());
  say("  binary       %s, from %s, %.2f ms\n", to_string(bundle.origin()), r.run.code().path.c_str(),
      milliseconds(bundle.build_time()));
  say("  launch       %s groups of %s work-items", extent_text(r.run.shape().groups).c_str(),
      extent_text(r.run.shape().group_size).c_str());
  if (const auto slm = r.run.slm_arguments())
    say(", %llu B of SLM arguments", static_cast<unsigned long long>(slm));
  say("\n  host time    %.3f ms\n", milliseconds(r.outcome.host));
  if (!r.outcome.executed) {
    say("  accepted     not executed: a capture device gives no answers\n");
    return;
  }
  say("  device time  %.3f ms\n", milliseconds(r.outcome.device));
  for (const BufferResult& each : r.results) {
    if (each.is_output || !each.save.empty())
      say("  %-12s %s\n", each.label.c_str(), summary_text(each.data).c_str());
    if (!each.save.empty()) say("  saved        %s\n", each.save.c_str());
  }
  if (r.is_compared()) {
    const bool right = json["differences"].empty();
    say("  ");
    say_painted(right ? Paint::good : Paint::bad, "%-13s", right ? "ok" : "WRONG");
    say("%llu numbers %s\n", static_cast<unsigned long long>(json["elements"].get<std::uint64_t>()),
        right ? "as expected" : "compared");
  }
  if (!r.native.is_null()) print_executed(r.native);
  if (r.show_counters) {
    print_counters(*r.counters);
    if (r.advice) print_advice(json["advice"]);
    print_findings(findings_of(json, r.facts), r.facts);
    return;
  }
  if (r.counters) print_defects(*r.counters);
  for (const Json& each : json["differences"]) say("%s", to_text(difference_diagnostic(each)).c_str());
}

Result<void> save_results(const FileReport& report) {
  for (const BufferResult& each : report.results) {
    if (each.save.empty()) continue;
    detail::WholeFile file(each.save);
    file.write(write_npy(each.data));
    if (const int failed = file.finish())
      return tl::unexpected(unwritable_data(each.label, each.save, std::strerror(failed)));
  }
  return {};
}

ReportFacts facts_of(const FileReport& report, const samples::Prepared& prepared, const std::string& flags) {
  const KernelCode& code = report.run.code();
  const std::filesystem::path path(code.path);
  const std::string name = path.filename().string(), family = name.substr(0, name.find('.'));
  const std::string summary = "a kernel of " + name;
  const samples::Sample as_sample{code.facts.name.c_str(), family.c_str(), code.facts.name.c_str(),
                                  summary.c_str(), nullptr};
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  ReportFacts facts = report_facts(report.device, report.run.kernel(), as_sample, prepared, name,
                                   named_source(code.spirv), report.counters, folder,
                                   [&](const Target& target) { return native_code_of(code, flags, target); });
  if (!code.source.empty()) show_source(name, code.source, facts);
  return facts;
}

/// The launches again, on the CPU device with the limits of that product: its totals.
Result<Json> count_on_cpu(const FileRequest& request, std::uint32_t repeat, const std::string& product) {
  KILN_TRY(const auto device, open_chosen("cpu:" + product));
  KILN_TRY(const auto run, FileRun::create(device, request, true));
  const samples::Prepared prepared = run->prepare(run->shape());
  KILN_TRY(measure(device, prepared, run->kernel(), repeat));
  KILN_TRY(const auto counters, read_counters(device, run->kernel().kernel()));
  return to_json(counters)["totals"];
}

Result<int> run_kernel_file(RunOptions options) {
  if (is_case_file(options.kernel)) {
    KILN_TRY(options, read_case(options));
  }
  KILN_TRY(const auto request, parse_file_request(options));
  const bool several = !options.sweep.empty() || !options.against.empty();
  if (several && (options.check_memory || !request.saves.empty()))
    return tl::unexpected(usage_error(
        "--check-memory, --save and out:…:FILE.npy are for one run, not for --sweep and --against",
        {"run the kernel alone"}));
  if (!options.against.empty() && (options.counters || !options.expects.empty()))
    return tl::unexpected(
        usage_error("--against compares two runs: --counters and --expect are for one", {"leave them out"}));
  const std::string early = detail::split_options(request.flags).front_end;
  if (!early.empty() && !request.name.file.ends_with(".cl"))
    complain("kiln: warning: `%s` has no effect: `%s` is compiled already\n", early.c_str(),
             request.name.file.c_str());
  if (!options.sweep.empty()) return run_sweep(options, request);
  if (!options.against.empty()) return run_against(options, request);
  KILN_TRY(const auto device, open_chosen(options.device));
  const bool native = is_executed_counted(device, options);
  const bool counts =
      (options.counters && !native) || options.advise || (!options.report.empty() && can_count(device));
  const bool watched = counts || options.check_memory;
  if (watched) {
    KILN_TRY(can_count(device));
  }
  FileRequest counted = request;
  if (native) counted.build_flags = kReadableCode;
  KILN_TRY(const auto run, FileRun::create(device, counted, watched));
  const samples::Prepared prepared = run->prepare(run->shape());
  const FaultGuard guard(device, run->code().facts.name, options.json);
  if (native) {
    KILN_TRY(begin_executed(device));
  }
  KILN_TRY(auto outcome, measure(device, prepared, run->kernel(), options.repeat));
  FileReport report{*run, device, outcome, run->results(), run->overrun(), request.tolerance};
  report.show_counters = counts;
  if (watched) {
    KILN_TRY(report.counters, read_counters(device, run->kernel().kernel()));
  }
  if (native) {
    KILN_TRY(const auto executed, read_executed(device, run->bundle(), run->code().facts.name));
    report.native = executed_json(
        executed, count_on_cpu(request, options.repeat, simulated_product(executed)).value_or(Json()));
  }
  if (outcome.executed) {
    KILN_TRY(save_results(report));
  }
  if (options.advise) {
    const bool is_right =
        !report.overrun && report.counters->defects.empty() && differences_json(report).empty();
    report.advice = no_advice();
    if (is_right) {
      KILN_TRY(report.advice, advise_file(device, options, request, *run));
    }
  }
  if (counts || !options.report.empty()) report.facts = facts_of(report, prepared, request.flags);
  if (native) report.facts.executed = executed_section(report.native);
  const Json json = file_json(report);
  if (!options.report.empty()) {
    KILN_TRY(write_report(options.report, report_page(json, report.facts)));
  }
  if (options.json)
    print(json);
  else
    print_file_text(report, json);
  if (!options.report.empty() && !options.json) say("  report       %s\n", options.report.c_str());
  if (report.overrun) complain("%s", report.overrun->text().c_str());
  return json["ok"].is_null() || json["ok"].get<bool>() ? kOk : kWrongAnswer;
}

}  // namespace

std::optional<KernelFacts> native_code_of(const KernelCode& code, const std::string& flags,
                                          const Target& target) {
  if (code.spirv.empty()) return std::nullopt;
  const auto made = offline::compile_native_checked(
      {code.path, code.spirv, offline::SourceLanguage::spirv, std::string(target.name), flags},
      std::chrono::minutes(2));
  const auto facts = made ? read_zebin(made->bytes) : tl::unexpected(BinaryError());
  const KernelFacts* kernel = facts ? facts->find(code.facts.name) : nullptr;
  return kernel ? std::optional(*kernel) : std::nullopt;
}

int run_file(const RunOptions& options) {
  const auto status = [&] {
    try {
      return run_kernel_file(options);
    } catch (const std::bad_alloc&) {  // told on stderr where the command ends
      if (options.json)
        print({{"kernel", options.kernel},
               {"ok", false},
               {"error", {{"code", "K0412"}, {"message", "there is not enough memory for this"}}}});
      throw;
    }
  }();
  if (status) return *status;
  complain("%s", status.error().text().c_str());
  if (options.json) print({{"kernel", options.kernel}, {"ok", false}, {"error", to_json(status.error())}});
  return exit_code(status.error());
}

}  // namespace kiln::tool
