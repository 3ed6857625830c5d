// SPDX-License-Identifier: MIT
// Makes a module for the device at hand out of several kernel files.
#include <algorithm>
#include <optional>

#include "build/build_source.hpp"
#include "build/registers.hpp"
#include "bundle/build_failure.hpp"
#include "bundle/candidates.hpp"
#include "bundle/file_needs.hpp"
#include "kiln/bundle.hpp"
#include "kiln/log.hpp"
#include "kiln/refusal.hpp"
#include "level_zero/call.hpp"
#include "level_zero/observe.hpp"
#include "level_zero/survey.hpp"

namespace kiln {
namespace {

using detail::Candidate;
using Clock = std::chrono::steady_clock;

/// The build failed, and for what the device lacks? Compilers say it, or nothing at all.
bool is_about(const ModuleBuild& build, const Diagnostic& lacking) {
  if (build.compiler_died) return false;
  const std::string& log = build.log;
  const bool doubles = lacking.message.find("fp64") != lacking.message.npos;
  return log.empty() || (doubles && (log.find("ouble") != log.npos || log.find("fp64") != log.npos));
}

Error feature_failure(const ModuleBuild& build, Diagnostic lacking) {
  if (!build.log.empty()) lacking.rows.push_back({"build log", build.log});
  lacking.answer = {AnsweredBy::driver};
  return Error(build.code(), "zeModuleCreate", std::move(lacking));
}

/// Build options, the cache and isolation are for what is compiled; native code goes to the driver as it is.
detail::CachedBuild build(const OpenDevice& device, const std::string& name,
                          std::span<const ModuleInput> inputs, ModuleFacts facts,
                          const BundleOptions& options, Cache* cache) {
  BuildOptions how{options.isolation};
  how.name = name;
  const auto with = [&](const std::string& flags) {
    std::vector<ModuleInput> given(inputs.begin(), inputs.end());
    for (ModuleInput& each : given) each.flags = flags;
    return given;
  };
  const auto make = [&](const std::string& flags) -> detail::MadeModule {
    return {build_module(device.driver, device.context.get(), device.device, with(flags), how),
            facts,
            {},
            true,
            detail::codes_of(inputs)};
  };
  if (inputs.front().format != ModuleFormat::spirv) return detail::without_cache(make(options.flags), device);
  return detail::build_with_registers(
      cache, device, {options.registers, options.spill_limit}, options.flags,
      [&](const std::string& flags) { return cache_question(device, with(flags)); }, make);
}

ModuleInput input_of(std::span<const std::byte> code, BinaryFormat format, const BundleOptions& options) {
  const bool spirv = format == BinaryFormat::spirv;
  return {spirv ? ModuleFormat::spirv : ModuleFormat::native, code, options.flags,
          spirv ? options.constants : std::vector<SpecializationConstant>()};
}

}  // namespace

Bundle::Bundle(const OpenDevice& device, const BundleOptions& options)
    : compute_(device.compute),
      memory_{device.properties.threads(), detail::memory_of(device.device)},
      home_{device.driver, device.device, UINT64_MAX},
      // On the CPU device addresses have 64 bits, whatever the product's limits.
      largest_allocation_(device.kind == DeviceKind::cpu ? UINT64_MAX : device.properties.largest_allocation),
      flags_(options.flags) {}

void Bundle::take(detail::CachedBuild built, std::string file) {
  code_.module = std::move(built.build.module);
  file_ = std::move(file);
  build_log_ = std::move(built.build.log);
  facts_ = std::move(built.facts);
  if (built.from_cache)
    origin_ = BinaryOrigin::cache;
  else
    origin_ = built.build.compiled ? BinaryOrigin::jit : BinaryOrigin::native;
}

void Bundle::note_registers(const OpenDevice& device, const BundleOptions& options) {
  if (origin_ == BinaryOrigin::native || detail::guards_itself(device.device) ||
      detail::says_registers(options.flags))
    return;
  if (options.registers != Registers::automatic) {
    if (options.registers != Registers::r256 || detail::has_more_registers(device))
      registers_ = options.registers;
    return;
  }
  const bool more = build_log_.starts_with(detail::kRegistersChosen);
  if (more) registers_ = Registers::r256;
  constexpr std::string_view kBegin = "kiln: ";
  if (more || build_log_.starts_with(detail::kRegistersKept))
    register_choice_ = build_log_.substr(kBegin.size(), build_log_.find('\n') - kBegin.size());
}

Result<Bundle> Bundle::load(const OpenDevice& device, std::vector<KernelFile> files,
                            const BundleOptions& options, Cache* cache) {
  return detail::told(Refused::build, load_files(device, std::move(files), options, cache));
}

Result<Bundle> Bundle::link(const OpenDevice& device, std::vector<KernelFile> files,
                            const BundleOptions& options, Cache* cache) {
  return detail::told(Refused::build, link_files(device, std::move(files), options, cache));
}

Result<Bundle> Bundle::load_files(const OpenDevice& device, std::vector<KernelFile> files,
                                  const BundleOptions& options, Cache* cache) {
  Bundle bundle(device, options);
  const std::uint64_t slm = device.compute.slm_per_group;
  std::optional<Error> refusal;  // the most telling one, should nothing serve
  detail::CandidateList list =
      detail::find_candidates(files, device.properties, detail::is_library(options.flags));
  for (const DiagnosticRow& row : list.unread) log(LogLevel::warning, row.label + ": " + row.text);
  bundle.passed_over_ = std::move(list.unread);
  std::ranges::move(list.foreign, std::back_inserter(bundle.passed_over_));
  if (options.only_spirv)
    std::erase_if(list.candidates, [&](const Candidate& candidate) {
      if (candidate.format == BinaryFormat::spirv) return false;
      if (!candidate.by_name)
        bundle.passed_over_.push_back({candidate.name(), "native code, where SPIR-V is asked for"});
      return true;
    });
  // Whether code must not reach the driver does not hang on how it would.
  std::erase_if(list.candidates, [&](const Candidate& candidate) {
    auto hazard = check_module(candidate.facts, bundle.memory_.bytes);
    if (!hazard) return false;
    if (!candidate.by_name) bundle.passed_over_.push_back({candidate.name(), hazard->message});
    if (!refusal)
      refusal = Error(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "zeModuleCreate", *std::move(hazard));
    return true;
  });
  std::erase_if(list.candidates, [&](const Candidate& candidate) {
    auto useless = detail::refuse_native(candidate, options.flags);
    if (!useless) return false;
    if (!candidate.by_name) bundle.passed_over_.push_back({candidate.name(), useless->diagnostic()->message});
    if (!refusal) refusal = std::move(useless);
    return true;
  });
  detail::prefer_known_versions(list.candidates, device.driver);

  for (Candidate& candidate : list.candidates) {
    const bool spirv = candidate.format == BinaryFormat::spirv;
    // A native binary says it for certain, so the driver need not be asked; from SPIR-V the compiler may drop
    // arrays.
    const KernelFacts* over = spirv ? nullptr : static_slm_over_limit(candidate.facts, slm);
    if (over) {
      Diagnostic reason = explain_static_slm(*over, slm);
      if (!candidate.by_name) bundle.passed_over_.push_back({candidate.name(), reason.message});
      if (!refusal)
        refusal = Error(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeModuleCreate", std::move(reason));
      continue;
    }
    std::vector<std::byte> alone;
    if (candidate.by_name) alone = detail::archive_of(candidate);
    const ModuleInput input = input_of(candidate.by_name ? alone : candidate.code, candidate.format, options);
    auto lacking = spirv ? detail::lacking_feature(candidate, device.device) : std::nullopt;
    if (lacking) log(LogLevel::warning, candidate.name() + ": " + lacking->code + ": " + lacking->message);
    const auto start = Clock::now();
    detail::CachedBuild built = build(device, candidate.name(), {&input, 1}, candidate.facts, options, cache);
    bundle.build_time_ = Clock::now() - start;
    if (built.build.code() != ZE_RESULT_SUCCESS) {
      if (built.build.cancelled)  // nor is anything else wanted then
        return tl::unexpected(detail::build_failure(built.build, candidate.name(), candidate.format,
                                                    candidate.facts, device, options));
      if (candidate.by_name) continue;  // it comes again without its name
      const std::string why = "zeModuleCreate gave " + result_name(built.build.code());
      bundle.passed_over_.push_back(
          {candidate.name(), why + (built.build.log.empty() ? "" : ": " + built.build.log)});
      // A native binary for another device is no news.
      if (!refusal && spirv)
        refusal = lacking && is_about(built.build, *lacking)
                      ? feature_failure(built.build, *std::move(lacking))
                      : detail::build_failure(built.build, candidate.name(), candidate.format,
                                              candidate.facts, device, options);
      continue;
    }
    if (auto unlinked = spirv ? detail::refuse_unlinked(built.build.module.get(), built.facts, candidate.code,
                                                        options.flags)
                              : std::nullopt) {
      bundle.passed_over_.push_back({candidate.name(), unlinked->diagnostic()->message});
      if (!refusal) refusal = std::move(unlinked);
      continue;
    }
    if (const auto newer = detail::newer_than(candidate, device.driver))
      log(LogLevel::warning, candidate.name() + ": " + newer->code + ": " + newer->message);
    bundle.take(std::move(built), candidate.file);
    bundle.note_registers(device, options);
    bundle.member_ = candidate.member;
    const bool native = bundle.origin_ == BinaryOrigin::native;
    bundle.fit_ = native ? candidate.fit : BinaryFit::spirv;
    if (native || spirv) bundle.target_ = candidate.target;
    for (const Candidate& other : list.candidates)
      if (&other != &candidate && other.format == BinaryFormat::spirv)
        detail::complete(bundle.facts_, other.facts);
    return bundle;
  }
  if (refusal) return tl::unexpected(*std::move(refusal));
  Diagnostic diagnostic{"K0202", "no kernel file fits the device", {}, {}};
  diagnostic.rows = bundle.passed_over_;
  diagnostic.rows.push_back({"device", device.properties.name});
  diagnostic.help = {"give the SPIR-V too, so that it can be built for this device",
                     device.kind == DeviceKind::cpu
                         ? "or bake object code for the CPU device: `kiln bake --cpu`"
                         : "or compile the kernel for this device: ocloc compile -device …"};
  return tl::unexpected(
      Error(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "zeModuleCreate", std::move(diagnostic)));
}

Result<Bundle> Bundle::link_files(const OpenDevice& device, std::vector<KernelFile> files,
                                  const BundleOptions& options, Cache* cache) {
  Bundle bundle(device, options);
  KernelFile all;  // for messages
  ModuleFacts facts;
  std::vector<ModuleInput> inputs;
  for (const KernelFile& file : files) {
    all.name += (all.name.empty() ? "" : " + ") + file.name;
    const BinaryFormat format = identify(file.bytes);
    inputs.push_back(input_of(file.bytes, format, options));
    if (format != BinaryFormat::spirv) continue;  // refused below
    auto part = read_spirv(file.bytes, SpirvUse::part);
    if (!part) return tl::unexpected(unreadable_part(file.name, {{}, format, std::move(part)}));
    detail::complete(facts, *part);
  }
  const auto start = Clock::now();
  const bool spirv =
      std::ranges::all_of(inputs, [](const auto& each) { return each.format == ModuleFormat::spirv; });
  detail::CachedBuild built;
  if (spirv && !inputs.empty())
    built = build(device, all.name, inputs, facts, options, cache);
  else  // which says why not
    built.build =
        build_module(device.driver, device.context.get(), device.device, inputs, {options.isolation});
  bundle.build_time_ = Clock::now() - start;
  if (built.build.code() != ZE_RESULT_SUCCESS)
    return tl::unexpected(
        detail::build_failure(built.build, all.name, BinaryFormat::spirv, facts, device, options));
  for (const ModuleInput& input : inputs)  // what one of them lacks another may have: the kernels tell
    if (auto unlinked = detail::refuse_unlinked(built.build.module.get(), facts, input.code, options.flags))
      return tl::unexpected(*std::move(unlinked));
  bundle.take(std::move(built), all.name);
  bundle.note_registers(device, options);
  return bundle;
}

}  // namespace kiln
