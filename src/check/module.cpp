// SPDX-License-Identifier: MIT
// What a file says that no driver must hear, and which buffers a kernel can be given.
#include <algorithm>

#include "kiln/check.hpp"

namespace kiln {
namespace {

constexpr std::uint64_t kFourGiB = std::uint64_t{1} << 32;  // bytes
constexpr std::string_view kLargeBuffers = "-ze-opt-greater-than-4GB-buffer-required";

Diagnostic explain_variables(const ModuleFacts& module, std::uint64_t most) {
  return {"K0113",
          "the program-scope variables of a module are too large",
          {{"variables", {}, module.global_data, "B"},
           {"constants", {}, module.constant_data, "B"},
           {"most of each", {}, most, "B"}},
          {"allocate the data as buffers, in parts, and pass them to the kernels"}};
}

}  // namespace

std::optional<Diagnostic> check_module(const ModuleFacts& module, std::uint64_t memory) {
  const auto broken = std::ranges::find_if(
      module.kernels, [](const KernelFacts& kernel) { return !kernel.malformed.empty(); });
  if (broken != module.kernels.end())
    return Diagnostic{"K0114",
                      "the native binary of kernel `" + broken->name + "` is malformed",
                      {{"reason", broken->malformed}},
                      {"build it again; a driver may end the process over it",
                       "or, when it comes from a newer compiler, update the driver and Kiln"}};
  // Each kind is one allocation: a driver that does not get it ends the process. So does the compiler
  // of 22.43 when it writes 4 GiB of zeros into its result.
  std::uint64_t most = memory != 0 ? memory : UINT64_MAX;
  if (module.spirv_version != 0) most = std::min(most, kFourGiB - 1);
  if (std::max(module.global_data, module.constant_data) <= most) return std::nullopt;
  return explain_variables(module, most);
}

std::uint64_t largest_buffer(const KernelFacts& kernel, std::string_view flags,
                             std::uint64_t largest_allocation) {
  const bool compiled = kernel.simd_size != 0;
  const bool bounded = compiled ? !kernel.has_4gb_buffers
                                : largest_allocation != 0 && largest_allocation < kFourGiB &&
                                      flags.find(kLargeBuffers) == flags.npos;
  return bounded ? kFourGiB : UINT64_MAX;
}

Diagnostic explain_buffer(const KernelFacts& kernel, std::uint64_t most,
                          std::span<const std::uint64_t> bytes) {
  Diagnostic diagnostic{"K0112", "kernel `" + kernel.name + "` is not built for buffers above 4 GiB", {}, {}};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] <= most) continue;
    const bool named = i < kernel.arguments.size() && !kernel.arguments[i].name.empty();
    diagnostic.rows.push_back(
        {"argument", std::to_string(i) + (named ? " (`" + kernel.arguments[i].name + "`)" : "")});
    diagnostic.rows.push_back({"buffer", {}, bytes[i], "B"});
    break;
  }
  diagnostic.rows.push_back({"most", {}, most, "B"});
  diagnostic.help = {"build the kernel with " + std::string(kLargeBuffers) +
                         ": without it addresses wrap round, and the answer is wrong without an error",
                     "or split the buffer"};
  return diagnostic;
}

}  // namespace kiln
