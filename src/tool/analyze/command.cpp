// SPDX-License-Identifier: MIT
// `kiln analyze`: what kernels cost in native code, what changed between two, and whether they keep a budget.
#include "tool/analyze/command.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "offline/targets.hpp"
#include "support/whole_file.hpp"
#include "tool/analyze/print.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/common/output.hpp"

namespace kiln::tool {
namespace {

constexpr std::uintmax_t kLargestBudget = 64 << 20;  // bytes

Error refused(Diagnostic diagnostic) {
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln", std::move(diagnostic));
}

/// What is analyzed, each with its options. Two of them are compared.
struct Side {
  std::string file, flags;
};

Result<std::vector<Side>> sides_of(const AnalyzeOptions& options) {
  std::vector<Side> sides;
  const std::vector<std::string> none{""};
  if (options.flags.size() > 2 || (options.flags.size() == 2 && options.files.size() != 1))
    return tl::unexpected(usage_error("--options more than once compares two sets of them, for one file",
                                      {"give one file and --options twice"}));
  for (const std::string& file : options.files)
    for (const std::string& flags : options.flags.empty() ? none : options.flags)
      sides.push_back({file, flags});
  return sides;
}

Result<Json> read_budget(const std::string& path) {
  const auto wrong = [&](const char* reason) {
    return tl::unexpected(refused(unusable_budget(path, reason)));
  };
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);  // which devices and pipes have not
  if (error) return wrong("it cannot be read");
  if (size > kLargestBudget) return wrong("it is too large");
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream && text.empty()) return wrong("it cannot be read");
  auto json = Json::parse(text);
  if (!json || !json->is_object()) return wrong("it is no JSON object");
  return *std::move(json);
}

}  // namespace

int analyze(const AnalyzeOptions& options) {
  int code = kOk;
  Json errors = Json::array(), result = Json::object();
  const auto report = [&](const Error& error) {
    errors.push_back(to_json(error));
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
    auto read = read_budget(options.budget);
    if (!read) {
      report(read.error());
      return finish();
    }
    budget = *std::move(read);
  }

  const InterruptGuard guard;  // goes last: then every child is gone, and every folder
  const AnalyzeRequest wanted{*targets, *request, options.kernel,
                              std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout * 1000))};
  std::vector<std::vector<AnalyzedKernel>> analyzed;
  std::vector<AnalyzedKernel> all;
  for (const Side& side : *sides) {
    Analysis analysis = analyze_file(side.file, side.flags, wanted);
    for (const Error& error : analysis.errors) report(error);
    all.insert(all.end(), analysis.kernels.begin(), analysis.kernels.end());
    analyzed.push_back(std::move(analysis.kernels));
  }
  if (InterruptGuard::interrupted()) return kDriverError;
  const bool compares = analyzed.size() == 2 && !options.disassemble;
  result["kernels"] = Json::array();
  for (const AnalyzedKernel& each : all) {
    if (options.json)
      result["kernels"].push_back(to_json(each, options.disassemble));
    else if (!compares)
      print_kernel(each, options.disassemble);
  }
  if (compares && !analyzed[0].empty() && !analyzed[1].empty()) {
    std::vector<std::string> unmatched;
    const auto found = changes(analyzed[0], analyzed[1], unmatched);
    if (!options.json) print_changes(found, unmatched);
    result["changes"] = Json::array();
    for (const Change& each : found) result["changes"].push_back(to_json(each));
    result["unmatched"] = unmatched;
  }
  if (budget) {
    const auto verdict = hold_against(*budget, analyzed.back());  // of two, the one that is now
    if (!verdict)
      report(refused(unusable_budget(options.budget, "it is no budget of `kiln analyze`")));
    else if (!verdict->worse.empty() || !verdict->missing.empty())
      report(refused(over_budget(options.budget, *verdict)));
  }
  if (!options.write_budget.empty() && code == kOk) {
    detail::WholeFile file(options.write_budget);
    file.write(budget_of(analyzed.back()).dump_lines() + "\n");
    if (const int error = file.finish(); error != 0)
      report(refused(unwritable_budget(options.write_budget, std::strerror(error))));
  }
  return finish();
}

}  // namespace kiln::tool
