// SPDX-License-Identifier: MIT
// Sorts environment variables into inputs of a compilation, requests for side effects, and all others.
#include "identity/variables.hpp"

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

// What stands before the first `_` of all names below, but for the keys that have none.
constexpr std::string_view kFamilies[] = {"IGC", "KILN", "NEO", "ONEAPI", "ZET"};

// Read by the driver without NEOReadDebugKeys: getenv() of 22.43 and 26.27 was listed.
constexpr std::string_view kPlain[] = {"NEO_FP64_EMULATION", "ONEAPI_PVC_SEND_WAR_WA",
                                       "ZET_ENABLE_PROGRAM_DEBUGGING"};
constexpr std::string_view kUngatedKeys[] = {"EnableLEO", "OverrideDefaultFP64Settings"};

// Keys that load other code; what that is, no field tells.
constexpr std::string_view kOtherCode[] = {"IgcLibraryName", "FinalizerLibraryName", "LoadBinarySipFromFile"};

// In drivers 22.43 and 26.27: they need not be looked for.
constexpr std::string_view kKnownKeys[] = {
    "AUBDumpCaptureFileName", "EnableLocalMemory",     "HardwareInfoOverride",
    "PrintDebugMessages",     "ProductFamilyOverride", "SetCommandStreamReceiver",
    "UseAubStream",           "UseBindlessMode",       "UseExternalAllocatorForSshAndDsh"};

// Where a simulated GPU listens, which is another port each time. They shape nothing.
constexpr std::string_view kPlaces[] = {"TbxPort", "TbxServer"};

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

/// Letters and digits.
struct Word {
  std::size_t size = 0;
  bool like_key = false;  ///< shaped as the driver's some 750 keys, such as `Enable64kbpages`
};

// What is hot lies side by side: src/meson.build says why.
/// What `text` begins with. It ends with something else, NUL at the latest.
[[gnu::hot]] Word first_word(const char* text) {
  const auto is_upper = [](char each) { return each >= 'A' && each <= 'Z'; };
  const auto is_lower = [](char each) { return each >= 'a' && each <= 'z'; };
  const auto is_digit = [](char each) { return each >= '0' && each <= '9'; };
  bool has_lower = false;
  const char* end = text;
  for (; is_upper(*end) || is_lower(*end) || is_digit(*end); ++end) has_lower |= is_lower(*end);
  const auto size = static_cast<std::size_t>(end - text);
  return {size, size > 2 && is_upper(*text) && has_lower};
}

/// What has the shape is taken for a key. Behind the name stands the `=` of its variable.
bool is_key(std::string_view name) {
  const Word word = first_word(name.data());
  return word.like_key && word.size == name.size();
}

Variables read(std::span<const std::string> environment) {
  Variables variables;
  for (const std::string& entry : environment) {
    const auto equals = entry.find('=', 1);
    if (equals == entry.npos || !may_shape_code(entry.c_str())) continue;
    const std::string_view name(entry.data(), equals);
    // getenv() finds the first one.
    if (std::ranges::find(variables, name, &Variable::name) == variables.end())
      variables.push_back({name, std::string_view(entry).substr(equals + 1)});
  }
  std::ranges::sort(variables, {}, &Variable::name);
  return variables;
}

bool gate_is_open(const Variables& variables) {
  return std::ranges::any_of(variables, [](const auto& variable) {
    return bare(variable.name) == kGate && std::strtol(std::string(variable.value).c_str(), nullptr, 0) != 0;
  });
}

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  constexpr std::size_t kMostDigits = 20;  // of 64 bits
  return !text.empty() && text.size() <= kMostDigits &&
         text.find_first_not_of(hex ? "0123456789abcdefABCDEF" : "0123456789") == text.npos;
}

std::string stated(std::string_view value) {
  if (value.empty() || is_number(value)) return std::string(value);
  return "sha256:" + digest(std::as_bytes(std::span(value)));
}

/// IGC's keys that write files or text, or read other shaders. `Printf…` is about kernels' printf.
bool has_side_effect(std::string_view key) {
  const auto has = [&](std::string_view part) { return key.find(part) != key.npos; };
  return has("Dump") || has("ShaderOverride") || has("SIPOverride") || has("ShaderDataBase") ||
         (key.starts_with("Print") && !key.starts_with("Printf"));
}

}  // namespace

[[gnu::hot]] bool may_shape_code(const char* variable) {
  const Word word = first_word(variable);
  if (variable[word.size] == '=') return word.like_key;
  return variable[word.size] == '_' && is_one_of(kFamilies, {variable, word.size});
}

EnvironmentInputs environment_inputs(std::span<const std::string> environment) {
  const Variables variables = read(environment);
  const bool debug_keys = gate_is_open(variables);
  EnvironmentInputs inputs;
  inputs.fields.reserve(variables.size());
  const auto add = [](Manifest& fields, std::string_view name, std::string_view value) {
    fields.set({std::string(kField).append(name), stated(value)});
  };
  for (const auto& [name, value] : variables) {
    const std::string_view key = bare(name);
    if (name.starts_with(kCompiler)) {
      if (!has_side_effect(name.substr(kCompiler.size())))
        add(inputs.fields, name, value);
      else if (!is_off(value))
        inputs.bypass = std::string(name) + " asks the compiler for more than a binary";
    } else if (name == "ZET_ENABLE_PROGRAM_INSTRUMENTATION" && !is_off(value)) {
      inputs.bypass = std::string(name) + " changes what building does";
    } else if (name == "KILN_CPU_FAULT" && !is_off(value)) {
      inputs.cpu_bypass = std::string(name) + " changes what building does";
    } else if (is_one_of(kPlain, name) || is_one_of(kUngatedKeys, key)) {
      add(inputs.fields, name, value);
    } else if (debug_keys && is_key(key) && key != kGate && !is_one_of(kPlaces, key)) {
      add(inputs.keys, name, value);
      if (is_one_of(kOtherCode, key))
        inputs.unknown = std::string(name) + " names code that is not in the key";
    }
  }
  return inputs;
}

std::string_view key_of_field(std::string_view field) { return bare(field.substr(kField.size())); }

bool is_known_key(std::string_view key) { return is_one_of(kKnownKeys, key); }

bool read_at_first_build(std::string_view field) {
  return field.starts_with(kField) && field.substr(kField.size()).starts_with(kCompiler);
}

}  // namespace kiln::detail
