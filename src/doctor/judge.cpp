// SPDX-License-Identifier: MIT
// The report as a whole, and small things that its parts share.
#include "doctor/judge.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "doctor/judgement.hpp"
#include "kiln/open.hpp"
#include "support/printable.hpp"

namespace kiln::doctor {
namespace {

constexpr std::size_t kLongestMessage = 300;  // characters

std::string named(const std::vector<DeviceFact>& devices, const char* kind) {
  for (const DeviceFact& device : devices)
    if (device.kind == kind) return printable(device.name);
  return {};
}

/// The way of `--device auto` and KILN_DEVICE, by the facts.
void decide(const Facts& facts, Report& report) {
  const auto gpus = usable_gpus(facts);
  report.gpu_usable = !gpus.empty();
  const std::string* wanted = variable(facts, "KILN_DEVICE");
  if (wanted && !wanted->empty() && *wanted != "auto") {
    const auto request = parse_device_request(*wanted);
    if (!request) {
      report.verdict = "`kiln run` uses no device: KILN_DEVICE names none";
      return;
    }
    report.device = printable(*wanted);
    report.verdict = "`kiln run` uses `" + report.device + "`, by KILN_DEVICE";
    if (request->kind == DeviceKind::gpu && gpus.empty()) {
      report.device.clear();
      report.verdict = "`kiln run` uses no device: KILN_DEVICE asks for a GPU, and there is none";
    }
    return;
  }
  const std::string shown = named(facts.loader.devices, "gpu"), cpu = named(facts.cpu.devices, "cpu");
  if (const std::string end = end_text(facts.loader.end); !end.empty()) {
    report.verdict = "`kiln run` fails while it looks for a GPU: " + end;
    if (!cpu.empty()) report.verdict += "; `kiln run --device cpu` works";
  } else if (!shown.empty()) {
    report.device = "gpu";
    report.verdict = "`kiln run` uses the GPU `" + shown + "`";
    if (gpus.empty()) report.verdict += ", which is simulated: kernels are not executed";
  } else if (!cpu.empty()) {
    report.device = "cpu";
    report.verdict = "`kiln run` uses the CPU device `" + cpu + "`, since no GPU is usable";
  } else {
    report.verdict = "`kiln run` finds no device: no GPU is usable, and Kiln's CPU driver does not start";
  }
}

}  // namespace

const char* to_string(State state) {
  return state == State::ok ? "ok" : state == State::note ? "note" : "problem";
}

void Findings::add(const char* area, Diagnostic why) {
  const State state = why.severity == Severity::error ? State::problem : State::note;
  std::string text = why.message;
  list_.push_back({state, area, std::move(text), std::move(why)});
}

const std::string* variable(const Facts& facts, const std::string& name) {
  const auto found = facts.environment.find(name);
  return found == facts.environment.end() ? nullptr : &found->second;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string_view shown = text.substr(0, most);
  if (text.size() > most)  // not in the middle of a character
    while (!shown.empty() && (static_cast<unsigned char>(text[shown.size()]) >> 6) == 2)
      shown.remove_suffix(1);
  return kiln::detail::printable(shown) + (text.size() > most ? "..." : "");
}

Diagnostic printable(Diagnostic diagnostic) {
  diagnostic.message = printable(diagnostic.message, kLongestMessage);
  for (DiagnosticRow& row : diagnostic.rows) {
    row.label = printable(row.label);
    row.text = printable(row.text, kLongestMessage);
  }
  return diagnostic;
}

std::string end_text(const ChildEnd& end) {
  switch (end.kind) {
    case ChildEnd::Kind::exited:
      return end.number == 0 ? "" : "exit status " + std::to_string(end.number);
    case ChildEnd::Kind::signalled:
      return "signal " + std::to_string(end.number) + " (" + strsignal(end.number) + ")";
    case ChildEnd::Kind::timed_out:
      return "no answer within " + std::to_string(end.number) + " s";
    case ChildEnd::Kind::not_started:
      break;
  }
  return std::string("no child process: ") + std::strerror(end.number);
}

const Start* intel_driver(const Facts& facts) {
  const auto found = std::ranges::find(facts.drivers, "libze_intel_gpu.so.1", &Start::library);
  return found == facts.drivers.end() ? nullptr : &*found;
}

std::string pci_id(std::uint32_t vendor, std::uint32_t device) {
  char text[24];
  std::snprintf(text, sizeof text, "%04x:%04x", vendor, device);
  return text;
}

std::vector<DeviceFact> usable_gpus(const Facts& facts) {
  std::vector<DeviceFact> gpus;
  if (debug_keys(facts).simulated) return gpus;
  for (const DeviceFact& device : facts.loader.devices)
    if (device.kind == "gpu") gpus.push_back(device);
  return gpus;
}

Report judge(const Facts& facts) {
  Findings findings;
  judge_loader(facts, findings);
  judge_drivers(facts, findings);
  judge_gpus(facts, findings);
  judge_compilers(facts, findings);
  judge_environment(facts, findings);
  judge_debug_keys(facts, findings);
  judge_files(facts, findings);
  Report report;
  report.findings = findings.take();
  decide(facts, report);
  return report;
}

}  // namespace kiln::doctor
