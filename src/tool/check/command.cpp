// SPDX-License-Identifier: MIT
// `kiln check`: does each kernel of these files fit each target? A matrix, and a reason for each no.
#include <algorithm>

#include "offline/targets.hpp"
#include "tool/check/driver.hpp"
#include "tool/check/matrix.hpp"
#include "tool/check/parts.hpp"
#include "tool/common/output.hpp"
#include "tool/kernel/load.hpp"

namespace kiln::tool {
namespace {

/// How the kernels of these files are called, each once. OpenCL C is asked for its SPIR-V: native code does
/// not say types.
Json calls_of(const PartSet& set, const std::string& flags, std::chrono::milliseconds time_limit) {
  Json calls = Json::array();
  std::vector<std::string> known;
  const auto add = [&](const std::string& file, std::span<const std::byte> code) {
    for (const Signature& each : signatures_of(code)) {
      const std::string line = call_line(file, each);
      if (!each.known || std::ranges::find(known, each.kernel) != known.end()) continue;
      known.push_back(each.kernel);
      calls.push_back({{"kernel", each.kernel}, {"signature", shown_signature(each)}, {"run", line}});
    }
  };
  for (const OpenClSource& each : set.sources) {
    const auto spirv = offline::compile_spirv(
        {each.file, each.code, offline::SourceLanguage::opencl_c, "tgllp", flags}, time_limit);
    if (spirv) add(each.file, spirv->bytes);
  }
  for (const Part& each : set.parts)
    if (!each.compiled_for) add(each.file, each.code);
  return calls;
}

}  // namespace

int check(const CheckOptions& options) {
  int code = kOk;
  Json errors = Json::array();
  const auto report = [&](const Error& error) {
    errors.push_back(to_json(error));
    complain("%s", error.text().c_str());
    if (code == kOk) code = exit_code(error);
    return code;
  };
  if (options.targets == std::vector<std::string>{"help"}) {
    print_targets(options.json);
    return kOk;
  }
  const auto refuse = [&](const Error& error) {
    report(error);
    if (options.json) print({{"fits", false}, {"kernels", Json::array()}, {"errors", errors}});
    return code;
  };
  const auto request = parse_check_request(options);
  if (!request) return refuse(request.error());
  auto targets = offline::parse_targets(options.targets);
  if (!targets) return refuse(targets.error());
  const std::chrono::milliseconds time_limit(static_cast<std::int64_t>(options.timeout * 1000));

  const InterruptGuard guard;  // goes last: then every child is gone, and every folder
  PartSet set = read_files(options.files);
  if (targets->empty()) targets = default_targets(set);
  compile_missing(set, *targets, options.flags, time_limit);
  for (const Error& error : set.errors) report(error);
  if (const auto error = unknown_local(*request, set); error && code == kOk) return refuse(*error);

  Matrix matrix = check_all(set, *targets, *request);
  if (options.driver)
    if (const auto error = ask_driver(matrix, *request, options.flags, time_limit)) report(*error);
  if (InterruptGuard::interrupted()) return kDriverError;
  for (const auto& [file, failure] : set.failures)  // ocloc gave no answer: that is no "no"
    if (failure.kind == offline::CompileFailure::Kind::broken && code == kOk) code = kDriverError;
  const bool fits = matrix.all_fit() && code == kOk;
  const Json calls = fits ? calls_of(set, options.flags, time_limit) : Json::array();
  if (options.json)
    print({{"fits", fits}, {"kernels", to_json(matrix)}, {"calls", calls}, {"errors", errors}});
  else if (!matrix.rows.empty())
    print_text(matrix);
  if (!options.json && !calls.empty()) say("\nhow to run them:\n");
  for (const Json& each : options.json ? Json::array() : calls)
    say("  %s\n    %s\n", each["signature"].get<std::string>().c_str(),
        each["run"].get<std::string>().c_str());
  if (code != kOk) return code;
  return matrix.all_fit() ? kOk : kRefused;
}

}  // namespace kiln::tool
