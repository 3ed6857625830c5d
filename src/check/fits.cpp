// SPDX-License-Identifier: MIT
// Limits of products, and kernels held against them.
#include <algorithm>

#include "check/kernel_facts.hpp"
#include "kiln/target.hpp"

namespace kiln {
namespace {

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
      return 64 * detail::kKiB;
    case Generation::xe_hpc:
    case Generation::xe2:
    case Generation::xe3:
      return 128 * detail::kKiB;
    case Generation::xe3p:
      break;
  }
  return (target.release == 10 ? 192 : 384) * detail::kKiB;
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

/// What is not asked for is as the kernel wants it, else 1.
LaunchShape launch_shape(const KernelFacts& kernel, const KernelRequest& request) {
  LaunchShape shape{{}, {}};
  const Extent required = extent(kernel.required_group_size);
  if (required.x != 0) shape.group_size = required;
  if (request.group_size) shape.group_size = *request.group_size;
  if (request.groups) shape.groups = *request.groups;
  return shape;
}

}  // namespace

TargetLimits target_limits(const Target& target) {
  const Generation generation = generation_of(target);
  const bool gen12lp = generation == Generation::gen12lp;
  TargetLimits limits;
  limits.generation = generation;
  limits.slm_per_group = slm_of(target, generation);
  limits.max_group_size = gen12lp ? 512 : 1024;
  limits.max_scratch_per_thread = gen12lp ? 2048 * detail::kKiB : 256 * detail::kKiB;
  limits.smallest_sub_group = gen12lp || generation == Generation::xe_hpg ? 8 : 16;
  return limits;
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
  std::vector<Diagnostic> reasons = detail::check_facts(kernel, limits);
  const bool asks_for_slm =
      std::ranges::any_of(request.local_bytes, [](std::uint64_t bytes) { return bytes != 0; });
  const bool refused = std::ranges::count(reasons, Severity::error, &Diagnostic::severity) != 0;
  if (refused || (!request.group_size && !request.groups && !asks_for_slm)) return reasons;
  const LaunchShape shape = launch_shape(kernel, request);
  const LaunchLimits launch = launch_limits(kernel, limits);
  const auto arguments = launch_arguments(kernel, request);
  const LaunchVerdict verdict = check_launch(kernel, launch, shape, arguments);
  if (verdict != LaunchVerdict::fits)
    reasons.push_back(explain_launch(verdict, kernel, launch, shape, arguments));
  return reasons;
}

LaunchFit what_fits(const KernelFacts& kernel, const TargetLimits& limits, const KernelRequest& request) {
  return what_fits(kernel, launch_limits(kernel, limits), launch_shape(kernel, request),
                   launch_arguments(kernel, request));
}

}  // namespace kiln
