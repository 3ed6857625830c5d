// SPDX-License-Identifier: MIT
// Kernel files read, and compiled where native code is missing.
#include "offline/fit/parts.hpp"

#include <algorithm>

#include "offline/parallel.hpp"
#include "product/profile.hpp"

namespace kiln::offline {
namespace {

using Bytes = std::span<const std::byte>;
using Kind = CompileFailure::Kind;

std::string family_name_of(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  return name.substr(0, name.find('.'));
}

/// A driver compiles the SPIR-V inside native code where that is for another product.
void add_inner_spirv(PartSet& set, const std::string& family, const std::string& file,
                     const std::string& member, Bytes code) {
  const bool known = std::ranges::any_of(
      set.parts, [&](const Part& each) { return each.family == family && each.is_spirv(); });
  auto facts = read_spirv(code);
  if (known || !facts) return;
  set.parts.push_back({family, file, {member, BinaryFormat::spirv, std::move(facts)}, code, nullptr, true});
}

void add_parts(PartSet& set, const std::string& family, const std::string& file, Bytes bytes,
               const Target* compiled_for) {
  auto parts = read_parts(bytes);
  const auto codes = codes_of(bytes, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].facts || i >= codes.size()) {
      set.errors.push_back(unreadable_part(file, parts[i]));
      continue;
    }
    const Bytes code = codes[i];
    const bool has_ir = parts[i].format == BinaryFormat::elf && parts[i].facts->has_ir && !compiled_for;
    const std::string member = parts[i].name;
    set.parts.push_back({family, file, std::move(parts[i]), code, compiled_for});
    if (has_ir) add_inner_spirv(set, family, file, member, embedded_spirv(code));
  }
}

Bytes keep(PartSet& set, std::vector<std::byte> bytes) {
  set.bytes.push_back(std::make_unique<const std::vector<std::byte>>(std::move(bytes)));
  return *set.bytes.back();
}

bool has_native(const PartSet& set, const std::string& family, const Target& target,
                const std::string& kernel) {
  return std::ranges::any_of(set.parts, [&](const Part& each) {
    return each.family == family && each.is_for(target) && (kernel.empty() || each.part.facts->find(kernel));
  });
}

struct Job {
  std::string family;
  Compilation compilation;
  const Target* target;
};

std::vector<Job> jobs_of(const PartSet& set, const std::vector<const Target*>& targets,
                         const std::string& options, std::stop_token stop) {
  std::vector<Job> jobs;
  for (const Target* target : targets) {
    const auto add = [&](const std::string& family, const std::string& file, Bytes code,
                         SourceLanguage language) {
      jobs.push_back({family, {file, code, language, std::string(target->name), options, stop}, target});
    };
    for (const OpenClSource& each : set.sources)
      if (!has_native(set, each.family, *target, ""))
        add(each.family, each.file, each.code, SourceLanguage::opencl_c);
    for (const Part& each : set.parts)
      if (each.is_spirv() && std::ranges::any_of(each.part.facts->kernels, [&](const KernelFacts& kernel) {
            return !has_native(set, each.family, *target, kernel.name);
          }))
        add(each.family, each.file, each.code, SourceLanguage::spirv);
  }
  return jobs;
}

/// OpenCL C for which no target gave a binary: SPIR-V where ocloc knows no target, else an error.
void settle_source(PartSet& set, const OpenClSource& source, const std::string& options,
                   std::chrono::milliseconds time_limit) {
  const CompileFailure* worst = nullptr;
  bool unknown_target = false;
  for (const auto& [file, failure] : set.failures) {
    if (file != source.file) continue;
    if (failure.kind == Kind::unknown_target)
      unknown_target = true;
    else if (!worst)
      worst = &failure;
  }
  const bool known =
      std::ranges::any_of(set.parts, [&](const Part& each) { return each.family == source.family; });
  if (worst && !known) {
    if (worst->kind != Kind::interrupted)
      set.errors.emplace_back(ZE_RESULT_ERROR_INVALID_ARGUMENT, "ocloc", worst->diagnostic);
    return;
  }
  if (!unknown_target) return;
  // The target does not show in SPIR-V; any that all releases know will do.
  auto spirv =
      compile_spirv({source.file, source.code, SourceLanguage::opencl_c, "tgllp", options}, time_limit);
  if (spirv)
    add_parts(set, source.family, source.file, keep(set, std::move(spirv->bytes)), nullptr);
  else if (spirv.error().kind != Kind::interrupted)
    set.errors.emplace_back(ZE_RESULT_ERROR_INVALID_ARGUMENT, "ocloc", spirv.error().diagnostic);
}

}  // namespace

std::vector<Bytes> codes_of(Bytes file, const std::vector<BinaryPart>& parts) {
  std::vector<Bytes> codes;
  if (identify(file) != BinaryFormat::archive)
    codes.push_back(file);
  else if (const auto members = read_archive(file))
    for (const ArchiveMember& member : *members) codes.push_back(member.content);
  for (std::size_t i = 0; i < std::min(codes.size(), parts.size()); ++i)  // a fat binary wraps its SPIR-V
    if (parts[i].format == BinaryFormat::spirv && identify(codes[i]) != BinaryFormat::spirv)
      codes[i] = embedded_spirv(codes[i]);
  return codes;
}

bool Part::is_for(const Target& target) const {
  if (compiled_for) return compiled_for == &target;
  if (part.format != BinaryFormat::elf) return false;
  if (target_of(part) == &target) return true;
  const std::string_view product = family_name(part.facts->product_family);  // its members are not told apart
  return !part.facts->ip_version && part.name.empty() && !product.empty() && target.name.starts_with(product);
}

const CompileFailure* PartSet::failure(const std::string& file, const Target& target) const {
  for (const auto& [name, failure] : failures)
    if (name == file && failure.target == target.name) return &failure;
  return nullptr;
}

void add_file(PartSet& set, KernelFile file) {
  const Bytes bytes = keep(set, std::move(file.bytes));
  if (file.name.ends_with(".cl"))
    set.sources.push_back({family_name_of(file.name), file.name, bytes});
  else
    add_parts(set, family_name_of(file.name), file.name, bytes, nullptr);
}

PartSet read_files(const std::vector<std::string>& files) {
  PartSet set;
  for (const std::string& path : files) {
    auto file = read_kernel_file(path);
    if (file)
      add_file(set, {path, std::move(file->bytes)});
    else
      set.errors.push_back(file.error());
  }
  return set;
}

void compile_missing(PartSet& set, const std::vector<const Target*>& targets, const std::string& options,
                     std::chrono::milliseconds time_limit, const LongWork& work) {
  const auto jobs = jobs_of(set, targets, options, work.stop);
  std::vector<std::optional<Compiled>> results(jobs.size());
  in_parallel(jobs.size(), 0, work,
              [&](std::size_t i) { results[i] = compile_native_checked(jobs[i].compilation, time_limit); });
  if (work.stop.stop_requested()) return;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (*results[i])
      add_parts(set, jobs[i].family, jobs[i].compilation.file, keep(set, std::move((*results[i])->bytes)),
                jobs[i].target);
    else
      set.failures.emplace_back(jobs[i].compilation.file, std::move(*results[i]).error());
  }
  for (const OpenClSource& source : set.sources) settle_source(set, source, options, time_limit);
}

std::vector<const Target*> default_targets(const PartSet& set) {
  std::vector<const Target*> found;
  for (const Part& each : set.parts)
    if (each.part.format == BinaryFormat::elf)
      if (const Target* target = target_of(each.part);
          target && std::ranges::find(found, target) == found.end())
        found.push_back(target);
  if (found.empty())
    for (const std::string_view name : product::kProfileNames) found.push_back(find_target(name));
  return found;
}

}  // namespace kiln::offline
