// SPDX-License-Identifier: MIT
// What speaks against a kernel before anyone launches it: its own demands against a product's limits.
#include "check/kernel_facts.hpp"

#include <algorithm>
#include <bit>

namespace kiln {
namespace {

/// What drivers say to it, for the versions that look (22.49 and later for memory, 24.13 for the group size).
std::optional<Answer> before_driver(ze_result_t code, const char* call, Severity severity = Severity::error) {
  if (severity != Severity::error) return std::nullopt;
  return Answer{AnsweredBy::before_driver, static_cast<std::uint32_t>(code), call};
}

std::uint64_t required_items(const KernelFacts& kernel) {
  const auto& [x, y, z] = kernel.required_group_size;
  return total({x, y, z});
}

/// Changes of one thing that give the kernel room for that many work-items; empty when none does.
std::string modes_with_room(const KernelFacts& kernel, const TargetLimits& limits, std::uint64_t items) {
  std::string modes;
  const auto offer = [&](std::uint32_t registers, std::uint32_t width, const std::string& mode) {
    KernelFacts other;
    other.simd_size = width, other.grf_count = registers;
    if (items <= max_group_size(other, limits)) modes += (modes.empty() ? "" : ", or with ") + mode;
  };
  if (kernel.grf_count > 128) offer(128, kernel.simd_size, "128 registers");
  for (std::uint32_t width = kernel.simd_size * 2; width <= 32 && width != 0; width *= 2)
    offer(kernel.grf_count, width, "a sub-group size of " + std::to_string(width));
  return modes;
}

Diagnostic explain_required(const KernelFacts& kernel, const TargetLimits& limits) {
  const auto& size = kernel.required_group_size;
  const std::uint32_t most = max_group_size(kernel, limits);
  Diagnostic diagnostic{"K0110",
                        detail::quoted(kernel) + " requires more work-items a group than it can have",
                        {{"required", std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
                                          std::to_string(size[2])},
                         {"most work-items for this kernel", {}, most},
                         {"SIMD width", {}, kernel.simd_size},
                         {"registers", {}, kernel.grf_count}},
                        {"take a reqd_work_group_size of at most " + std::to_string(most) + " work-items"}};
  diagnostic.answer = before_driver(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, "zeKernelCreate");
  const std::string modes = modes_with_room(kernel, limits, required_items(kernel));
  if (!modes.empty()) diagnostic.help.push_back("or build the kernel with " + modes);
  return diagnostic;
}

/// The driver rounds up to a power of two; what the reader lets through stays below 2^38.
std::uint64_t scratch(const KernelFacts& kernel) {
  return std::bit_ceil(std::max(kernel.scratch_per_thread[0], kernel.scratch_per_thread[1]));
}

Diagnostic explain_scratch(const KernelFacts& kernel, std::uint64_t most) {
  return {"K0111",
          detail::quoted(kernel) + " needs more scratch memory than a hardware thread can have",
          {{"needed, as the driver rounds it", {}, scratch(kernel), "B"},
           {"available a hardware thread", {}, most, "B"}},
          {"smaller arrays in the kernel, or the kernel in two parts",
           "or -ze-opt-large-register-file, or a sub-group size of 16 instead of 32: less is spilled then"},
          Severity::error,
          before_driver(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "zeKernelCreate")};
}

Diagnostic explain_sub_group(const KernelFacts& kernel, std::uint32_t smallest) {
  std::string offered;
  for (std::uint32_t size = smallest; size <= 32; size *= 2)
    offered += (offered.empty() ? "" : ", ") + std::to_string(size);
  return {"K0116",
          detail::quoted(kernel) + " requires sub-groups of " +
              std::to_string(kernel.required_sub_group_size) + ", which the product does not have",
          {{"required", {}, kernel.required_sub_group_size, "work-items"}, {"offered", offered}},
          {"take intel_reqd_sub_group_size from the kernel, or give one of these",
           "the compiler refuses the whole module, the other kernels included"},
          Severity::error,
          before_driver(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "zeModuleCreate")};
}

Diagnostic explain_arguments(const KernelFacts& kernel, std::uint64_t bytes, std::uint32_t most) {
  return {"K0119",
          detail::quoted(kernel) + " has more bytes of arguments than a launch can pass",
          {{"arguments", {}, bytes, "B"}, {"most", {}, most, "B"}},
          {"put the values into a buffer and pass its address"},
          Severity::error,
          before_driver(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "zeModuleCreate")};
}

/// Bytes of all arguments as the compiler counts them: every pointer has 8. The file may not say all of them,
/// so it is at least that. Source: seen with IGC of 22.43.
std::uint64_t arguments_size(const KernelFacts& kernel) {
  std::uint64_t bytes = 0;
  for (const ArgumentFacts& argument : kernel.arguments)
    bytes += argument.kind == ArgumentKind::local_pointer ? 8 : argument.size;
  return bytes;
}

}  // namespace

Diagnostic detail::explain_invalid(const KernelFacts& kernel) {
  return {"K0117",
          "the compiler marked " + detail::quoted(kernel) + " as one that must not be launched",
          {},
          {"read the build log: the kernel uses what this product does not have"},
          Severity::error,
          before_driver(ZE_RESULT_ERROR_INVALID_ARGUMENT, "zeCommandListAppendLaunchKernel")};
}

Diagnostic detail::explain_cooperative_only(const KernelFacts& kernel, Severity severity) {
  return {"K0118",
          detail::quoted(kernel) + " synchronizes work-groups: only a cooperative launch takes it",
          {},
          {"launch it with launch_cooperative_with() or zeCommandListAppendLaunchCooperativeKernel, with no "
           "more groups "
           "than run at the same time"},
          severity,
          before_driver(ZE_RESULT_ERROR_INVALID_ARGUMENT, "zeCommandListAppendLaunchKernel", severity)};
}

std::vector<Diagnostic> detail::check_facts(const KernelFacts& kernel, const TargetLimits& limits) {
  std::vector<Diagnostic> findings;
  if (kernel.static_slm > limits.slm_per_group)
    findings.push_back(explain_static_slm(kernel, limits.slm_per_group));
  if (required_items(kernel) > max_group_size(kernel, limits))
    findings.push_back(explain_required(kernel, limits));
  if (scratch(kernel) > limits.max_scratch_per_thread)
    findings.push_back(explain_scratch(kernel, limits.max_scratch_per_thread));
  const std::uint32_t sub_group = kernel.required_sub_group_size;
  if (sub_group &&
      (sub_group < limits.smallest_sub_group || sub_group > 32 || !std::has_single_bit(sub_group)))
    findings.push_back(explain_sub_group(kernel, limits.smallest_sub_group));
  if (const std::uint64_t bytes = arguments_size(kernel); bytes > limits.max_arguments_size)
    findings.push_back(explain_arguments(kernel, bytes, limits.max_arguments_size));
  if (kernel.is_invalid) findings.push_back(explain_invalid(kernel));
  if (kernel.needs_sync_buffer) findings.push_back(explain_cooperative_only(kernel, Severity::warning));
  return findings;
}

std::optional<Diagnostic> check_thread_memory(const KernelFacts& kernel, const ThreadMemory& memory) {
  if (memory.bytes == 0 || memory.threads == 0) return std::nullopt;
  struct Demand {
    const char* what;
    std::uint64_t a_thread;  // bytes, below 2^38
  };
  const Demand demands[] = {
      {"private memory", kernel.private_per_thread},
      {"scratch memory", kernel.scratch_per_thread[0] || kernel.scratch_per_thread[1] ? scratch(kernel) : 0}};
  const Demand& largest = *std::ranges::max_element(demands, {}, &Demand::a_thread);
  const char* what = largest.what;
  // The sum of many entries in a hostile file could wrap when multiplied.
  const std::uint64_t a_thread = std::min(largest.a_thread, UINT64_MAX / memory.threads);
  const std::uint64_t most_each = memory.bytes / memory.threads;
  if (a_thread <= most_each / 2) return std::nullopt;
  const bool certain = a_thread > most_each;
  const Severity severity = certain ? Severity::error : Severity::warning;
  // Where it is not known, the widest: what then fits, fits.
  const std::uint32_t lanes = kernel.simd_size != 0 ? kernel.simd_size : 32;
  Diagnostic finding{
      "K0115",
      detail::quoted(kernel) + (certain ? " needs more " : " may need more ") + what + " than the device has",
      {{std::string(what) + " a hardware thread", {}, a_thread, "B"},
       {"hardware threads, at least", {}, memory.threads},
       {"needed in all, at least", {}, a_thread * memory.threads, "B"},
       {"memory of the device", {}, memory.bytes, "B"}},
      {"make the arrays in the kernel smaller: at most " + std::to_string(most_each / 2 / lanes) +
           " bytes a work-item fit",
       "or take a sub-group size of 16 instead of 32: each hardware thread then keeps half as much"},
      severity,
      before_driver(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeKernelCreate", severity)};
  if (kernel.simd_size != 0) finding.rows.push_back({"SIMD width", {}, kernel.simd_size});
  return finding;
}

}  // namespace kiln
