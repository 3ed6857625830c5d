// SPDX-License-Identifier: MIT
// Limits of products, and kernels held against them.
#include "kiln/target.hpp"

#include <algorithm>
#include <bit>

namespace kiln {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint32_t kAnyCount = 0xffffffff;

Generation generation_of(const Target& target) {
  switch (target.architecture) {
    case 12:
      if (target.release < 50) return Generation::gen12lp;
      return target.release == 60 || target.release == 61 ? Generation::xe_hpc : Generation::xe_hpg;
    case 20:
      return Generation::xe2;
    case 30:
      return Generation::xe3;
    default:
      return Generation::xe3p;
  }
}

std::uint64_t slm_of(const Target& target, Generation generation) {
  switch (generation) {
    case Generation::gen12lp:
    case Generation::xe_hpg:
      return 64 * kKiB;
    case Generation::xe_hpc:
    case Generation::xe2:
    case Generation::xe3:
      return 128 * kKiB;
    case Generation::xe3p:
      break;
  }
  return (target.release == 10 ? 192 : 384) * kKiB;
}

/// Hardware threads that one group can have on Xe2 and later.
std::uint32_t threads_of_group(const KernelFacts& kernel, Generation generation) {
  const bool narrow = kernel.simd_size == 1;
  if (generation == Generation::xe2)
    return narrow || (kernel.grf_count != 256 && kernel.simd_size == 16) ? 64 : 32;
  if (kernel.grf_count >= 512) return 16;
  if (kernel.grf_count >= 256 || kernel.simd_size == 32) return 32;
  if (kernel.grf_count >= 192) return 40;
  if (kernel.grf_count >= 160) return 48;
  return 64;
}

Extent extent(const std::array<std::uint32_t, 3>& size) { return {size[0], size[1], size[2]}; }

LaunchLimits launch_limits(const KernelFacts& kernel, const TargetLimits& limits) {
  const std::uint32_t most = max_group_size(kernel, limits), any = limits.max_group_size;
  return {limits.slm_per_group, most, any, {any, any, any}, {kAnyCount, kAnyCount, kAnyCount}};
}

std::vector<LaunchArgument> launch_arguments(const KernelFacts& kernel, const KernelRequest& request) {
  std::vector<LaunchArgument> arguments;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const ArgumentFacts& wanted = kernel.arguments[i];
    const bool local = wanted.kind == ArgumentKind::local_pointer;
    const std::uint64_t bytes = i < request.local_bytes.size() ? request.local_bytes[i] : 0;
    arguments.push_back({wanted.kind, local ? bytes : wanted.size, nullptr});
  }
  return arguments;
}

Diagnostic explain_required(const KernelFacts& kernel, std::uint32_t most) {
  const Extent required = extent(kernel.required_group_size);
  return {"K0110",
          "kernel `" + kernel.name + "` requires more work-items a group than it can have",
          {{"required", std::to_string(required.x) + " x " + std::to_string(required.y) + " x " +
                            std::to_string(required.z)},
           {"most work-items for this kernel", {}, most},
           {"SIMD width", {}, kernel.simd_size},
           {"registers", {}, kernel.grf_count}},
          {"take a smaller reqd_work_group_size",
           "or build the kernel for fewer registers or a larger sub-group, which lets more in"}};
}

Diagnostic explain_scratch(const KernelFacts& kernel, std::uint64_t needed, std::uint64_t most) {
  return {
      "K0111",
      "kernel `" + kernel.name + "` needs more scratch memory than a hardware thread can have",
      {{"needed, as the driver rounds it", {}, needed, "B"}, {"available a hardware thread", {}, most, "B"}},
      {"smaller arrays in the kernel, or the kernel in two parts",
       "or -ze-opt-large-register-file, or a sub-group size of 16 instead of 32: less is spilled then"}};
}

}  // namespace

TargetLimits target_limits(const Target& target) {
  const Generation generation = generation_of(target);
  const bool gen12lp = generation == Generation::gen12lp;
  return {generation, slm_of(target, generation), gen12lp ? 512u : 1024u, gen12lp ? 2048 * kKiB : 256 * kKiB};
}

std::uint32_t max_group_size(const KernelFacts& kernel, const TargetLimits& limits) {
  if (kernel.simd_size == 0) return limits.max_group_size;  // not compiled yet
  switch (limits.generation) {
    case Generation::gen12lp:
      return limits.max_group_size;
    case Generation::xe_hpg:
    case Generation::xe_hpc:
      return kernel.grf_count == 256 && kernel.simd_size != 32 ? limits.max_group_size / 2
                                                               : limits.max_group_size;
    case Generation::xe2:
    case Generation::xe3:
    case Generation::xe3p:
      break;
  }
  return std::min(limits.max_group_size, threads_of_group(kernel, limits.generation) * kernel.simd_size);
}

std::vector<Diagnostic> check_kernel(const KernelFacts& kernel, const TargetLimits& limits,
                                     const KernelRequest& request) {
  std::vector<Diagnostic> reasons;
  if (kernel.static_slm > limits.slm_per_group)
    reasons.push_back(explain_static_slm(kernel, limits.slm_per_group));
  const std::uint32_t most = max_group_size(kernel, limits);
  const Extent required = extent(kernel.required_group_size);
  if (std::uint64_t{required.x} * required.y > most ||
      std::uint64_t{required.x} * required.y * required.z > most)
    reasons.push_back(explain_required(kernel, most));
  const std::uint64_t scratch = std::max(kernel.scratch_per_thread[0], kernel.scratch_per_thread[1]);
  // What the reader lets through stays below 2^38: 32 bits times a SIMD width of at most 64.
  const std::uint64_t rounded = std::bit_ceil(scratch);
  if (rounded > limits.max_scratch_per_thread)
    reasons.push_back(explain_scratch(kernel, rounded, limits.max_scratch_per_thread));

  const bool asks_for_slm =
      std::ranges::any_of(request.local_bytes, [](std::uint64_t bytes) { return bytes != 0; });
  if (!reasons.empty() || (!request.group_size && !request.groups && !asks_for_slm)) return reasons;
  LaunchShape shape{{}, {}};
  if (required.x != 0) shape.group_size = required;
  if (request.group_size) shape.group_size = *request.group_size;
  if (request.groups) shape.groups = *request.groups;
  const LaunchLimits launch = launch_limits(kernel, limits);
  const auto arguments = launch_arguments(kernel, request);
  const LaunchVerdict verdict = check_launch(kernel, launch, shape, arguments);
  if (verdict != LaunchVerdict::fits)
    reasons.push_back(explain_launch(verdict, kernel, launch, shape, arguments));
  return reasons;
}

}  // namespace kiln
