// SPDX-License-Identifier: MIT
// `kiln doctor`: why there is no device, or not the one expected.
#include <algorithm>

#include "doctor/gather.hpp"
#include "doctor/judge.hpp"
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

}  // namespace

int doctor(const DoctorOptions& options) {
  const Report report = doctor::judge(doctor::gather(options.seconds));
  if (options.json)
    print(doctor_json(report));
  else
    print_text(report);
  return report.gpu_usable ? kOk : kNoDevice;
}

}  // namespace kiln::tool
