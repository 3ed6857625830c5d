// SPDX-License-Identifier: MIT
// `kiln inspect`: what kernel files say about their kernels, as a table or as JSON.
#include <algorithm>
#include <cstdio>

#include "kiln/needs.hpp"
#include "tool/check/parts.hpp"
#include "tool/common/output.hpp"
#include "tool/common/session.hpp"
#include "tool/common/table.hpp"
#include "tool/kernel/load.hpp"

namespace kiln::tool {
namespace {

const char* format_text(BinaryFormat format) {
  switch (format) {
    case BinaryFormat::spirv:
      return "spirv";
    case BinaryFormat::elf:
      return "native";
    case BinaryFormat::archive:
      return "fat binary";
    case BinaryFormat::patch_tokens:
      return "patch tokens";
    case BinaryFormat::unknown:
      break;
  }
  return "unknown";
}

const char* kind_text(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::value:
      return "value";
    case ArgumentKind::global_pointer:
      return "global pointer";
    case ArgumentKind::local_pointer:
      return "local pointer";
    case ArgumentKind::image:
      return "image";
    case ArgumentKind::sampler:
      return "sampler";
    case ArgumentKind::other:
      break;
  }
  return "other";
}

std::string target_text(const BinaryPart& part) {
  if (part.name == kCpuMember) return "cpu";
  const ModuleFacts& facts = *part.facts;
  if (facts.ip_version) {
    const std::string_view name = target_name(facts.ip_version);
    return ip_version_text(facts.ip_version) + (name.empty() ? "" : " (" + std::string(name) + ")");
  }
  // Without a version in it a file says its family alone, and its name in a fat binary the product.
  if (const std::string_view family = family_name(facts.product_family); !family.empty() && part.name.empty())
    return std::string(family);
  if (const Target* target = target_of(part)) return std::string(target->name);
  return facts.product_family ? "product family " + std::to_string(facts.product_family) : "";
}

bool is_set(const std::array<std::uint32_t, 3>& size) { return size[0] != 0; }

std::string size_text(const std::array<std::uint32_t, 3>& size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

Json describe(const KernelParameter& parameter) {
  const ArgumentFacts& argument = parameter.facts;
  Json json{{"kind", kind_text(argument.kind)}};
  if (!argument.name.empty()) json["name"] = argument.name;
  if (argument.kind == ArgumentKind::local_pointer)
    json["alignment"] = argument.local_alignment;
  else if (argument.size)
    json["size"] = argument.size;
  if (!parameter.type.empty())
    json["type"] = parameter.type;
  else if (parameter.element)
    json["type"] = type_name(*parameter.element) + (argument.kind == ArgumentKind::value ? "" : "*");
  if (argument.kind == ArgumentKind::global_pointer && json.contains("type"))
    json["access"] = to_string(parameter.access);
  return json;
}

Json describe(const KernelFacts& kernel, BinaryFormat format, const Signature& signature) {
  Json json{{"name", kernel.name}, {"static_slm", kernel.static_slm}};
  const auto or_null = [](bool known, const auto& value) { return known ? Json(value) : nullptr; };
  json["required_group_size"] = or_null(is_set(kernel.required_group_size), kernel.required_group_size);
  json["group_size_hint"] = or_null(is_set(kernel.group_size_hint), kernel.group_size_hint);
  json["required_sub_group_size"] = or_null(kernel.required_sub_group_size, kernel.required_sub_group_size);
  if (format == BinaryFormat::elf) {
    json["slm_mode"] =
        kernel.slm_mode == SlmMode::runtime_adjusted ? "runtime adjusted" : "compiler resolved";
    json["simd_size"] = or_null(kernel.simd_size, kernel.simd_size);
    json["grf_count"] = or_null(kernel.grf_count, kernel.grf_count);
    json["barriers"] = kernel.barrier_count;
    json["private_size"] = kernel.private_size;
    json["spill_size"] = kernel.spill_size;
    json["private_per_thread"] = kernel.private_per_thread;
    json["scratch_per_thread"] = kernel.scratch_per_thread;
    json["has_4gb_buffers"] = kernel.has_4gb_buffers;
    json["needs_sync_buffer"] = kernel.needs_sync_buffer;
    json["has_stack_calls"] = kernel.has_stack_calls;
    json["has_printf"] = kernel.has_printf;
    json["has_global_atomics"] = kernel.has_global_atomics;
    json["is_invalid"] = kernel.is_invalid;
  }
  json["may_follow_pointers"] = kernel.may_follow_pointers;
  json["arguments_known"] = kernel.arguments_known;
  json["arguments"] = Json::array();
  for (const KernelParameter& each : signature.parameters) json["arguments"].push_back(describe(each));
  return json;
}

Json describe(const BinaryPart& part, std::span<const std::byte> code) {
  Json json;
  if (!part.name.empty()) json["member"] = part.name;
  json["format"] = format_text(part.format);
  if (!part.facts) {
    json["error"] = {{"message", part.facts.error().message}, {"offset", part.facts.error().offset}};
    return json;
  }
  const ModuleFacts& facts = *part.facts;
  if (part.format == BinaryFormat::spirv) {
    json["spirv_version"] =
        std::to_string(facts.spirv_version >> 16) + "." + std::to_string(facts.spirv_version >> 8 & 0xff);
    json["capabilities"] = facts.capabilities;
  } else {
    const std::string target = target_text(part);
    json["target"] = target.empty() ? Json() : Json(target);
    json["ip_version"] = facts.ip_version ? Json(ip_version_text(facts.ip_version)) : Json();
    json["ze_info_version"] = facts.info_version;
    json["has_spirv"] = facts.has_ir;
    json["global_data"] = facts.global_data;
    json["constant_data"] = facts.constant_data;
  }
  json["unresolved"] = Json::array();
  for (const MissingSymbol& each : missing_symbols(code))
    json["unresolved"].push_back(
        {{"symbol", each.name}, {"kernel", each.kernel.empty() ? Json() : Json(each.kernel)}});
  json["needs"] = Json::array();
  for (const NeededFeature& each : needed_features(code))
    json["needs"].push_back({{"feature", each.name}, {"kernels", each.kernels}});
  json["kernels"] = Json::array();
  const auto spirv = part.format == BinaryFormat::spirv ? code : embedded_spirv(code);
  for (const KernelFacts& kernel : facts.kernels)
    json["kernels"].push_back(describe(kernel, part.format, signature_of(kernel, spirv)));
  return json;
}

std::string group_text(const KernelFacts& kernel) {
  if (is_set(kernel.required_group_size)) return size_text(kernel.required_group_size);
  return is_set(kernel.group_size_hint) ? "~" + size_text(kernel.group_size_hint) : "any";
}

// How many there are of each kind, and those that ask for SLM: what a caller must know at once.
std::string argument_text(const KernelFacts& kernel) {
  if (!kernel.arguments_known) return "unknown";
  const auto local = std::ranges::count(kernel.arguments, ArgumentKind::local_pointer, &ArgumentFacts::kind);
  return std::to_string(kernel.arguments.size()) + (local ? " (" + std::to_string(local) + " local)" : "");
}

std::string special_text(const KernelFacts& kernel) {
  std::string text;
  const auto add = [&](bool set, const char* word) {
    if (set) text += (text.empty() ? "" : ",") + std::string(word);
  };
  add(kernel.is_invalid, "invalid");
  add(kernel.needs_sync_buffer, "cooperative");
  add(kernel.has_stack_calls, "stack-calls");
  add(kernel.has_printf, "printf");
  add(kernel.has_global_atomics, "atomics");
  return text.empty() ? "-" : text;
}

void print_kernels(const ModuleFacts& facts, BinaryFormat format) {
  std::vector<std::vector<std::string>> rows{{"KERNEL", "SLM", "GROUP", "ARGUMENTS"}};
  const bool native = format == BinaryFormat::elf;
  if (native)
    for (const char* title : {"SIMD", "GRF", "BARRIERS", "PRIVATE", "SCRATCH", "4GB", "SPECIAL"})
      rows[0].emplace_back(title);
  for (const KernelFacts& kernel : facts.kernels) {
    std::vector<std::string> row{kernel.name, std::to_string(kernel.static_slm), group_text(kernel),
                                 argument_text(kernel)};
    if (native) {
      for (const std::uint64_t number :
           {std::uint64_t{kernel.simd_size}, std::uint64_t{kernel.grf_count},
            std::uint64_t{kernel.barrier_count}, kernel.private_per_thread,
            std::max(kernel.scratch_per_thread[0], kernel.scratch_per_thread[1])})
        row.push_back(std::to_string(number));
      row.emplace_back(kernel.has_4gb_buffers ? "yes" : "no");
      row.push_back(special_text(kernel));
    }
    rows.push_back(std::move(row));
  }
  print_table(rows, 1, 4);
}

/// Findings about the module as a whole.
void print_needs(const BinaryPart& part, std::span<const std::byte> code) {
  for (const NeededFeature& each : needed_features(code)) say("    needs %s\n", each.name);
  for (const auto& finding :
       {explain_symbols(missing_symbols(code), part.format), check_info_version(*part.facts, 0)})
    if (finding) say("\n%s", to_text(*finding).c_str());
}

void print_text(const BinaryPart& part, std::span<const std::byte> code) {
  std::string line = part.name.empty() ? "" : part.name + ": ";
  line += format_text(part.format);
  if (part.facts) {
    const ModuleFacts& facts = *part.facts;
    if (part.format == BinaryFormat::spirv) {
      line += " " + std::to_string(facts.spirv_version >> 16) + "." +
              std::to_string(facts.spirv_version >> 8 & 0xff);
    } else {
      if (const std::string target = target_text(part); !target.empty()) line += " for " + target;
      line += ", ze_info " + facts.info_version;
      if (facts.has_ir) line += ", SPIR-V inside";
      if (facts.global_data) line += ", globals " + std::to_string(facts.global_data) + " B";
      if (facts.constant_data) line += ", constants " + std::to_string(facts.constant_data) + " B";
    }
  }
  say("  %s\n", line.c_str());
  if (!part.facts) return;
  print_kernels(*part.facts, part.format);
  print_needs(part, code);
}

}  // namespace

int inspect(const InspectOptions& options) {
  int code = kOk;
  Json list = Json::array();
  const auto report = [&](const Error& error) {
    if (!options.json) std::fflush(stdout), complain("%s", error.text().c_str());
    code = exit_code(error);
  };
  for (const std::string& path : options.files) {
    const auto file = read_kernel_file(path);
    if (!file) {
      report(file.error());
      list.push_back({{"file", path}, {"error", to_json(file.error())}});
      continue;
    }
    Json parts = Json::array();
    if (!options.json) say("%s\n", path.c_str());
    const auto read = read_parts(file->bytes);
    auto codes = codes_of(file->bytes, read);
    codes.resize(read.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      parts.push_back(describe(read[i], codes[i]));
      if (!options.json) print_text(read[i], codes[i]);
      if (!read[i].facts) report(unreadable_part(path, read[i]));
    }
    Json calls = Json::array();
    for (const Signature& each : signatures_of(file->bytes)) {
      if (!each.known) continue;
      const std::string line = call_line(path, each);
      calls.push_back({{"kernel", each.kernel}, {"signature", shown_signature(each)}, {"run", line}});
      if (!options.json) say("  %s\n    %s\n", shown_signature(each).c_str(), line.c_str());
    }
    list.push_back({{"file", path}, {"parts", parts}, {"calls", std::move(calls)}});
  }
  if (options.json) print({{"files", list}});
  return code;
}

}  // namespace kiln::tool
