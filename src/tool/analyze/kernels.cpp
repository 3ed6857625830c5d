// SPDX-License-Identifier: MIT
// From files to analyzed kernels.
#include "tool/analyze/kernels.hpp"

#include <algorithm>
#include <set>

#include "binary/native_sections.hpp"
#include "kiln/target.hpp"
#include "support/nearest.hpp"
#include "support/process.hpp"
#include "tool/analyze/decode.hpp"

namespace kiln::tool {
namespace {

using Failure = offline::CompileFailure::Kind;

constexpr std::uint64_t kDefaultGroup = 256;        // work-items
constexpr std::uint64_t kMostCode = 8 << 20;        // bytes of one kernel
constexpr std::uint64_t kCodeOfOneChild = 4 << 20;  // bytes, whose text is held at once

Error refused_code(const std::string& what, std::string reason) {
  return Error(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "libiga64",
               xe::NoText{xe::NoText::Kind::undecodable, std::move(reason)}.diagnostic(what));
}

std::string what_of(const AnalyzedKernel& kernel) {
  return "kernel `" + kernel.facts.name + "` of `" + kernel.file + "`";
}

/// A kernel and where its code and lines are.
struct Found {
  AnalyzedKernel kernel;
  std::span<const std::byte> code, binary;
  std::string section;
  const Part* part = nullptr;
};

/// Is there a kernel that the product takes?
bool has_code_for(const std::vector<Found>& found, const Target& target) {
  return std::ranges::any_of(found, [&](const Found& each) { return each.part->is_for(target); });
}

/// Why the code of a part cannot be taken kernel by kernel; empty: it can. What lies over each other, or is
/// named again and again, would be decoded without end.
std::string damage_of(const Part& part, const std::map<std::string_view, std::span<const std::byte>>& codes) {
  std::set<std::string_view> names;
  std::uint64_t all = 0;
  for (const KernelFacts& facts : part.part.facts->kernels) {
    if (!names.insert(facts.name).second) return "it describes kernel `" + facts.name + "` more than once";
    const auto code = codes.find(facts.name);
    if (code != codes.end()) all += code->second.size();
    if (all > part.code.size()) return "the code of its kernels lies over each other";
  }
  return {};
}

std::vector<Found> find_kernels(const PartSet& set, const AnalyzeRequest& request,
                                std::vector<Error>& errors) {
  constexpr std::string_view kPrefix = ".text.";
  std::vector<Found> found;
  for (const Part& part : set.parts) {
    if (part.part.format != BinaryFormat::elf || part.part.name == kCpuMember) continue;
    const Target* target = part.compiled_for ? part.compiled_for : target_of(part.part);
    const auto& wanted = request.targets;
    if (!target || (!wanted.empty() &&
                    std::ranges::none_of(wanted, [&](const Target* each) { return part.is_for(*each); })))
      continue;
    std::map<std::string_view, std::span<const std::byte>> codes;  // by kernel
    for (const auto& section : detail::native_sections(part.code))
      if (section.name.starts_with(kPrefix))
        codes.emplace(section.name.substr(kPrefix.size()), section.content);
    if (std::string damage = damage_of(part, codes); !damage.empty()) {
      errors.push_back(refused_code("`" + part.file + "`", std::move(damage)));
      continue;
    }
    for (const KernelFacts& facts : part.part.facts->kernels) {
      const auto code = codes.find(facts.name);
      if (code == codes.end() || (!request.kernel.empty() && facts.name != request.kernel)) continue;
      Found each;
      each.kernel.file = part.file;
      each.kernel.target = target;
      each.kernel.facts = facts;
      each.code = code->second;
      each.binary = part.code;
      each.section = std::string(kPrefix) + facts.name;
      each.part = &part;
      if (each.code.size() > kMostCode)
        errors.push_back(refused_code(what_of(each.kernel), "it has more than 8 MiB of it"));
      else
        found.push_back(std::move(each));
    }
  }
  return found;
}

void add_lines(AnalyzedKernel& kernel, std::span<const xe::Instruction> instructions,
               const xe::LineTables& tables, const std::string& section) {
  // ocloc was given a copy of OpenCL C by this name.
  const auto shown = [&](const std::string& name) {
    return kernel.file.ends_with(".cl") && name.ends_with("source.cl") ? kernel.file : name;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, LineCost> costs;
  for (const xe::Instruction& each : instructions) {
    const xe::SourceLine* line = tables.find(section, each.offset);
    if (!kernel.text.empty())
      kernel.places.push_back(line ? InstructionLine{shown(tables.files[line->file]), line->line}
                                   : InstructionLine{});
    if (!line) continue;
    LineCost& cost = costs[{line->file, line->line}];
    if (cost.instructions++ == 0) cost.file = shown(tables.files[line->file]);
    cost.line = line->line;
    cost.messages += each.is_send() ? 1 : 0;
  }
  for (auto& [place, cost] : costs) kernel.lines.push_back(std::move(cost));
}

void add_occupancy(AnalyzedKernel& kernel, const CheckRequest& launch) {
  const KernelRequest request = launch.of(kernel.facts);
  const auto& required = kernel.facts.required_group_size;
  const auto& hint = kernel.facts.group_size_hint;
  const auto count = [](const auto& size) { return std::uint64_t{size[0]} * size[1] * size[2]; };
  const std::uint64_t most = max_group_size(kernel.facts, target_limits(*kernel.target));
  if (required[0] != 0)
    kernel.group = count(required);
  else if (request.group_size)
    kernel.group = std::uint64_t{request.group_size->x} * request.group_size->y * request.group_size->z;
  else
    kernel.group = hint[0] != 0 ? count(hint) : std::min(kDefaultGroup, most);
  std::vector<LaunchArgument> arguments;
  for (std::size_t i = 0; i < kernel.facts.arguments.size(); ++i) {
    const bool local = kernel.facts.arguments[i].kind == ArgumentKind::local_pointer;
    const std::uint64_t bytes = local && i < request.local_bytes.size() ? request.local_bytes[i] : 0;
    if (local && bytes == 0) kernel.slm_known = false;
    arguments.push_back({kernel.facts.arguments[i].kind, local ? bytes : kernel.facts.arguments[i].size});
  }
  kernel.slm = total_slm(kernel.facts, arguments);
  kernel.occupancy = occupancy(kernel.facts, core_limits(*kernel.target), kernel.group, kernel.slm);
}

/// Those whose codes one child decodes.
std::span<Found> take_batch(std::span<Found>& left) {
  std::size_t count = 0;
  for (std::uint64_t bytes = 0; count < left.size(); ++count) {
    bytes += left[count].code.size();
    if (count > 0 && bytes > kCodeOfOneChild) break;
  }
  const auto batch = left.first(count);
  left = left.subspan(count);
  return batch;
}

/// Products that were named and could not be compiled for are told; of those that were chosen for want of a
/// name, the first failure, when there is no other.
void add_failures(const PartSet& set, const AnalyzeRequest& request, bool is_any_found, Analysis& to) {
  const bool named = !request.targets.empty();
  for (const auto& [name, failure] : set.failures) {
    if (failure.kind == Failure::interrupted) continue;
    const Error error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln", failure.diagnostic);
    const bool is_told = std::ranges::any_of(to.errors, [&](const Error& each) {
      return each.diagnostic() && to_text(*each.diagnostic()) == to_text(failure.diagnostic);
    });
    const bool tells =
        named || (to.errors.empty() && (!is_any_found || failure.kind != Failure::unknown_target));
    if (tells && !is_told) to.errors.push_back(error);
  }
}

}  // namespace

std::uint32_t register_bytes(const Target& target) {
  return target_limits(target).generation >= Generation::xe_hpc ? 64 : 32;
}

Diagnostic nothing_native(const std::string& file, const std::string& kernel, const Target* target) {
  return {"K0442",
          "`" + file + "` has no native code to analyze" +
              (kernel.empty() ? "" : " of a kernel `" + kernel + "`") +
              (target ? " for " + std::string(target->name) : ""),
          {},
          {"give OpenCL C, SPIR-V or what `kiln bake` or ocloc wrote; `kiln inspect` shows what is in a file",
           "name the product with --target where the file does not say it"}};
}

Diagnostic not_among(const std::string& file, const std::string& kernel,
                     const std::vector<std::string>& names) {
  Diagnostic diagnostic{
      "K0442", "`" + file + "` has no kernel `" + kernel + "`", {}, detail::did_you_mean(kernel, names)};
  for (const std::string& each : names) diagnostic.rows.push_back({"kernel", each});
  return diagnostic;
}

namespace {

/// Of native code, for whatever product.
std::vector<std::string> native_kernels(const PartSet& set) {
  std::vector<std::string> names;
  for (const Part& part : set.parts)
    if (part.part.format == BinaryFormat::elf && part.part.facts)
      for (const KernelFacts& each : part.part.facts->kernels)
        if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
  return names;
}

}  // namespace

Analysis analyze_file(const std::string& file, const std::string& flags, const AnalyzeRequest& request) {
  Analysis analysis;
  PartSet set = read_files({file});
  const auto refused = [](Diagnostic diagnostic) {
    return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "kiln", std::move(diagnostic));
  };
  const bool has_native =
      std::ranges::any_of(set.parts, [](const Part& each) { return each.part.format == BinaryFormat::elf; });
  // Native code is taken as it is, and compiled for what it is not for only when asked to.
  if (set.errors.empty() && (!has_native || !request.targets.empty()))
    compile_missing(set, request.targets.empty() ? default_targets(set) : request.targets, flags,
                    request.time_limit);
  for (const Error& error : set.errors) analysis.errors.push_back(error);
  const std::vector<std::string> names = native_kernels(set);
  if (!request.kernel.empty() && !names.empty() && std::ranges::find(names, request.kernel) == names.end()) {
    analysis.errors.push_back(refused(not_among(file, request.kernel, names)));
    return analysis;
  }
  std::vector<Error> damaged;
  std::vector<Found> found = find_kernels(set, request, damaged);
  const std::size_t damaged_parts = damaged.size();
  add_failures(set, request, !found.empty(), analysis);
  for (Error& error : damaged) analysis.errors.push_back(std::move(error));
  if (found.empty() && analysis.errors.empty())
    analysis.errors.push_back(refused(nothing_native(file, request.kernel)));
  else if (set.failures.empty() && damaged_parts == 0)  // else the reason is told
    for (const Target* target : request.targets)
      if (!has_code_for(found, *target))
        analysis.errors.push_back(refused(nothing_native(file, request.kernel, target)));
  std::map<const std::byte*, xe::LineTables> lines;  // by binary
  for (std::span<Found> left = found; !left.empty() && !InterruptGuard::interrupted();) {
    const std::span<Found> batch = take_batch(left);
    std::vector<Code> codes;
    for (const Found& each : batch) codes.push_back({each.code, xe::instruction_set(*each.kernel.target)});
    auto texts = disassemble(codes, request.time_limit);
    for (std::size_t i = 0; i < batch.size() && !InterruptGuard::interrupted(); ++i) {
      AnalyzedKernel& kernel = batch[i].kernel;
      const auto fail = [&](const xe::NoText& why) {
        const bool is_library =
            why.kind == xe::NoText::Kind::no_library || why.kind == xe::NoText::Kind::not_the_library;
        const Error error(
            is_library ? ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE : ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
            "libiga64", why.diagnostic(what_of(kernel)));
        if (analysis.errors.empty() || !is_library) analysis.errors.push_back(error);  // once is enough
      };
      if (!texts[i]) {
        fail(texts[i].error());
        continue;
      }
      const auto read = xe::read_instructions(*texts[i], batch[i].code.size());
      if (!read) {
        fail(read.error());
        continue;
      }
      if (request.keep_text) kernel.text = std::move(*texts[i]);
      texts[i] = std::string();
      const auto instructions = xe::without_padding(*read);
      if (request.keep_text) kernel.instructions.assign(instructions.begin(), instructions.end());
      kernel.code = xe::analyze(instructions, register_bytes(*kernel.target));
      const auto [tables, is_new] = lines.try_emplace(batch[i].binary.data());
      if (is_new) tables->second = xe::read_lines(batch[i].binary);
      add_lines(kernel, instructions, tables->second, batch[i].section);
      add_occupancy(kernel, request.launch);
      analysis.kernels.push_back(std::move(kernel));
    }
  }
  return analysis;
}

}  // namespace kiln::tool
