// SPDX-License-Identifier: MIT
// `kiln analyze`: what kernels cost in native code, what changed between two, and whether they keep a budget.
#include "tool/analyze/command.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "offline/targets.hpp"
#include "support/whole_file.hpp"
#include "tool/analyze/executed_counts.hpp"
#include "tool/analyze/native_page.hpp"
#include "tool/analyze/print.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/common/output.hpp"
#include "tool/kernel/load.hpp"
#include "tool/report/report.hpp"

namespace kiln::tool {
namespace {

constexpr std::uintmax_t kLargestFile = 64 << 20;  // bytes

Error refused(Diagnostic diagnostic) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln", std::move(diagnostic));
}

/// What is analyzed, each with its options. Two of them are compared.
struct Side {
  std::string file, flags;
  std::string kernel;  // that one alone; empty: all
};

/// FILE or FILE:KERNEL, as for `kiln run`; --kernel is of all files.
Result<Side> side_of(const std::string& text, const AnalyzeOptions& options) {
  const KernelName name = parse_kernel_name(text);
  if (!name.kernel.empty() && !options.kernel.empty() && name.kernel != options.kernel)
    return tl::unexpected(
        usage_error("`" + text + "` names a kernel, and --kernel " + options.kernel + " another",
                    {"leave out one of them"}));
  return Side{name.file, "", name.kernel.empty() ? options.kernel : name.kernel};
}

Result<std::vector<Side>> sides_of(const AnalyzeOptions& options) {
  std::vector<Side> sides;
  const std::vector<std::string> none{""};
  if (options.flags.size() > 2 || (options.flags.size() == 2 && options.files.size() != 1))
    return tl::unexpected(usage_error("--options more than once compares two sets of them, for one file",
                                      {"give one file and --options twice"}));
  if (options.flags.size() == 2 && (!options.budget.empty() || !options.write_budget.empty()))
    return tl::unexpected(usage_error("a budget is of one set of --options, and two are compared",
                                      {"leave out one of them, or the budget"}));
  for (const std::string& text : options.files) {
    KILN_TRY(Side side, side_of(text, options));
    for (const std::string& flags : options.flags.empty() ? none : options.flags) {
      side.flags = flags;
      sides.push_back(side);
    }
  }
  return sides;
}

/// A file with a JSON object. `diagnosed` says why it is none.
Result<Json> read_object(const std::string& path, auto diagnosed) {
  const auto wrong = [&](const char* reason) { return tl::unexpected(refused(diagnosed(path, reason))); };
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);  // which devices and pipes have not
  if (error) return wrong("it cannot be read");
  if (size > kLargestFile) return wrong("it is too large");
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream && text.empty()) return wrong("it cannot be read");
  auto json = Json::parse(text);
  if (!json || !json->is_object()) return wrong("it is no JSON object");
  return *std::move(json);
}

/// OpenCL C among the files: native code has places in it. Names inside native code are not followed.
std::map<std::string, std::string> sources_of(const std::vector<Side>& sides) {
  std::map<std::string, std::string> sources;
  for (const Side& each : sides)
    if (const auto file = each.file.ends_with(".cl") ? read_kernel_file(each.file) : Result<KernelFile>();
        file)
      sources[each.file].assign(reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size());
  return sources;
}

}  // namespace

int analyze(const AnalyzeOptions& options) {
  int code = kOk;
  Json errors = Json::array(), result = Json::object();
  std::vector<Diagnostic> problems;
  const auto report = [&](const Error& error) {
    errors.push_back(to_json(error));
    if (error.diagnostic()) problems.push_back(*error.diagnostic());
    std::fflush(stdout);
    complain("%s", error.text().c_str());
    if (code == kOk) code = exit_code(error);
  };
  const auto finish = [&] {
    if (options.json) {
      result["errors"] = errors;
      print(result);
    }
    return code;
  };
  CheckOptions launch;
  launch.group = options.group;
  launch.locals = options.locals;
  const auto request = parse_check_request(launch);
  const auto targets = offline::parse_targets(options.targets);
  const auto sides = sides_of(options);
  if (!request) report(request.error());
  if (!targets) report(targets.error());
  if (!sides) report(sides.error());
  if (code != kOk) return finish();
  std::optional<Json> budget;
  if (!options.budget.empty()) {
    auto read = read_object(options.budget, unusable_budget);
    if (!read) {
      report(read.error());
      return finish();
    }
    budget = *std::move(read);
  }
  std::optional<Json> run;
  if (!options.executed.empty()) {
    auto read = read_object(options.executed, [](const std::string& path, const char* reason) {
      return unusable_counts(path, reason);
    });
    if (read && sides->size() != 1)
      read = tl::unexpected(
          usage_error("--executed is of one file and one set of --options, and several are given",
                      {"give the file that ran, alone"}));
    if (!read) {
      report(read.error());
      return finish();
    }
    run = *std::move(read);
  }

  const InterruptGuard guard;  // goes last: then every child is gone, and every folder
  AnalyzeRequest wanted{*targets, *request, "", options.disassemble || !options.report.empty() || run,
                        std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout * 1000))};
  // A budget is of all kernels of all files.
  const bool compares = sides->size() == 2 && !options.disassemble && !budget && options.write_budget.empty();
  std::vector<AnalyzedKernel> all;
  std::size_t first = 0;  // kernels of the first side
  std::optional<Comparison> comparison;
  for (const Side& side : *sides) {
    wanted.kernel = side.kernel;
    Analysis analysis = analyze_file(side.file, side.flags, wanted);
    for (const Error& error : analysis.errors) report(error);
    if (&side == &sides->front()) first = analysis.kernels.size();
    std::ranges::move(analysis.kernels, std::back_inserter(all));
  }
  if (InterruptGuard::interrupted()) return kDriverError;
  if (run && !all.empty())
    if (const auto added = add_executed(*run, options.executed, all); !added) report(added.error());
  result["kernels"] = Json::array();
  for (const AnalyzedKernel& each : all) {
    if (options.json)
      result["kernels"].push_back(to_json(each, options.disassemble));
    else if (!compares)
      print_kernel(each, options.disassemble);
  }
  if (compares && first != 0 && first != all.size()) {
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(first);
    const bool named = !sides->front().kernel.empty() && !sides->back().kernel.empty();
    comparison = compare({all.begin(), end}, {end, all.end()}, named ? Names::any : Names::same);
    if (!options.json) print_comparison(*comparison);
    result["changes"] = Json::array();
    for (const Change& each : comparison->changes) result["changes"].push_back(to_json(each));
    result["unmatched"] = comparison->unmatched;
    result["matched"] = comparison->matched;
  }
  if (budget) {
    const auto verdict = hold_against(*budget, all);
    if (!verdict)
      report(refused(unusable_budget(options.budget, verdict.error())));
    else if (!verdict->kept())
      report(refused(over_budget(options.budget, *verdict)));
  }
  if (!options.write_budget.empty() && code == kOk) {
    if (const auto written = budget_of(all); !written)
      report(refused(ambiguous_budget(options.write_budget, written.error())));
    else {
      detail::WholeFile file(options.write_budget);
      file.write(written->dump_lines() + "\n");
      if (const int error = file.finish(); error != 0)
        report(refused(unwritable_budget(options.write_budget, std::strerror(error))));
    }
  }
  if (!options.report.empty() && !all.empty()) {
    const NativePage page{all, comparison ? &*comparison : nullptr, problems, sources_of(*sides)};
    if (const auto written = write_report(options.report, native_page(page)); !written)
      report(written.error());
    else if (!options.json)
      say("report: %s\n", options.report.c_str());
  }
  return finish();
}

}  // namespace kiln::tool
