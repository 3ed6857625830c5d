// SPDX-License-Identifier: MIT
// Occupancy of one core by threads, SLM and barriers.
#include "kiln/occupancy.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "check/common.hpp"

namespace kiln {
namespace {

std::uint64_t slm_per_core(const Target& target, Generation generation) {
  switch (generation) {
    case Generation::gen12lp:
      return 64 * detail::kKiB;
    case Generation::xe_hpg:  // 12.55 is dg2-g10, 12.56 dg2-g11, 12.57 dg2-g12, 12.70 to 12.74 mtl and arl
      return target.release == 56 || target.release == 70 || target.release == 71 ? 96 * detail::kKiB
                                                                                  : 128 * detail::kKiB;
    case Generation::xe_hpc:
      return 128 * detail::kKiB;
    case Generation::xe2:  // 20.4 is lnl
      return target.release == 4 ? 128 * detail::kKiB : 160 * detail::kKiB;
    case Generation::xe3:
      return 192 * detail::kKiB;
    case Generation::xe3p:
      break;
  }
  return target_limits(target).slm_per_group;
}

}  // namespace

CoreLimits core_limits(const Target& target) {
  const Generation generation = target_limits(target).generation;
  CoreLimits limits;
  limits.generation = generation;
  limits.eus_per_core = generation == Generation::gen12lp || generation == Generation::xe_hpg ? 16 : 8;
  limits.threads_per_eu = generation == Generation::gen12lp ? 7 : generation >= Generation::xe3 ? 10 : 8;
  limits.slm_per_core = slm_per_core(target, generation);
  limits.slm_per_group = target_limits(target).slm_per_group;
  return limits;
}

std::uint64_t allocated_slm(Generation generation, std::uint64_t bytes) {
  static constexpr std::array<std::uint64_t, 15> kSteps{0,  1,  2,  4,   8,   16,  24, 32,
                                                        48, 64, 96, 128, 192, 256, 384};
  const std::uint64_t kib = bytes / detail::kKiB + (bytes % detail::kKiB != 0);
  if (generation == Generation::gen12lp || generation == Generation::xe_hpg)
    return kib > 64 ? bytes : (kib ? std::bit_ceil(kib) : 0) * detail::kKiB;
  const std::uint64_t most = generation >= Generation::xe3 ? 384 : 128;
  const auto step = std::ranges::lower_bound(kSteps, kib);
  return step == kSteps.end() || *step > most ? bytes : *step * detail::kKiB;
}

std::uint32_t threads_per_core(const CoreLimits& limits, std::uint32_t grf) {
  std::uint32_t by_registers = limits.threads_per_eu;
  if (limits.generation >= Generation::xe3)
    by_registers = grf <= 96 ? 10 : grf <= 128 ? 8 : grf <= 160 ? 6 : grf <= 192 ? 5 : grf <= 256 ? 4 : 1;
  else
    by_registers = grf == 256 ? 4 : 8;
  return limits.eus_per_core * std::min(by_registers, limits.threads_per_eu);
}

const char* to_string(Resource resource) {
  switch (resource) {
    case Resource::threads:
      return "hardware threads";
    case Resource::slm:
      return "SLM";
    case Resource::barriers:
      return "barriers";
  }
  return "?";
}

Occupancy occupancy(const KernelFacts& kernel, const CoreLimits& limits, std::uint64_t group_size,
                    std::uint64_t slm) {
  Occupancy result;
  if (kernel.simd_size == 0 || group_size == 0) return result;
  const std::uint64_t threads = (group_size - 1) / kernel.simd_size + 1;
  result.threads_per_core = threads_per_core(limits, kernel.grf_count);
  result.threads_per_group = static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, UINT32_MAX));
  result.slm_per_group = allocated_slm(limits.generation, slm);
  std::uint64_t groups = result.threads_per_core / threads;
  const auto limit = [&](std::uint64_t most, Resource resource) {
    if (most >= groups) return;
    groups = most;
    result.limit = resource;
  };
  if (slm) limit(limits.slm_per_core / result.slm_per_group, Resource::slm);
  if (kernel.barrier_count) limit(limits.barriers_per_core / kernel.barrier_count, Resource::barriers);
  result.groups_per_core = static_cast<std::uint32_t>(groups);
  return result;
}

std::uint64_t cooperative_groups(const KernelFacts& kernel, const CoreLimits& limits,
                                 std::uint64_t group_size, std::uint64_t slm) {
  CoreLimits as_counted = limits;
  as_counted.slm_per_core = std::min(limits.slm_per_core, limits.slm_per_group);
  return std::uint64_t{limits.cores} * occupancy(kernel, as_counted, group_size, slm).groups_per_core;
}

}  // namespace kiln
