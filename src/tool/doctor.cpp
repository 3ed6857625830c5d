// SPDX-License-Identifier: MIT
// `kiln doctor`: why there is no device, or not the one expected.
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "doctor/child.hpp"
#include "doctor/clean.hpp"
#include "doctor/gather.hpp"
#include "doctor/judge.hpp"
#include "doctor/judgement.hpp"
#include "doctor/report.hpp"
#include "support/whole_file.hpp"
#include "tool/arguments/usage.hpp"
#include "tool/common/output.hpp"
#include "tool/common/session.hpp"

namespace kiln::tool {
namespace {

using doctor::Finding;
using doctor::Report;
using doctor::State;

void print_text(const Report& report) {
  std::string_view area;
  for (const Finding& finding : report.findings) {
    if (finding.area != area) say("%s%s\n", area.empty() ? "" : "\n", finding.area);
    area = finding.area;
    const std::string code = finding.why ? " [" + finding.why->code + "]" : "";
    say("  ");
    say_painted(finding.state == State::ok        ? Paint::good
                : finding.state == State::problem ? Paint::bad
                                                  : Paint::warning,
                "%-8s", finding.state == State::problem ? "PROBLEM" : to_string(finding.state));
    say(" %s%s\n", finding.text.c_str(), code.c_str());
    if (!finding.why) continue;
    // The lines of the diagnostic behind its first, under the text.
    const std::string whole = to_text(*finding.why);
    for (auto begin = whole.find('\n') + 1; begin < whole.size();) {
      const auto end = whole.find('\n', begin);
      say("         %s\n", whole.substr(begin, end - begin).c_str());
      begin = end + 1;
    }
  }
  const auto count = [&](State state) { return std::ranges::count(report.findings, state, &Finding::state); };
  const auto problems = count(State::problem), notes = count(State::note);
  say("\n%td problem%s, %td note%s\n", problems, problems == 1 ? "" : "s", notes, notes == 1 ? "" : "s");
  say("%s\n", report.verdict.c_str());
}

Json doctor_json(const Report& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    Json entry{{"state", to_string(finding.state)}, {"area", finding.area}, {"text", finding.text}};
    if (finding.why) entry["diagnostic"] = Json::parse(kiln::to_json(*finding.why)).value();
    findings.push_back(std::move(entry));
  }
  return {{"findings", findings},
          {"gpu_usable", report.gpu_usable},
          {"device", report.device.empty() ? Json() : Json(report.device)},
          {"verdict", report.verdict}};
}

/// A device, or why there is none of that kind; in a child, as drivers crash where something is wrong.
Json ask_device(DeviceKind kind, const char* name, int seconds) {
  const doctor::ChildOutput output = doctor::in_child(
      [&](int result) {
        setenv("AUBDumpCaptureFileName", "/dev/null", 0);  // a simulated device writes captures, gigabytes
        Json answer;
        if (const auto opened = open_device({kind, ""})) {
          answer = device_json(*opened);
        } else {
          // Without its rows, which name files.
          const auto& why = opened.error().diagnostic();
          answer = {{"kind", name}, {"code", why ? why->code : ""}, {"message", why ? why->message : ""}};
        }
        const std::string text = answer.dump();
        for (std::size_t done = 0; done < text.size();) {
          const ssize_t count = write(result, text.data() + done, text.size() - done);
          if (count <= 0) return;
          done += static_cast<std::size_t>(count);
        }
      },
      seconds);
  if (auto answer = Json::parse(output.result)) return *std::move(answer);
  const std::string end = doctor::end_text(output.end);
  return {{"kind", name},
          {"code", ""},
          {"message", "asking for one ends the process: " + (end.empty() ? "exit status 0" : end)}};
}

/// All that is of no Kiln's own making in what was answered.
void clean(doctor::Cleaner& cleaner, Json& answer) {
  for (const char* key : {"name", "message"})
    if (answer.contains(key)) answer[key] = cleaner.text(answer[key].get<std::string>());
}

std::string devices(doctor::Cleaner& cleaner, int seconds) {
  Json list = Json::array(), missing = Json::array();
  for (const auto& [kind, name] : {std::pair{DeviceKind::gpu, "gpu"}, {DeviceKind::cpu, "cpu"}}) {
    Json answer = ask_device(kind, name, seconds);
    clean(cleaner, answer);
    (answer.contains("message") ? missing : list).push_back(std::move(answer));
  }
  return Json{{"devices", list}, {"missing", missing}}.dump();
}

doctor::BugReport bug_report(int seconds) {
  doctor::Cleaner cleaner(doctor::private_words());
  doctor::BugReport bug;
  bug.kiln = KILN_VERSION;
  std::ifstream release("/etc/os-release");
  const std::string names{std::istreambuf_iterator<char>(release), {}};
  bug.system = cleaner.text(doctor::system_name(names));
  utsname kernel{};
  if (uname(&kernel) == 0) bug.kernel = cleaner.text(std::string(kernel.release) + ", " + kernel.machine);
  const doctor::Facts facts = cleaner.facts(doctor::gather(seconds));
  bug.report = doctor::judge(facts);
  bug.environment = facts.environment;
  bug.left_out = cleaner.left_out();
  bug.devices = devices(cleaner, seconds);
  bug.by_sudo = geteuid() == 0 && std::getenv("SUDO_USER");
  const MemoryAccount account = memory_account();
  bug.memory = doctor::Cleaner::account(account);
  for (const MemoryCard& card : account.cards) {
    MemoryRequest request;
    request.card = card.address;
    for (Diagnostic& cause : memory_causes(bug.memory, request))
      bug.memory_causes.push_back(std::move(cause));
  }
  if (const auto log = doctor::read_kernel_log())
    bug.kernel_log = cleaner.kernel_log(*log);
  else
    bug.kernel_log_error = std::strerror(errno);
  return bug;
}

Json bug_json(const doctor::BugReport& bug) {
  Json environment = Json::object();
  for (const auto& [name, value] : bug.environment) environment[name] = value;
  return {{"kiln", bug.kiln},
          {"system", bug.system},
          {"kernel", bug.kernel},
          {"by_sudo", bug.by_sudo},
          {"doctor", doctor_json(bug.report)},
          {"devices", Json::parse(bug.devices).value_or(Json())},
          {"environment", environment},
          {"variables_left_out", bug.left_out},
          {"memory", Json::parse(kiln::to_json(bug.memory)).value()},
          {"kernel_log", bug.kernel_log},
          {"kernel_log_error", bug.kernel_log_error.empty() ? Json() : Json(bug.kernel_log_error)}};
}

int refuse(const DoctorOptions& options, const Error& error) {
  complain("%s", error.text().c_str());
  if (options.json) print({{"error", to_json(error)}});
  return exit_code(error);
}

int write_bug_report(const DoctorOptions& options) {
  const bool to_file = options.report != "-";
  std::error_code ignored;
  if (to_file && !options.force &&
      std::filesystem::exists(std::filesystem::symlink_status(options.report, ignored)))
    return refuse(options, usage_error("`" + options.report + "` is there already",
                                       {"name another file, or give --force, and it is replaced"}));
  const doctor::BugReport bug = bug_report(options.seconds);
  const std::string json = bug_json(bug).dump_lines() + "\n";
  const std::string text = options.json ? json : doctor::to_markdown(bug, json);
  if (!to_file) {
    say_exactly(stdout, text);
    return kOk;
  }
  detail::WholeFile file(options.report);
  file.write(text);
  if (const int failed = file.finish())
    return refuse(options, Error(ZE_RESULT_ERROR_UNKNOWN, "kiln",
                                 {"K0410",
                                  "report `" + options.report + "` cannot be written",
                                  {{"reason", std::strerror(failed)}},
                                  {"name a file on a disk with room, in a folder that may be written to"}}));
  say("written: %s\nRead it before you share it.\n", options.report.c_str());
  return kOk;
}

}  // namespace

int doctor(const DoctorOptions& options) {
  if (!options.report.empty()) return write_bug_report(options);
  const Report report = doctor::judge(doctor::gather(options.seconds));
  if (options.json)
    print(doctor_json(report));
  else
    print_text(report);
  return report.gpu_usable ? kOk : kNoDevice;
}

}  // namespace kiln::tool
