// SPDX-License-Identifier: MIT
// What a module is made of: the files and build options that `kiln cache explain` and `warm` are given.
#include "tool/cache/inputs.hpp"

#include <algorithm>

#include "bundle/candidates.hpp"
#include "support/digits.hpp"
#include "tool/cache/entries.hpp"

namespace kiln::tool {
namespace {

/// "7=16" or "7=0x10": the id as SPIR-V's SpecId decoration has it, the value as bits.
std::optional<SpecializationConstant> parse_constant(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == text.npos) return std::nullopt;
  const std::string_view value = text.substr(equals + 1);
  const auto id = detail::parse_digits(text.substr(0, equals));
  const auto bits =
      value.starts_with("0x") ? detail::parse_digits(value.substr(2), 16) : detail::parse_digits(value);
  if (!id || !bits || *id > UINT32_MAX) return std::nullopt;
  return SpecializationConstant{static_cast<std::uint32_t>(*id), *bits};
}

Result<KernelFile> read_regular_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const bool other = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
                     !std::filesystem::is_directory(status);
  if (!other) return read_kernel_file(path);
  return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "cache",
                              {"K0201",
                               "kernel file `" + path + "` cannot be read",
                               {{"reason", "it is no regular file"}},
                               {"write the kernel to a file first"}}));
}

}  // namespace

Result<BundleOptions> build_options(const CacheCommand& command) {
  BundleOptions options{command.flags};
  for (const std::string& text : command.constants) {
    const auto constant = parse_constant(text);
    if (!constant)
      return tl::unexpected(cache_usage("`" + text + "` is no value of a specialization constant",
                                        {"give ID=VALUE, the value as bits: 7=16, 7=0x3f800000"}));
    options.constants.push_back(*constant);
  }
  return options;
}

Result<std::vector<KernelFile>> read_inputs(std::span<const std::string> paths) {
  std::vector<KernelFile> files;
  for (const std::string& path : paths) {
    auto file = read_regular_file(path);
    if (!file) return tl::unexpected(std::move(file).error());
    files.push_back(*std::move(file));
  }
  return files;
}

std::optional<CodeToCompile> code_to_compile(const KernelFile& file, const OpenDevice& device) {
  if (identify(file.bytes) == BinaryFormat::spirv) return CodeToCompile{file.bytes};
  const auto list = detail::find_candidates(std::span(&file, 1), device.properties).candidates;
  const auto found = std::ranges::find(list, BinaryFormat::spirv, &detail::Candidate::format);
  if (found == list.end()) return std::nullopt;
  return CodeToCompile{found->code, found->member, found != list.begin()};
}

CacheQuestion question_for(const OpenDevice& device, std::span<const CodeToCompile> codes,
                           const BundleOptions& options) {
  std::vector<ModuleInput> inputs;
  for (const CodeToCompile& code : codes)
    inputs.push_back({ModuleFormat::spirv, code.spirv, options.flags, options.constants});
  return cache_question(device, inputs);
}

std::string module_name(std::span<const std::string> paths) {
  std::string name;
  for (const std::string& path : paths) name += (name.empty() ? "" : " + ") + path;
  return name;
}

}  // namespace kiln::tool
