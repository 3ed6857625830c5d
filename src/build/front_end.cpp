// SPDX-License-Identifier: MIT
// Asks libocloc 22.43 to 26.27 by its C function, sources and results in memory.
#include "build/front_end.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "identity/library_files.hpp"
#include "kiln/product.hpp"

namespace kiln::detail {
namespace {

// ocloc_api.h of intel/compute-runtime, which distributions do not always install.
using OclocInvoke = int (*)(unsigned int, const char**, std::uint32_t, const std::uint8_t**,
                            const std::uint64_t*, const char**, std::uint32_t, const std::uint8_t**,
                            const std::uint64_t*, const char**, std::uint32_t*, std::uint8_t***,
                            std::uint64_t**, char***);
using OclocFreeOutput = int (*)(std::uint32_t*, std::uint8_t***, std::uint64_t**, char***);

/// Options are also taken from files beside the input, of this name and a suffix: none has it.
constexpr const char* kInput = "kiln-source-in-memory.cl";

struct Ocloc {
  OclocInvoke invoke = nullptr;
  OclocFreeOutput free = nullptr;
  std::string error;
};

Ocloc open_ocloc(const std::string& library) {
  Ocloc ocloc;
  void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);  // stays: it cannot be told what it started
  if (handle) {
    ocloc.invoke = reinterpret_cast<OclocInvoke>(dlsym(handle, "oclocInvoke"));
    ocloc.free = reinterpret_cast<OclocFreeOutput>(dlsym(handle, "oclocFreeOutput"));
  }
  if (!ocloc.invoke || !ocloc.free) {
    const char* error = dlerror();
    ocloc.error = error ? error : library + " has no oclocInvoke";
  }
  return ocloc;
}

/// What ocloc says besides what the compiler says.
std::string compilers_words(std::string_view log) {
  std::string kept;
  while (!log.empty()) {
    const auto end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    const bool own = line.starts_with("Command was:") || line.starts_with("Build succeeded") ||
                     line.starts_with("Build failed with error code") ||
                     line.starts_with("Auto-detected target");
    if (!own) (kept += line) += '\n';
  }
  while (kept.ends_with('\n')) kept.pop_back();
  return kept;
}

FrontEndResult invoke(const Ocloc& ocloc, const FrontEndRequest& request, const std::string& target) {
  const std::string text(request.text);  // with its end, which counts
  std::vector<const char*> arguments{
      "ocloc",  "compile",           "-file",    kInput, "-device", target.c_str(), "-output",
      "result", "-output_no_suffix", "-spv_only"};
  if (!request.options.empty()) arguments.insert(arguments.end(), {"-options", request.options.c_str()});
  const auto* source = reinterpret_cast<const std::uint8_t*>(text.c_str());
  const std::uint64_t size = text.size() + 1;
  const char* name = kInput;
  std::uint32_t count = 0;
  std::uint8_t** outputs = nullptr;
  std::uint64_t* sizes = nullptr;
  char** names = nullptr;
  const int status =
      ocloc.invoke(static_cast<unsigned int>(arguments.size()), arguments.data(), 1, &source, &size, &name, 0,
                   nullptr, nullptr, nullptr, &count, &outputs, &sizes, &names);
  FrontEndResult result;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view output = names[i];
    if (output == "stdout.log")
      result.log.assign(reinterpret_cast<const char*>(outputs[i]), sizes[i]);
    else if (output.starts_with("result"))
      result.spirv.assign(reinterpret_cast<const std::byte*>(outputs[i]),
                          reinterpret_cast<const std::byte*>(outputs[i]) + sizes[i]);
  }
  ocloc.free(&count, &outputs, &sizes, &names);
  result.log.resize(std::min(result.log.find('\0'), result.log.size()));
  const auto says = [&](const char* words) { return result.log.find(words) != result.log.npos; };
  if (status == 0 && !result.spirv.empty())
    result.end = FrontEndEnd::compiled;
  else if (says("Loading of FCL library has failed"))
    result.end = FrontEndEnd::no_front_end;
  else if (says("Cannot get HW Info for device") || says("Could not determine device target"))
    result.end = FrontEndEnd::unknown_target;
  else
    result.end = compilers_words(result.log).empty() ? FrontEndEnd::broken : FrontEndEnd::refused;
  result.log = compilers_words(result.log);
  return result;
}

bool is_option_value(std::string_view option) { return option == "-D" || option == "-U" || option == "-I"; }

}  // namespace

FrontEndResult run_front_end(const FrontEndRequest& request) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  FrontEndResult result;
  const Ocloc ocloc = open_ocloc(request.library.empty() ? kOclocName : request.library);
  if (!ocloc.error.empty()) {
    result.end = FrontEndEnd::no_ocloc;
    result.log = ocloc.error;
    return result;
  }
  for (const std::string& target : request.targets) {
    result = invoke(ocloc, request, target);
    if (result.end != FrontEndEnd::unknown_target) break;
  }
  result.libraries = cache::mapped_front_end();
  return result;
}

std::vector<std::string> front_end_targets(const DeviceProperties& device, bool fp64) {
  std::vector<std::string> targets;
  if (device.type != ZE_DEVICE_TYPE_CPU && device.device_id != 0) {
    char id[16];
    std::snprintf(id, sizeof id, "0x%04x", device.device_id);
    targets.emplace_back(id);
  }
  if (device.ip_version)
    if (const std::string_view name = target_name(*device.ip_version); !name.empty())
      targets.emplace_back(name);
  // An ocloc that is too old for the device, or for the product that the CPU device stands in for, makes good
  // SPIR-V all the same, without the device's newest extensions: for one with or without double precision, as
  // the device has it. skl is the last with it and with images, without which 22.43 fails in a header of its
  // own at -cl-std=CL3.0; newer releases know it no more.
  for (const char* other : fp64 ? std::array{"skl", "pvc"} : std::array{"tgllp", "dg2"})
    targets.emplace_back(other);
  return targets;
}

SplitOptions split_options(std::string_view flags) {
  SplitOptions split;
  const auto add = [](std::string& list, std::string_view option) {
    if (!list.empty()) list += ' ';
    list += option;
  };
  bool value_of_front = false;
  while (!flags.empty()) {
    const auto begin = std::min(flags.find_first_not_of(" \t\n"), flags.size());
    flags.remove_prefix(begin);
    char quote = 0;
    std::size_t end = 0;
    for (; end < flags.size() && (quote || !std::strchr(" \t\n", flags[end])); ++end)
      if (quote ? flags[end] == quote : flags[end] == '"' || flags[end] == '\'')
        quote = quote ? 0 : flags[end];
    const std::string_view option = flags.substr(0, end);
    flags.remove_prefix(end);
    if (option.empty()) continue;
    const auto begins = [&](const char* prefix) { return option.starts_with(prefix); };
    if (begins("-I") || begins("-i") || begins("@")) split.refused = option;
    if (value_of_front || begins("-D") || begins("-U") || begins("-cl-std=") || begins("-W") ||
        option == "-w") {
      add(split.front_end, option);
      value_of_front = !value_of_front && is_option_value(option);
      continue;
    }
    // Of Level Zero, whose options are for what compiles SPIR-V; a value may stand behind a blank.
    const bool level_zero = begins("-ze-") || !begins("-") || option == "-cl-intel-128-GRF-per-thread" ||
                            option == "-library-compilation";
    if (!level_zero) add(split.front_end, option);
    add(split.back_end, option);
  }
  return split;
}

}  // namespace kiln::detail
