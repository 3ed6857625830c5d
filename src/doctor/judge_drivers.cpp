// SPDX-License-Identifier: MIT
// The loader, the driver libraries and the compiler libraries.
#include <algorithm>

#include "doctor/judgement.hpp"
#include "kiln/result.hpp"
#include "level_zero/discovery.hpp"

namespace kiln::doctor {
namespace {

std::string first_line(const std::string& text) { return printable(text.substr(0, text.find('\n'))); }

/// It died or hung, and not by the affinity mask, which has a finding of its own.
bool failed(const Start& start) { return !end_text(start.end).empty() && !start.without_mask; }

Diagnostic crash(const Facts& facts, const Start& start) {
  const char* step = start.path.empty() ? "while it is opened"
                     : !start.answer    ? "while it starts"
                                        : "while it lists its devices";
  const bool hangs = start.end.kind == ChildEnd::Kind::timed_out;
  Diagnostic why{"K0601",
                 "`" + printable(start.library) + "` " + (hangs ? "hangs " : "ends the process ") + step,
                 {{"end", end_text(start.end)}},
                 {}};
  if (!start.path.empty()) why.rows.push_back({"file", printable(start.path)});
  if (const std::string* folders = variable(facts, "LD_LIBRARY_PATH"); start.path.empty() && folders)
    why.rows.push_back(
        {"LD_LIBRARY_PATH", printable(*folders)});  // it may lead to another file than installed
  if (!start.end.printed.empty()) why.rows.push_back({"printed", first_line(start.end.printed)});
  why.help = {"every program that uses Level Zero meets this: install another release of it, or remove it",
              "what it says: NEOReadDebugKeys=1 PrintDebugMessages=1 for Intel's driver, "
              "ZE_ENABLE_LOADER_DEBUG_TRACE=1 for the loader"};
  return why;
}

/// Nothing of that name, as opposed to a file that cannot be opened.
bool is_absent(const Start& start) {
  return start.path.empty() &&
         start.error.starts_with(start.library + ": cannot open shared object file: No such");
}

/// "libze_intel_gpu.so.1 1.3.24595 (/usr/lib/…)", or the path alone.
std::string describe(const Start& start) {
  if (start.library.find('/') != std::string::npos) return printable(start.path);
  return printable(start.library) + (start.version.empty() ? "" : " " + printable(start.version)) + " (" +
         printable(start.path) + ")";
}

bool is_known(const Start& driver) { return driver.library.starts_with("libze_intel_"); }

/// zeInit's answer where it has no device to offer; what it is for says why, in a finding about the GPU.
bool offers_nothing(const Start& driver) {
  return is_known(driver) && driver.refusal && !driver.refusal->rows.empty() &&
         driver.refusal->rows[0].text.starts_with("zeInit gave ");
}

void judge_driver(const Facts& facts, const Start& driver, Findings& findings) {
  if (failed(driver)) return findings.add("drivers", crash(facts, driver));
  if (driver.without_mask) return;  // K0605
  if (driver.refusal && !offers_nothing(driver)) return findings.add("drivers", printable(*driver.refusal));
  std::string devices;
  for (const DeviceFact& device : driver.devices)
    devices += (devices.empty() ? "" : ", ") + printable(device.name);
  findings.ok("drivers", describe(driver) + ": " + (devices.empty() ? "opens, shows no device" : devices));
}

}  // namespace

bool is_broken(const Start& driver) {
  return failed(driver) || (driver.refusal && !is_absent(driver) && !offers_nothing(driver));
}

void judge_loader(const Facts& facts, Findings& findings) {
  const Start& loader = facts.loader;
  // A driver that fails takes the loader with it: one cause, one finding.
  if (failed(loader) && std::ranges::none_of(facts.drivers, failed))
    return findings.add("loader", crash(facts, loader));
  if (!loader.error.empty())
    return findings.add("loader",
                        printable(*kiln::detail::explain_missing_loader(loader.error.c_str()).diagnostic()));
  if (loader.refusal && loader.refusal->code == "K0306")
    return findings.add("loader", printable(*loader.refusal));
  findings.ok("loader", describe(loader));
}

void judge_drivers(const Facts& facts, Findings& findings) {
  std::string absent;
  for (const Start& driver : facts.drivers) {
    if (is_known(driver) && is_absent(driver))
      absent += (absent.empty() ? "" : ", ") + driver.library;
    else
      judge_driver(facts, driver, findings);
  }
  Start cpu = facts.cpu;
  if (cpu.refusal && !variable(facts, "KILN_CPU_DRIVER"))
    cpu.refusal->severity = Severity::warning;  // it is optional
  judge_driver(facts, cpu, findings);
  if (!absent.empty()) findings.ok("drivers", "not installed: " + absent);
}

void judge_compilers(const Facts& facts, Findings& findings) {
  bool compiles = false;
  for (const Library& each : facts.compilers) {
    if (each.path.empty()) continue;
    compiles = compiles || each.name.starts_with("libigc.");
    findings.ok("compiler", each.name + (each.version.empty() ? "" : " " + printable(each.version)) + ", " +
                                printable(each.path));
  }
  const Start* intel = intel_driver(facts);
  if (!compiles && intel && !intel->path.empty()) {
    findings.add(
        "compiler",
        {"K0608",
         "Intel's driver has no compiler: SPIR-V cannot be compiled here",
         {{"looked for", "libigc.so.2, libigc.so.1"}},
         {"install it: `apt install libigc1` on Debian 12, `apt install libigc2` on Debian "
          "testing and newer Ubuntu (Debian 13 has none), package `intel-graphics-compiler` elsewhere",
          "or give native binaries, made by ocloc"}});
  }
  if (facts.ocloc.path.empty())
    return findings.ok("compiler", "ocloc: not installed; only for compiling beforehand");
  if (!facts.ocloc.version.empty())
    return findings.ok("compiler", "ocloc " + facts.ocloc.version + ", " + printable(facts.ocloc.path));
  const std::string end = end_text(facts.ocloc_end);
  Diagnostic why{
      "K0610",
      "ocloc does not tell its version",
      {{"file", printable(facts.ocloc.path)}, {"end", end.empty() ? "exit status 0" : end}},
      {"run `ocloc query OCL_DRIVER_VERSION` by hand; ocloc is needed only for compiling beforehand"},
      Severity::warning};
  if (!facts.ocloc_end.printed.empty()) why.rows.push_back({"printed", first_line(facts.ocloc_end.printed)});
  findings.add("compiler", std::move(why));
}

}  // namespace kiln::doctor
