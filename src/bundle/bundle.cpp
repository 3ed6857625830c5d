// SPDX-License-Identifier: MIT
// Makes a module for the device at hand out of several kernel files.
#include "kiln/bundle.hpp"

#include <algorithm>
#include <optional>

#include "kiln/log.hpp"
#include "kiln/refusal.hpp"
#include "level_zero/call.hpp"
#include "level_zero/survey.hpp"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

const char* format_name(BinaryFormat format) {
  switch (format) {
    case BinaryFormat::spirv:
      return "SPIR-V";
    case BinaryFormat::elf:
      return "native binary";
    case BinaryFormat::archive:
      return "fat binary";
    case BinaryFormat::patch_tokens:
      return "native binary in the old patch-token format";
    case BinaryFormat::unknown:
      break;
  }
  return "neither SPIR-V nor a native binary";
}

/// Facts of a native file; an archive and the old format are left to the driver.
tl::expected<ModuleFacts, BinaryError> read_facts(BinaryFormat format, std::span<const std::byte> bytes) {
  switch (format) {
    case BinaryFormat::spirv:
      return read_spirv(bytes);
    case BinaryFormat::elf:
      return read_zebin(bytes);
    case BinaryFormat::archive:
    case BinaryFormat::patch_tokens:
      return ModuleFacts{};
    case BinaryFormat::unknown:
      break;
  }
  return tl::unexpected(
      BinaryError{bytes.empty() ? "file is empty" : "neither SPIR-V nor a native binary", 0});
}

/// What a native binary leaves out (names and sizes of arguments) the SPIR-V beside it knows.
void complete(ModuleFacts& facts, const ModuleFacts& source) {
  for (const KernelFacts& known : source.kernels) {
    const auto kernel = std::ranges::find(facts.kernels, known.name, &KernelFacts::name);
    if (kernel == facts.kernels.end()) {
      facts.kernels.push_back(known);
      continue;
    }
    if (!known.arguments_known || known.arguments.size() < kernel->arguments.size()) continue;
    const std::size_t have = kernel->arguments.size();
    kernel->arguments.resize(known.arguments.size());
    for (std::size_t i = 0; i < known.arguments.size(); ++i) {
      const std::uint32_t alignment = kernel->arguments[i].local_alignment;
      const bool laid_out = i < have && kernel->arguments[i].kind == ArgumentKind::local_pointer;
      kernel->arguments[i] = known.arguments[i];
      if (laid_out) kernel->arguments[i].local_alignment = alignment;
    }
    kernel->arguments_known = true;
  }
}

Error build_failure(const ModuleBuild& build, const KernelFile& file, BinaryFormat format,
                    const ModuleFacts& facts, const OpenDevice& device) {
  const std::uint64_t slm_per_group = device.compute.slm_per_group;
  const KernelFacts* kernel = static_slm_over_limit(facts, slm_per_group);
  if (kernel && !build.compiler_died)
    return Error(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeModuleCreate",
                 explain_static_slm(*kernel, slm_per_group));
  if (build.compiler_died)
    return Error(build.code, "zeModuleCreate",
                 explain_dead_compiler(file.name, format_name(format), build.log));
  const bool silent = build.log.empty() && build.last_error.empty();
  if (silent && build.code != ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE) {
    const Refusal refusal = detail::survey(build.code, "zeModuleCreate", device.device);
    return Error(build.code, "zeModuleCreate",
                 is_lost(refusal) ? explain_lost_device(refusal)
                                  : explain_silent_build(refusal, file.name, format_name(format)));
  }
  Diagnostic diagnostic{"K0203", "the driver cannot build `" + file.name + "`", {}, {}};
  diagnostic.rows = {{"format", format_name(format)},
                     {"answer", "zeModuleCreate gave " + result_name(build.code)}};
  if (!build.log.empty()) diagnostic.rows.push_back({"build log", build.log});
  if (!build.last_error.empty()) diagnostic.rows.push_back({"driver says", build.last_error});
  diagnostic.help = {
      build.code == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE
          ? "install the compiler library (libigc1 or libigc2), or ship a native binary for this device"
          : "read the build log, and check that the device has what the kernel needs"};
  return Error(build.code, "zeModuleCreate", std::move(diagnostic));
}

struct Candidate {
  const KernelFile* file;
  BinaryFormat format;
  ModuleFacts facts;
};

/// The order of trying. Which native binary fits is the driver's to judge, but one with SPIR-V inside it
/// would rather compile in silence than refuse: where its note names another device it comes last.
int rank(const Candidate& candidate, const OpenDevice& device) {
  if (candidate.format == BinaryFormat::spirv) return 2;
  const std::uint32_t built_for = candidate.facts.ip_version, have = device.properties.ip_version.value_or(0);
  if (built_for == 0 || have == 0) return 1;
  if (built_for == have) return 0;
  return candidate.facts.has_ir && built_for >> 14 != have >> 14 ? 3 : 1;
}

/// The compiled binary knows how SLM is laid out; SPIR-V only how it was declared.
void read_compiled(ModuleRef module, ModuleFacts& facts) {
  const auto binary = module.native_binary();
  if (!binary || identify(*binary) != BinaryFormat::elf) return;
  auto compiled = read_zebin(*binary);
  if (!compiled) return;
  complete(*compiled, facts);
  facts = *std::move(compiled);
}

/// Drivers before 24.45 end the process, when the kernel is made or launched, if that much cannot be
/// allocated.
Result<void> fits_all_threads(const KernelFacts& kernel, const ThreadMemory& memory) {
  auto finding = check_thread_memory(kernel, memory);
  if (finding && finding->severity == Severity::error)
    return tl::unexpected(Error(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeKernelCreate", *std::move(finding)));
  if (finding) log(LogLevel::warning, to_text(*finding));
  return {};
}

}  // namespace

const char* to_string(BinaryOrigin origin) {
  switch (origin) {
    case BinaryOrigin::native:
      return "native";
    case BinaryOrigin::cache:
      return "cache";
    case BinaryOrigin::jit:
      return "jit";
  }
  return "?";
}

Result<Bundle> Bundle::load(const OpenDevice& device, std::vector<KernelFile> files,
                            const BundleOptions& options) {
  Bundle bundle;
  bundle.compute_ = device.compute;
  bundle.home_ = {device.driver, device.device, UINT64_MAX};
  bundle.flags_ = options.flags;
  // On the CPU device addresses have 64 bits, whatever the product's limits.
  bundle.largest_allocation_ =
      device.kind == DeviceKind::cpu ? UINT64_MAX : device.properties.largest_allocation;
  const std::uint64_t memory = detail::memory_of(device.device);
  bundle.memory_ = {device.properties.threads(), memory};
  const std::uint64_t slm = device.compute.slm_per_group;
  std::optional<Error> refusal;  // the most telling one, should nothing serve
  std::vector<Candidate> candidates;
  for (const KernelFile& file : files) {
    const BinaryFormat format = identify(file.bytes);
    auto facts = read_facts(format, file.bytes);
    if (auto hazard = facts ? check_module(*facts, memory) : std::nullopt) {
      bundle.passed_over_.push_back({file.name, hazard->message});
      if (!refusal)
        refusal = Error(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "zeModuleCreate", *std::move(hazard));
    } else if (facts) {
      candidates.push_back({&file, format, *std::move(facts)});
    } else {
      bundle.passed_over_.push_back(
          {file.name, facts.error().message + " (at byte " + std::to_string(facts.error().offset) + ")"});
      log(LogLevel::warning, file.name + ": " + facts.error().message);
    }
  }
  std::ranges::stable_sort(candidates, {},
                           [&](const Candidate& candidate) { return rank(candidate, device); });

  for (Candidate& candidate : candidates) {
    const bool spirv = candidate.format == BinaryFormat::spirv;
    // A native binary says it for certain, so the driver need not be asked; from SPIR-V the compiler may drop
    // arrays.
    const KernelFacts* over = spirv ? nullptr : static_slm_over_limit(candidate.facts, slm);
    if (over) {
      Diagnostic reason = explain_static_slm(*over, slm);
      bundle.passed_over_.push_back({candidate.file->name, reason.message});
      if (!refusal)
        refusal = Error(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeModuleCreate", std::move(reason));
      continue;
    }
    const auto start = Clock::now();
    const ModuleInput input{
        spirv ? ModuleFormat::spirv : ModuleFormat::native, candidate.file->bytes, options.flags, {}};
    ModuleBuild build =
        build_module(device.driver, device.context.get(), device.device, {&input, 1}, {options.isolation});
    bundle.build_time_ = Clock::now() - start;
    if (build.code != ZE_RESULT_SUCCESS) {
      const std::string why = "zeModuleCreate gave " + result_name(build.code);
      bundle.passed_over_.push_back(
          {candidate.file->name, why + (build.log.empty() ? "" : ": " + build.log)});
      // A native binary for another device is no news.
      if (!refusal && spirv)
        refusal = build_failure(build, *candidate.file, candidate.format, candidate.facts, device);
      continue;
    }
    bundle.code_.module = std::move(build.module);
    bundle.file_ = candidate.file->name;
    bundle.build_log_ = std::move(build.log);
    bundle.facts_ = std::move(candidate.facts);
    bundle.origin_ = build.compiled ? BinaryOrigin::jit : BinaryOrigin::native;
    if (bundle.origin_ == BinaryOrigin::jit) read_compiled(bundle.code_.module.get(), bundle.facts_);
    for (const Candidate& other : candidates)
      if (&other != &candidate && other.format == BinaryFormat::spirv) complete(bundle.facts_, other.facts);
    return bundle;
  }
  if (refusal) return tl::unexpected(*std::move(refusal));
  Diagnostic diagnostic{"K0202", "no kernel file fits the device", {}, {}};
  diagnostic.rows = bundle.passed_over_;
  diagnostic.rows.push_back({"device", device.properties.name});
  diagnostic.help = {"give the SPIR-V too, so that it can be built for this device",
                     "or compile the kernel for this device: ocloc compile -device …"};
  return tl::unexpected(
      Error(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "zeModuleCreate", std::move(diagnostic)));
}

Result<CheckedKernel*> Bundle::kernel(const std::string& name) {
  for (const auto& entry : code_.kernels)
    if (entry->checked.facts().name == name) return &entry->checked;
  const KernelFacts* known = facts_.find(name);
  KernelFacts facts;
  if (known) {
    KILN_TRY(fits_all_threads(*known, memory_));
    facts = *known;
  }
  facts.name = name;
  const std::string text_before = home_.driver.last_error_description();
  auto kernel = code_.module->kernel(name.c_str());
  if (!kernel) {
    if (kernel.error().code() != ZE_RESULT_ERROR_INVALID_KERNEL_NAME) {
      Refusal refusal = detail::survey(kernel.error().code(), kernel.error().call(), home_.device);
      if (std::string text = home_.driver.last_error_description(); text != text_before)
        refusal.driver_text = std::move(text);
      return tl::unexpected(detail::explained(std::move(kernel).error(), explain_kernel(refusal, facts)));
    }
    Diagnostic diagnostic{"K0208", "`" + file_ + "` has no kernel `" + name + "`", {}, {}};
    if (const auto names = code_.module->kernel_names())
      for (const std::string& known : *names) diagnostic.rows.push_back({"kernel", known});
    diagnostic.help = {"use one of these names"};
    return tl::unexpected(
        Error(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, "zeKernelCreate", std::move(diagnostic)));
  }
  KernelHome home = home_;
  home.largest_buffer = largest_buffer(facts, flags_, largest_allocation_);
  auto checked = CheckedKernel::create(kernel->get(), std::move(facts), compute_, home);
  KILN_TRY(checked);
  if (!known || known->simd_size == 0) KILN_TRY(fits_all_threads(checked->facts(), memory_));
  code_.kernels.push_back(std::make_unique<Entry>(*std::move(kernel), *std::move(checked)));
  return &code_.kernels.back()->checked;
}

}  // namespace kiln
