// SPDX-License-Identifier: MIT
// Asks the driver only where the file alone does not say it.
#include "bundle/file_needs.hpp"

#include <algorithm>

#include "build/build_source.hpp"

namespace kiln::detail {
namespace {

std::uint32_t decoder_of(DriverRef driver) {
  const auto version = driver.version();
  return version ? decoder_minor_version(*version) : 0;
}

}  // namespace

std::optional<Error> refuse_native(const Candidate& candidate, const std::string& flags) {
  if (candidate.format != BinaryFormat::elf) return std::nullopt;
  if (auto unread = check_info_version(candidate.facts, 0))
    return Error(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "zeModuleCreate", *std::move(unread));
  if (is_library(flags) || is_library(embedded_options(candidate.code))) return std::nullopt;
  if (auto missing = explain_symbols(missing_symbols(candidate.code), candidate.format))
    return Error(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED, "zeKernelCreate", *std::move(missing));
  return std::nullopt;
}

std::optional<Diagnostic> newer_than(const Candidate& candidate, DriverRef driver) {
  if (candidate.format != BinaryFormat::elf || candidate.target == "cpu") return std::nullopt;
  return check_info_version(candidate.facts, decoder_of(driver));
}

void prefer_known_versions(std::vector<Candidate>& candidates, DriverRef driver) {
  const bool has_spirv = std::ranges::count(candidates, BinaryFormat::spirv, &Candidate::format) != 0;
  if (!has_spirv || candidates.size() < 2) return;
  const std::uint32_t decoder = decoder_of(driver);
  if (decoder == 0) return;
  // Not the one of std::ranges: clang 14 refuses the subrange that it gives back.
  std::stable_partition(candidates.begin(), candidates.end(), [&](const Candidate& each) {
    return each.format != BinaryFormat::elf || !check_info_version(each.facts, decoder);
  });
}

std::optional<Diagnostic> lacking_feature(const Candidate& candidate, DeviceRef device) {
  const auto needed = needed_features(candidate.code);
  if (needed.empty()) return std::nullopt;
  const auto properties = device.module_properties();
  if (!properties) return std::nullopt;
  return check_features(needed, {properties->fp64, true, properties->int64_atomics});
}

std::optional<Error> refuse_unlinked(ModuleRef module, const ModuleFacts& facts,
                                     std::span<const std::byte> spirv, const std::string& flags) {
  if (facts.kernels.empty() || is_library(flags)) return std::nullopt;
  const auto missing = missing_symbols(spirv);
  if (missing.empty()) return std::nullopt;
  // Whether the compiler knew them shows in the first kernel: without one symbol the driver makes none.
  const auto kernel = module.kernel(facts.kernels.front().name.c_str());
  if (kernel || kernel.error().code() != ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED) return std::nullopt;
  return Error(kernel.error().code(), kernel.error().call(), explain_unlinked(missing));
}

}  // namespace kiln::detail
