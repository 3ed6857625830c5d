// SPDX-License-Identifier: MIT
// `kiln test`: description files as a test suite, each in a process of its own, so that none ends the others.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "support/process.hpp"
#include "support/whole_file.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/common/output.hpp"
#include "tool/common/progress.hpp"
#include "tool/common/table.hpp"
#include "tool/kernel/case_file.hpp"
#include "tool/kernel/npy.hpp"
#include "tool/run/junit.hpp"

namespace kiln::tool {
namespace {

/// The description files of a folder and those below it, by name.
Result<std::vector<std::string>> cases_of(const std::vector<std::string>& paths) {
  std::vector<std::string> cases;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      if (!is_case_file(path))
        return tl::unexpected(usage_error("`" + path + "` is no description of a case, nor a folder of them",
                                          {"name files NAME.yaml, or a folder with such files",
                                           "`kiln run --all` runs the samples and compares their answers"}));
      cases.push_back(path);
      continue;
    }
    const std::size_t before = cases.size();
    for (auto entry = std::filesystem::recursive_directory_iterator(path, error);
         !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error))
      if (is_case_file(entry->path().string()) && entry->is_regular_file(error))
        cases.push_back(entry->path().string());
    if (error || cases.size() == before)
      return tl::unexpected(usage_error(
          "`" + path + "` " + (error ? "cannot be read: " + error.message() : "has no description files"),
          {"name a folder with files NAME.yaml, or the files themselves"}));
    std::sort(cases.begin() + static_cast<std::ptrdiff_t>(before), cases.end());
  }
  return cases;
}

/// Why a file cannot be written: an errno, or 0. Asked before hours of tests are run for it.
int why_unwritable(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return EISDIR;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const auto& asked = std::filesystem::exists(path, error) ? path : folder;
  return access(asked.c_str(), W_OK) == 0 ? 0 : errno;
}

/// What one line says of a run that went wrong.
std::string reason_of(const Json& answer, const std::string& otherwise) {
  if (answer.contains("error") && answer["error"].contains("message"))
    return answer["error"].value("code", "") + ": " + answer["error"]["message"].get<std::string>();
  if (answer.contains("differences") && !answer["differences"].empty()) {
    const Json& first = answer["differences"][0];
    return "K0435: `" + first["name"].get<std::string>() + "`: " + first["count"].dump() + " of " +
           first["of"].dump() + " numbers differ; number " + first["index"].dump() + " is " +
           first["got"].get<std::string>() + ", should be " + first["wanted"].get<std::string>();
  }
  return otherwise;
}

CaseResult run_case(const std::string& path, const TestOptions& options) {
  ProcessOptions how;
  how.arguments = {"/proc/self/exe", "run", path, "--json"};
  if (!options.device.empty()) how.arguments.insert(how.arguments.end(), {"--device", options.device});
  how.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout * 1e3));
  how.output_limit = std::size_t{16} << 20;
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult ended = run_process(how);
  CaseResult result{path};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.said = ended.err;
  const Json answer = Json::parse(ended.out).value_or(Json());
  if (answer.contains("kernel")) result.kernel = answer["kernel"].get<std::string>();
  if (ended.succeeded() && !answer.is_null()) {
    result.verdict = answer["ok"].is_null() ? CaseVerdict::not_compared : CaseVerdict::right;
  } else {
    const bool own = ended.end == ProcessResult::End::exited;
    // What is wrong with the kernel is a failure; what kept it from running is an error.
    result.verdict = own && ended.number == kWrongAnswer ? CaseVerdict::wrong : CaseVerdict::error;
    result.reason = reason_of(answer, ended.ended_by(how.time_limit));
  }
  return result;
}

Json case_json(const CaseResult& result) {
  Json json{{"case", result.path},
            {"kernel", result.kernel},
            {"answer", to_string(result.verdict)},
            {"seconds", result.seconds}};
  if (!result.reason.empty()) json["reason"] = result.reason;
  return json;
}

Result<int> test_all(const TestOptions& options) {
  KILN_TRY(const auto cases, cases_of(options.paths));
  const auto lost = [&](int failed) {
    return tl::unexpected(unwritable_data("results", options.junit, std::strerror(failed)));
  };
  if (const int failed = options.junit.empty() ? 0 : why_unwritable(options.junit)) return lost(failed);
  std::vector<CaseResult> results;
  {
    const InterruptGuard guard;
    Progress progress(cases.size());
    for (const std::string& each : cases) {
      if (InterruptGuard::interrupted()) break;
      progress.next(each.c_str());
      results.push_back(run_case(each, options));
    }
  }
  const bool good = std::ranges::all_of(results, &CaseResult::is_good);
  // The results are printed in any case.
  std::optional<Error> unwritten;
  if (!options.junit.empty()) {
    detail::WholeFile file(options.junit);
    file.write(junit_xml(results));
    if (const int failed = file.finish())
      unwritten = unwritable_data("results", options.junit, std::strerror(failed));
  }
  const int status = unwritten ? exit_code(*unwritten) : good ? kOk : kWrongAnswer;
  if (unwritten) complain("%s", unwritten->text().c_str());
  if (options.json) {
    Json list = Json::array();
    for (const CaseResult& each : results) list.push_back(case_json(each));
    Json json{{"ok", good && !unwritten}, {"cases", std::move(list)}};
    if (unwritten) json["error"] = to_json(*unwritten);
    print(json);
    return status;
  }
  std::vector<std::vector<std::string>> table{{"CASE", "KERNEL", "ANSWER", "SECONDS"}};
  for (const CaseResult& each : results) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.2f", each.seconds);
    table.push_back({each.path, each.kernel.empty() ? "-" : each.kernel, to_string(each.verdict), seconds});
  }
  print_table(std::move(table), 3, 0, [](std::size_t column, std::string_view cell) {
    return column != 2 ? Paint::none : cell == "right" || cell == "not compared" ? Paint::good : Paint::bad;
  });
  std::fflush(stdout);
  for (const CaseResult& each : results)
    if (!each.is_good()) complain("%s: %s\n", each.path.c_str(), each.reason.c_str());
  say("%zu of %zu right or not compared\n",
      static_cast<std::size_t>(std::ranges::count_if(results, &CaseResult::is_good)), results.size());
  return status;
}

}  // namespace

int test(const TestOptions& options) {
  const auto status = test_all(options);
  if (status) return *status;
  complain("%s", status.error().text().c_str());
  if (options.json) print({{"ok", false}, {"error", to_json(status.error())}});
  return exit_code(status.error());
}

}  // namespace kiln::tool
