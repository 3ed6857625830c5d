// SPDX-License-Identifier: MIT
// Reads recipes from manifests, and makes them again.
#include "tool/cache/rewarm/recipe.hpp"

#include "build/build_source.hpp"
#include "support/digits.hpp"

namespace kiln::tool {
namespace {

/// "3=0x10 7=0x1", as src/build/subject.cpp writes it.
std::optional<std::vector<SpecializationConstant>> read_constants(std::string_view text) {
  std::vector<SpecializationConstant> constants;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const auto equals = one.find("=0x");
    if (equals == one.npos) return std::nullopt;
    const auto id = detail::parse_digits(one.substr(0, equals));
    const auto bits = detail::parse_digits(one.substr(equals + 3), 16);
    if (!id || !bits || *id > UINT32_MAX) return std::nullopt;
    constants.push_back({static_cast<std::uint32_t>(*id), *bits});
  }
  return constants;
}

/// "automatic above 64 B", as src/build/registers.cpp writes it.
std::optional<detail::RegisterPolicy> read_registers(std::string_view text) {
  constexpr std::string_view kBegin = "automatic above ", kEnd = " B";
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd)) return std::nullopt;
  const auto limit =
      detail::parse_digits(text.substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size()));
  if (!limit || *limit > UINT32_MAX) return std::nullopt;
  return detail::RegisterPolicy{Registers::automatic, static_cast<std::uint32_t>(*limit)};
}

std::optional<Recipe::Input> read_input(const Manifest& manifest, const std::string& name) {
  const std::string* const digest = manifest.find(name + "digest");
  const std::string* const format = manifest.find(name + "format");
  const std::string* const flags = manifest.find(name + "flags");
  const std::string* const constants = manifest.find(name + "constants");
  if (!digest || !format || !flags || (*format != "spirv" && *format != "opencl_c")) return std::nullopt;
  Recipe::Input input{*digest, *format == "opencl_c", *flags};
  if (constants) {
    auto read = read_constants(*constants);
    if (!read) return std::nullopt;
    input.constants = *std::move(read);
  }
  return input;
}

std::vector<ModuleInput> with_codes(const Recipe& recipe, const Recipe::Codes& codes) {
  std::vector<ModuleInput> inputs;
  for (std::size_t i = 0; i < codes.size(); ++i)
    inputs.push_back({ModuleFormat::spirv, codes[i], recipe.inputs[i].flags, recipe.inputs[i].constants});
  return inputs;
}

/// Without the zero behind it, which is kept with it and which compilers get anew.
detail::SourceText text_of(const std::vector<std::byte>& code) {
  std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  if (text.ends_with('\0')) text.remove_suffix(1);
  return {std::string(text), {}, {}};
}

}  // namespace

std::optional<Recipe> recipe_of(const Manifest& manifest) {
  const std::string* const count = manifest.find("inputs");
  const auto inputs = count ? detail::parse_digits(*count) : std::nullopt;
  constexpr std::uint64_t kMost = 1 << 16;
  if (!inputs || *inputs == 0 || *inputs > kMost) return std::nullopt;
  Recipe recipe;
  for (std::uint64_t i = 0; i < *inputs; ++i) {
    auto input = read_input(manifest, "input." + std::to_string(i) + ".");
    // One text alone is compiled, and modules that are linked have their flags from one call.
    if (!input || (input->source && (*inputs != 1 || !input->constants.empty()))) return std::nullopt;
    if (i != 0 && input->flags != recipe.inputs.front().flags) return std::nullopt;
    recipe.inputs.push_back(*std::move(input));
  }
  if (const std::string* const registers = manifest.find("registers")) {
    const auto policy = read_registers(*registers);
    if (!policy) return std::nullopt;
    recipe.registers = *policy;
  }
  for (const ManifestField& field : manifest.fields())
    if (field.name.starts_with("input") || field.name == "path" || field.name == "registers")
      recipe.text += field.name + '=' + field.value + '\n';
  return recipe;
}

CacheQuestion Recipe::question(const OpenDevice& device, const Codes& codes) const {
  CacheQuestion asked = inputs.front().source
                            ? detail::source_question(device, text_of(codes.front()), inputs.front().flags)
                            : cache_question(device, with_codes(*this, codes));
  if (auto field = detail::registers_field(device, registers, inputs.front().flags))
    asked.manifest.set(*std::move(field));
  return asked;
}

detail::CachedBuild Recipe::make(Cache& cache, const OpenDevice& device, const Codes& codes) const {
  const std::string& flags = inputs.front().flags;
  BuildOptions how;
  how.name = inputs.front().digest.substr(0, 12);
  if (inputs.front().source)
    return detail::build_source(&cache, device, text_of(codes.front()), flags, how, registers).built;
  ModuleFacts facts;
  const SpirvUse use = codes.size() == 1 ? SpirvUse::whole : SpirvUse::part;
  for (const std::vector<std::byte>& code : codes)
    if (const auto part = read_spirv(code, use)) detail::complete(facts, *part);
  const std::vector<ModuleInput> given = with_codes(*this, codes);
  const auto with = [&](const std::string& other) {
    std::vector<ModuleInput> changed = given;
    for (ModuleInput& each : changed) each.flags = other;
    return changed;
  };
  return detail::build_with_registers(
      &cache, device, registers, flags,
      [&](const std::string& other) { return cache_question(device, with(other)); },
      [&](const std::string& other) -> detail::MadeModule {
        return {build_module(device.driver, device.context.get(), device.device, with(other), how),
                facts,
                {},
                true,
                detail::codes_of(given)};
      });
}

}  // namespace kiln::tool
