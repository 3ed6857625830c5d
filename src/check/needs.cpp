// SPDX-License-Identifier: MIT
// Holds what a file takes for granted against what there is.
#include "kiln/needs.hpp"

#include <algorithm>
#include <iterator>

#include "binary/info_version.hpp"
#include "kiln/result.hpp"
#include "kiln/target.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMostRows = 8;

/// May a compiler define it? OpenCL's own functions are mangled, those between compiler and library begin
/// with an underscore or with their maker's name.
bool may_be_known(std::string_view symbol) {
  return symbol.starts_with('_') || symbol.starts_with("intel_") || symbol.starts_with("llvm.") ||
         symbol == "printf";
}

Diagnostic describe(std::span<const MissingSymbol> missing, std::string message) {
  Diagnostic diagnostic{"K0130", std::move(message), {}, {}};
  for (const MissingSymbol& each : missing.first(std::min(missing.size(), kMostRows)))
    diagnostic.rows.push_back({"unresolved", "`" + each.name + "`, used by " +
                                                 (each.kernel.empty() ? "a function or data of the module"
                                                                      : "kernel `" + each.kernel + "`")});
  if (missing.size() > kMostRows) diagnostic.rows.push_back({"and more", {}, missing.size() - kMostRows});
  diagnostic.help = {
      "look for a misspelt function, and for one that OpenCL C has for other types alone: a name that is "
      "declared and nowhere defined is left to the linker",
      "or link what defines it: `kiln bake` and Bundle::link() take several files"};
  return diagnostic;
}

std::string names_of(std::span<const MissingSymbol> missing) {
  std::string names;
  for (const MissingSymbol& each : missing)
    if (const std::string name = "`" + each.name + "`"; names.find(name) == names.npos && names.size() < 200)
      names += (names.empty() ? "" : ", ") + name;
  return names;
}

std::string joined(const std::vector<std::string>& kernels) {
  std::string text;
  for (const std::string& kernel : kernels) text += (text.empty() ? "`" : ", `") + kernel + "`";
  return text;
}

struct Decoder {
  std::uint32_t build, minor;
};
// First releases with that decoder, of those that were looked at: 22.43, 23.13, 23.30, 24.05, 25.27, 25.35,
// 25.44, 26.14, 26.18, 26.27.
constexpr Decoder kDecoders[] = {{24595, 20}, {26032, 26}, {26918, 32}, {28454, 39}, {34303, 54},
                                 {35096, 59}, {36015, 61}, {37833, 67}, {38308, 68}, {39122, 73}};

}  // namespace

std::optional<Diagnostic> explain_symbols(std::span<const MissingSymbol> missing, BinaryFormat format) {
  if (missing.empty()) return std::nullopt;
  const bool native = format == BinaryFormat::elf;
  const bool certain = native || std::ranges::any_of(missing, [](const MissingSymbol& each) {
                         return !may_be_known(each.name);
                       });
  Diagnostic diagnostic =
      describe(missing, certain ? names_of(missing) +
                                      " is defined nowhere: drivers refuse every kernel of the "
                                      "module, also those that do not use it"
                                : names_of(missing) +
                                      " is not defined in the SPIR-V, and the compiler may not "
                                      "know it");
  if (certain)
    diagnostic.answer = {AnsweredBy::before_driver, ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED,
                         "zeKernelCreate"};
  else
    diagnostic.severity = Severity::warning;
  return diagnostic;
}

Diagnostic explain_unlinked(std::span<const MissingSymbol> missing) {
  Diagnostic diagnostic =
      describe(missing, missing.empty()
                            ? "the module uses a function that is defined nowhere: the driver refuses all of "
                              "its kernels"
                            : names_of(missing) +
                                  " is defined nowhere: the driver refuses every kernel of the "
                                  "module, also those that do not use it");
  diagnostic.answer = {AnsweredBy::driver, ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED, "zeKernelCreate"};
  return diagnostic;
}

std::optional<Diagnostic> check_info_version(const ModuleFacts& module, std::uint32_t decoder_minor) {
  const auto version = detail::parse_info_version(module.info_version);
  if (!version) return std::nullopt;
  Diagnostic diagnostic{"K0131", {}, {{"`.ze_info`", module.info_version}}, {}};
  if (version->major != 1) {
    diagnostic.message = "the native code is of a form that no driver reads: version " + module.info_version;
    diagnostic.rows.push_back({"drivers read", "1.x"});
    diagnostic.rows.push_back(
        {"drivers' own code", "INVALID_NATIVE_BINARY by 22.43, MODULE_BUILD_FAILURE by 26.27"});
    diagnostic.help = {"compile it again, with an ocloc of the driver's release"};
    diagnostic.answer = {AnsweredBy::kiln, ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "zeModuleCreate"};
    return diagnostic;
  }
  if (decoder_minor == 0 || version->minor <= decoder_minor) return std::nullopt;
  diagnostic.severity = Severity::warning;
  diagnostic.message =
      "the native code was compiled for a newer driver, and this one passes over what it does "
      "not know in it";
  diagnostic.rows.push_back({"this driver reads", "up to 1." + std::to_string(decoder_minor)});
  diagnostic.help = {"give the SPIR-V too, which is then taken instead",
                     "or compile it with an ocloc of the driver's release, or update the driver"};
  return diagnostic;
}

std::uint32_t decoder_minor_version(std::uint32_t driver_version) {
  constexpr std::uint32_t kIntel = 0x01030000;
  const Decoder& newest = *std::rbegin(kDecoders);
  if (driver_version < kIntel + kDecoders[0].build || driver_version > kIntel + newest.build) return 0;
  const auto above = std::ranges::upper_bound(kDecoders, driver_version - kIntel, {}, &Decoder::build);
  return std::prev(above)->minor;
}

DeviceFeatures target_features(const Target& target) {
  DeviceFeatures features;
  // Gen12 and DG2 calculate in no doubles; Meteor Lake and Arrow Lake (12.70 and on) do.
  features.fp64 = target_limits(target).generation != Generation::gen12lp &&
                  !(target.architecture == 12 && target.release >= 55 && target.release <= 57);
  return features;
}

std::optional<Diagnostic> check_features(std::span<const NeededFeature> needed,
                                         const DeviceFeatures& offered) {
  const auto lacking =
      std::ranges::find_if(needed, [&](const NeededFeature& each) { return !(offered.*each.feature); });
  if (lacking == needed.end()) return std::nullopt;
  const std::string name = lacking->name;
  Diagnostic diagnostic{"K0132", "the module needs " + name + ", which the device does not have", {}, {}};
  if (!lacking->kernels.empty()) diagnostic.rows.push_back({"used by", joined(lacking->kernels)});
  if (name == "fp64")
    diagnostic.help = {
        "look for constants without `f` (1.5 is a double), and for `double` and printf of a float in the "
        "source",
        "or compile with -cl-single-precision-constant"};
  diagnostic.help.emplace_back(
      "or move the kernels that need it to a module of their own: the compiler refuses "
      "all of the module");
  diagnostic.answer = {AnsweredBy::before_driver, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "zeModuleCreate"};
  return diagnostic;
}

}  // namespace kiln
