// SPDX-License-Identifier: MIT
// From files to analyzed kernels.
#include "tool/analyze/kernels.hpp"

#include <algorithm>

#include "binary/native_sections.hpp"
#include "kiln/target.hpp"
#include "tool/analyze/decode.hpp"

namespace kiln::tool {
namespace {

using Failure = offline::CompileFailure::Kind;

constexpr std::uint64_t kDefaultGroup = 256;  // work-items

std::string what_of(const AnalyzedKernel& kernel) {
  return "kernel `" + kernel.facts.name + "` of `" + kernel.file + "`";
}

/// A kernel and where its code and lines are.
struct Found {
  AnalyzedKernel kernel;
  std::span<const std::byte> code, binary;
  std::string section;
};

std::vector<Found> find_kernels(const PartSet& set, const AnalyzeRequest& request) {
  std::vector<Found> found;
  for (const Part& part : set.parts) {
    if (part.part.format != BinaryFormat::elf || part.part.name == kCpuMember) continue;
    const Target* target = part.compiled_for ? part.compiled_for : target_of(part.part);
    const auto& wanted = request.targets;
    if (!target || (!wanted.empty() &&
                    std::ranges::none_of(wanted, [&](const Target* each) { return part.is_for(*each); })))
      continue;
    const auto sections = detail::native_sections(part.code);
    for (const KernelFacts& facts : part.part.facts->kernels) {
      const std::string name = ".text." + facts.name;
      const auto section = std::ranges::find(sections, std::string_view(name), &detail::NativeSection::name);
      if (section == sections.end() || (!request.kernel.empty() && facts.name != request.kernel)) continue;
      Found each;
      each.kernel.file = part.file;
      each.kernel.target = target;
      each.kernel.facts = facts;
      each.code = section->content;
      each.binary = part.code;
      each.section = name;
      found.push_back(std::move(each));
    }
  }
  return found;
}

void add_lines(AnalyzedKernel& kernel, const xe::LineTable& table) {
  // ocloc was given a copy of OpenCL C by this name.
  const auto shown = [&](const std::string& name) {
    return kernel.file.ends_with(".cl") && name.ends_with("source.cl") ? kernel.file : name;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, LineCost> costs;
  for (const xe::Instruction& each : kernel.instructions) {
    const xe::SourceLine* line = table.find(each.offset);
    if (!line) continue;
    LineCost& cost = costs[{line->file, line->line}];
    cost.file = shown(table.files[line->file]);
    cost.line = line->line;
    ++cost.instructions;
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

}  // namespace

std::uint32_t register_bytes(const Target& target) {
  return target_limits(target).generation >= Generation::xe_hpc ? 64 : 32;
}

Diagnostic nothing_native(const std::string& file, const std::string& kernel) {
  return {"K0442",
          "`" + file + "` has no native code to analyze" +
              (kernel.empty() ? "" : " of a kernel `" + kernel + "`"),
          {},
          {"give OpenCL C, SPIR-V or what `kiln bake` or ocloc wrote; `kiln inspect` shows what is in a file",
           "name the product with --target where the file does not say it"}};
}

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
  std::vector<Found> found = find_kernels(set, request);
  for (const auto& [name, failure] : set.failures)
    if ((found.empty() || failure.kind != Failure::unknown_target) && failure.kind != Failure::interrupted &&
        analysis.errors.empty())
      analysis.errors.push_back(refused(failure.diagnostic));
  if (found.empty() && analysis.errors.empty())
    analysis.errors.push_back(refused(nothing_native(file, request.kernel)));
  std::vector<Code> codes;
  for (const Found& each : found) codes.push_back({each.code, xe::instruction_set(*each.kernel.target)});
  auto texts = disassemble(codes, request.time_limit);
  for (std::size_t i = 0; i < found.size(); ++i) {
    AnalyzedKernel& kernel = found[i].kernel;
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
    const auto instructions = xe::read_instructions(*texts[i], found[i].code.size());
    if (!instructions) {
      fail(instructions.error());
      continue;
    }
    const auto kept = xe::without_padding(*instructions);
    kernel.instructions.assign(kept.begin(), kept.end());
    kernel.text = std::move(*texts[i]);
    kernel.code = xe::analyze(kernel.instructions, register_bytes(*kernel.target));
    add_lines(kernel, xe::read_lines(found[i].binary, found[i].section));
    add_occupancy(kernel, request.launch);
    analysis.kernels.push_back(std::move(kernel));
  }
  return analysis;
}

}  // namespace kiln::tool
