// SPDX-License-Identifier: MIT
// Debug keys of Intel's driver: from the environment, or from a file in the current folder that replaces it.
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "doctor/judgement.hpp"

namespace kiln::doctor {
namespace {

constexpr const char* kGate = "NEOReadDebugKeys";

struct KnownKey {
  std::string_view name;
  std::string_view meaning;
};
constexpr KnownKey kKnown[] = {
    {"SetCommandStreamReceiver",
     "except with 0 and 3, commands go into a capture and kernels are not executed"},
    {"ProductFamilyOverride", "the driver takes the device for this product"},
    {"HardwareInfoOverride", "slices x sub-slices x EUs of the device are made up"},
    {"ForceDeviceId", "the driver takes the device for this PCI id"},
    {"OverrideHwIpVersion", "the driver takes the device for this version"},
    {"CreateMultipleRootDevices", "the driver shows this many devices"},
    {"CreateMultipleSubDevices", "the driver shows this many tiles"},
    {"AUBDumpCaptureFileName", "where captures are written"},
    {"PrintDebugMessages", "the driver prints its reasons"},
    {"OverrideDefaultFP64Settings", "changes whether double precision is offered"},
};

/// The key behind NEO_L0_Key or NEO_Key, which drivers since 2023 take too.
std::string_view bare(std::string_view name) {
  for (const std::string_view prefix : {"NEO_L0_", "NEO_"})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

const KnownKey* find(std::string_view name) {
  const auto known = std::ranges::find(kKnown, bare(name), &KnownKey::name);
  return known == std::end(kKnown) ? nullptr : known;
}

bool is_on(const std::string* value) { return value && std::strtol(value->c_str(), nullptr, 0) != 0; }

// Intel's names: 1 AUB, 2 TBX, 4 TBX with AUB; 0 and 3 are the hardware. Other numbers are taken for no
// hardware.
bool simulates(const std::map<std::string, std::string>& keys) {
  return std::ranges::any_of(keys, [](const auto& entry) {
    const long value = std::strtol(entry.second.c_str(), nullptr, 0);
    return bare(entry.first) == "SetCommandStreamReceiver" && value > 0 && value != 3;
  });
}

std::vector<DiagnosticRow> rows(const DebugKeys& keys) {
  std::vector<DiagnosticRow> list{{"read from", printable(keys.source)}};
  for (const auto& [name, value] : keys.keys) {
    const KnownKey* known = find(name);
    list.push_back({printable(name), printable(value) + (known ? ": " + std::string(known->meaning) : "")});
  }
  add_hidden(list, keys.hidden);
  return list;
}

}  // namespace

bool is_key(std::string_view name) {
  const std::string_view key = bare(name);
  if (key.size() < 6 || !std::isupper(static_cast<unsigned char>(key[0])) || name == kGate) return false;
  const auto count = [&](auto&& is) {
    return std::ranges::count_if(key, [&](unsigned char each) { return is(each) != 0; });
  };
  return std::ranges::all_of(key, [](unsigned char each) { return std::isalnum(each) != 0; }) &&
         count([](int each) { return std::isupper(each); }) >= 2 &&
         count([](int each) { return std::islower(each); }) >= 2;
}

void add_hidden(std::vector<DiagnosticRow>& rows, std::size_t keys) {
  if (keys) rows.push_back({"not shown", "", keys, keys == 1 ? "key" : "keys"});
}

DebugKeys debug_keys(const Facts& facts) {
  DebugKeys keys;
  keys.enabled = is_on(variable(facts, kGate)) || is_on(variable(facts, "NEO_L0_NEOReadDebugKeys"));
  keys.source = "the environment";
  for (const auto& [name, value] : facts.environment)
    if (find(name) || (keys.enabled && is_key(name))) keys.keys.emplace(name, value);
  keys.hidden = facts.hidden_keys;
  // The file hides the variables, seen with 22.43 and 26.27; neo.config is asked for only by newer releases.
  const Start* intel = intel_driver(facts);
  for (const Settings& file : facts.driver_settings) {
    if (file.path.ends_with("neo.config") && intel && intel->build && *intel->build < 26918) continue;
    keys.source = file.path;
    keys.keys = file.keys;
    keys.hidden = file.hidden;
    keys.keys.erase(kGate);
    break;
  }
  keys.simulated = keys.enabled && simulates(keys.keys);
  return keys;
}

void judge_debug_keys(const Facts& facts, Findings& findings) {
  const DebugKeys keys = debug_keys(facts);
  const bool from_file = keys.source != "the environment";
  const std::string cure =
      from_file ? "remove the file, or start programs in another folder" : "unset NEOReadDebugKeys";
  if (keys.simulated)
    findings.add("environment",
                 {"K0606",
                  "debug keys make Intel's driver show a simulated device: it executes no kernels",
                  rows(keys),
                  {cure, "to look at a product without having it: --device capture:PRODUCT"}});
  else if (keys.enabled)
    findings.add("environment", {"K0613",
                                 "Intel's driver reads debug keys",
                                 rows(keys),
                                 {cure, "keys are for diagnosis: they may change behaviour and speed"},
                                 Severity::warning});
  else if (!keys.keys.empty() && !from_file)
    findings.ok("environment", "debug keys without effect, NEOReadDebugKeys is not 1: " +
                                   printable(keys.keys.begin()->first) +
                                   (keys.keys.size() > 1 ? " and others" : ""));
}

}  // namespace kiln::doctor
