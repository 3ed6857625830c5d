// SPDX-License-Identifier: MIT
// Sorts environment variables into inputs of a compilation, requests for side effects, and all others.
#include "level_zero/variables.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace kiln::detail {
namespace {

struct Variable {
  std::string_view name, value;
};
/// In the order of the names.
using Variables = std::vector<Variable>;

constexpr std::string_view kField = "env.";
constexpr std::string_view kCompiler = "IGC_";
constexpr std::string_view kGate = "NEOReadDebugKeys";

// Read by the driver without NEOReadDebugKeys: getenv() of 22.43 and 26.27 was listed.
constexpr std::string_view kPlain[] = {"NEO_FP64_EMULATION", "ONEAPI_PVC_SEND_WAR_WA",
                                       "ZET_ENABLE_PROGRAM_DEBUGGING"};
constexpr std::string_view kUngatedKeys[] = {"EnableLEO", "OverrideDefaultFP64Settings"};

// Keys that load other code; what that is, no field tells.
constexpr std::string_view kOtherCode[] = {"IgcLibraryName", "FinalizerLibraryName", "LoadBinarySipFromFile"};

bool is_off(std::string_view value) { return value.empty() || value == "0"; }

bool is_one_of(std::span<const std::string_view> list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

/// The key behind NEO_L0_Key or NEO_Key, which drivers since 2023 take too.
std::string_view bare(std::string_view name) {
  for (const std::string_view prefix : {"NEO_L0_", "NEO_"})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

/// The driver's some 750 keys all have the shape of `Enable64kbpages`; what has it is taken for one.
[[gnu::hot]] bool is_key(std::string_view name) {
  const auto is_upper = [](char each) { return each >= 'A' && each <= 'Z'; };
  const auto is_lower = [](char each) { return each >= 'a' && each <= 'z'; };
  const auto is_digit = [](char each) { return each >= '0' && each <= '9'; };
  if (name.size() <= 2 || !is_upper(name[0])) return false;
  bool has_lower = false;
  for (const char each : name) {
    has_lower |= is_lower(each);
    if (!is_upper(each) && !is_lower(each) && !is_digit(each)) return false;
  }
  return has_lower;
}

[[gnu::hot]] bool may_count(std::string_view name) {
  return name.starts_with(kCompiler) || name.starts_with("ZET_") || name.starts_with("KILN_") ||
         name.starts_with("NEO_") || name.starts_with("ONEAPI_") || is_key(name);
}

/// The name is empty where there is no `=`.
[[gnu::hot]] Variable split(std::string_view variable) {
  const auto equals = variable.find('=', 1);
  if (equals == variable.npos) return {};
  return {variable.substr(0, equals), variable.substr(equals + 1)};
}

Variables read(std::span<const std::string> environment) {
  Variables variables;
  for (const std::string_view entry : environment) {
    const Variable variable = split(entry);
    // getenv() finds the first one.
    if (may_count(variable.name) &&
        std::ranges::find(variables, variable.name, &Variable::name) == variables.end())
      variables.push_back(variable);
  }
  std::ranges::sort(variables, {}, &Variable::name);
  return variables;
}

bool gate_is_open(const Variables& variables) {
  return std::ranges::any_of(variables, [](const auto& variable) {
    return bare(variable.name) == kGate && std::strtol(std::string(variable.value).c_str(), nullptr, 0) != 0;
  });
}

/// IGC's keys that write files or text, or read other shaders. `Printf…` is about kernels' printf.
bool has_side_effect(std::string_view key) {
  const auto has = [&](std::string_view part) { return key.find(part) != key.npos; };
  return has("Dump") || has("ShaderOverride") || has("SIPOverride") || has("ShaderDataBase") ||
         (key.starts_with("Print") && !key.starts_with("Printf"));
}

}  // namespace

[[gnu::hot]] bool may_shape_code(std::string_view variable) { return may_count(split(variable).name); }

EnvironmentInputs environment_inputs(std::span<const std::string> environment) {
  const Variables variables = read(environment);
  const bool debug_keys = gate_is_open(variables);
  EnvironmentInputs inputs;
  inputs.fields.reserve(variables.size());
  const auto add = [&](std::string_view name, std::string_view value) {
    inputs.fields.set({std::string(kField).append(name), std::string(value)});
  };
  for (const auto& [name, value] : variables) {
    const std::string_view key = bare(name);
    if (name.starts_with(kCompiler)) {
      if (!has_side_effect(name.substr(kCompiler.size())))
        add(name, value);
      else if (!is_off(value))
        inputs.bypass = std::string(name) + " asks the compiler for more than a binary";
    } else if (name == "ZET_ENABLE_PROGRAM_INSTRUMENTATION" && !is_off(value)) {
      inputs.bypass = std::string(name) + " changes what building does";
    } else if (name == "KILN_CPU_FAULT" && !is_off(value)) {
      inputs.cpu_bypass = std::string(name) + " changes what building does";
    } else if (is_one_of(kPlain, name) || is_one_of(kUngatedKeys, key)) {
      add(name, value);
    } else if (debug_keys && is_key(key) && key != kGate) {
      add(name, value);
      if (is_one_of(kOtherCode, key))
        inputs.unknown = std::string(name) + " names code that is not in the key";
    }
  }
  return inputs;
}

bool read_at_first_build(std::string_view field) {
  return field.starts_with(kField) && field.substr(kField.size()).starts_with(kCompiler);
}

}  // namespace kiln::detail
