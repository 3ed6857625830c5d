// SPDX-License-Identifier: MIT
// Variables that change which devices there are, and how kernels are compiled and run.
#include <algorithm>
#include <filesystem>
#include <span>
#include <sstream>

#include "doctor/judgement.hpp"
#include "kiln/open.hpp"

namespace kiln::doctor {
namespace {

struct KnownVariable {
  std::string_view name;  // ends with * for all that begin so
  std::string_view meaning;
};

// What loaders 1.8 to 1.32 ask for.
constexpr KnownVariable kLoaderVariables[] = {
    {"ZE_ENABLE_ALT_DRIVERS", "only these drivers are loaded, none of the installed"},
    {"ZE_ENABLE_NULL_DRIVER", "1 adds a driver that does nothing"},
    {"ZE_ENABLE_LOADER_INTERCEPT", "1 puts the loader's objects around handles"},
    {"ZE_ENABLE_LOADER_DRIVER_DDI_PATH", "whether calls go through tables inside handles"},
    {"ZE_ENABLE_VALIDATION_LAYER", "1 checks calls, and slows them down"},
    {"ZE_ENABLE_PARAMETER_VALIDATION", "1 lets the validation layer refuse parameters"},
    {"ZE_ENABLE_TRACING_LAYER", "1 lets tools trace calls, and slows them down"},
    {"ZE_ENABLE_LOADER_DEBUG_TRACE", "1 prints what the loader does"},
    {"ZEL_LIBRARY_PATH", "folder from which drivers and layers are taken"},
    {"ZEL_DRIVERS_ORDER", "the order of drivers"},
};

constexpr KnownVariable kOtherVariables[] = {
    {"ZE_FLAT_DEVICE_HIERARCHY", "whether tiles are devices (FLAT, COMBINED) or parts of one (COMPOSITE)"},
    {"ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1 orders devices by PCI address: another may be the first"},
    {"ZEX_NUMBER_OF_CCS", "how many compute engines a device has"},
    {"ZES_ENABLE_SYSMAN", "1 adds device management"},
    {"ZET_ENABLE_*", "tools are enabled, which may slow down or change compilation"},
    {"ONEAPI_DEVICE_SELECTOR", "hides devices from SYCL programs; Level Zero and Kiln do not read it"},
    {"SYCL_*", "only SYCL programs read it"},
    {"UR_*", "only SYCL programs read it"},
    {"CL_CONFIG_*", "only Intel's OpenCL runtime for the CPU reads it: no effect on a GPU"},
    {"NEO_FP64_EMULATION", "1 emulates double precision"},
    {"OverrideDefaultFP64Settings", "changes whether double precision is offered"},
    {"NEO_LOCAL_MEMORY_ALLOCATION_MODE", "where device memory is taken from"},
    {"IGC_*", "changes what the compiler makes of SPIR-V"},
};

bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

std::vector<DiagnosticRow> rows(const Facts& facts, std::span<const KnownVariable> list) {
  std::vector<DiagnosticRow> found;
  for (const auto& [name, value] : facts.environment)
    if (const auto known =
            std::ranges::find_if(list, [&](const KnownVariable& each) { return matches(each.name, name); });
        known != list.end())
      found.push_back({printable(name), printable(value) + ": " + std::string(known->meaning)});
  return found;
}

/// A comma-separated list of devices, or of device.sub-device. Pure digits, as the specification has it:
/// where drivers 22.43 and 26.27 meet a letter or an empty entry, they end the process.
bool is_mask(std::string_view text) {
  bool digits = false;
  for (const char each : text) {
    if (each >= '0' && each <= '9') {
      digits = true;
    } else if ((each == ',' || each == '.') && digits) {
      digits = false;
    } else {
      return false;
    }
  }
  return digits;
}

void judge_mask(const Facts& facts, Findings& findings) {
  const Mask mask = affinity_mask(facts);
  if (mask == Mask::unset) return;
  const std::string value = printable(*variable(facts, "ZE_AFFINITY_MASK"));
  if (mask == Mask::fine)
    return findings.ok("environment", "ZE_AFFINITY_MASK=" + value + ": only these devices are shown");
  const bool ill_formed = mask == Mask::ill_formed;
  Diagnostic why{
      "K0605",
      ill_formed ? "ZE_AFFINITY_MASK is no list of device numbers" : "ZE_AFFINITY_MASK hides every device",
      {{"ZE_AFFINITY_MASK", value}},
      {}};
  for (const Start* start : {&facts.loader, intel_driver(facts)}) {
    if (!start) continue;
    if (const std::string end = end_text(start->end); !end.empty())
      why.rows.push_back({printable(start->library), "ends the process: " + end});
    if (start->without_mask)
      why.rows.push_back({printable(start->library) + " without it", "", *start->without_mask, "devices"});
  }
  why.help = {"unset ZE_AFFINITY_MASK, or give the numbers of devices from 0: 0, or 0,1, or 0.1 for a tile"};
  findings.add("environment", std::move(why));
}

/// LD_LIBRARY_PATH names the folder of this library.
bool is_searched(const Facts& facts, const std::string& library) {
  const std::string* list = variable(facts, "LD_LIBRARY_PATH");
  if (!list || library.empty()) return false;
  const std::filesystem::path folder = std::filesystem::path(library).parent_path();
  std::istringstream folders(*list);
  for (std::string each; std::getline(folders, each, ':');)
    if (!each.empty() && (std::filesystem::path(each) / "").lexically_normal().parent_path() == folder)
      return true;
  return false;
}

void judge_library_path(const Facts& facts, Findings& findings) {
  Diagnostic why{"K0611", "libraries are not the installed ones", {}, {}, Severity::warning};
  std::vector<const Start*> all{&facts.loader};
  for (const Start& driver : facts.drivers) all.push_back(&driver);
  for (const Start* start : all)
    if (is_searched(facts, start->path))
      why.rows.push_back({"LD_LIBRARY_PATH leads to", printable(start->path)});
  if (const std::string* preload = variable(facts, "LD_PRELOAD"); preload && !preload->empty())
    why.rows.push_back({"LD_PRELOAD", printable(*preload)});
  if (why.rows.empty()) return;
  why.help = {"unset the variable, unless these libraries are meant"};
  findings.add("environment", std::move(why));
}

}  // namespace

Mask affinity_mask(const Facts& facts) {
  const std::string* mask = variable(facts, "ZE_AFFINITY_MASK");
  if (!mask || mask->empty()) return Mask::unset;
  if (!is_mask(*mask)) return Mask::ill_formed;
  const auto hides = [](const Start& start) {
    return start.devices.empty() && start.without_mask.value_or(0) > 0;
  };
  const Start* intel = intel_driver(facts);
  return hides(facts.loader) || (intel && hides(*intel)) ? Mask::hides_all : Mask::fine;
}

void judge_environment(const Facts& facts, Findings& findings) {
  judge_mask(facts, findings);
  if (auto told = rows(facts, kLoaderVariables); !told.empty())
    findings.add("environment", {"K0609",
                                 "the environment tells the loader what to load",
                                 std::move(told),
                                 {"unset what is not meant"},
                                 Severity::warning});
  judge_library_path(facts, findings);
  if (auto others = rows(facts, kOtherVariables); !others.empty())
    findings.add("environment", {"K0612",
                                 "variables change how devices or kernels behave, or seem to",
                                 std::move(others),
                                 {"unset what is not meant"},
                                 Severity::warning});
  if (const std::string* wanted = variable(facts, "KILN_DEVICE");
      wanted && !wanted->empty() && *wanted != "auto")
    if (const auto request = parse_device_request(printable(*wanted)); !request)
      findings.add("environment", *request.error().diagnostic());
  for (const auto& [name, value] : facts.environment)
    if (name.starts_with("KILN_")) findings.ok("environment", printable(name) + "=" + printable(value));
}

}  // namespace kiln::doctor
