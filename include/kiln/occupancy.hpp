// SPDX-License-Identifier: MIT
// How many work-groups of a kernel one Xe-core holds at a time, and what stops it from holding more.
#pragma once

#include <cstdint>

#include "kiln/target.hpp"

namespace kiln {

/// What a device has for running work-groups. A core is an Xe-core, on Gen12 a dual sub-slice.
struct CoreLimits {
  Generation generation = Generation::gen12lp;
  std::uint32_t cores = 1;
  std::uint32_t eus_per_core = 0;
  std::uint32_t threads_per_eu = 0;  ///< with 128 registers a thread
  std::uint64_t slm_per_core = 0;    ///< bytes, for all groups of the core
  std::uint64_t slm_per_group = 0;   ///< bytes, the most one group can have
  std::uint32_t barriers_per_core = 32;
};

/// One core of a product that is not here. Pure. Source of SLM: release_helper_preferred_slm_*.inl of
/// intel/compute-runtime 26.31; on Gen12, where the driver does not say, what one group can have.
[[nodiscard]] CoreLimits core_limits(const Target& target);

/// Bytes of SLM that the hardware sets aside for a group that asks for `bytes`; above the largest step what
/// was asked for. Pure. Source: command_encoder_*.cpp of intel/compute-runtime 26.31.
[[nodiscard]] std::uint64_t allocated_slm(Generation generation, std::uint64_t bytes);

/// Hardware threads of a core for a kernel with that many registers a thread (0: not known, 128). Pure.
/// Source: gfx_core_helper_base.inl:898 and gfx_core_helper_xe3_and_later.inl:13 of 26.31.
[[nodiscard]] std::uint32_t threads_per_core(const CoreLimits& limits, std::uint32_t grf_count);

enum class Resource : std::uint8_t { threads, slm, barriers };
/// "hardware threads", "SLM" or "barriers".
[[nodiscard]] const char* to_string(Resource resource);

struct Occupancy {
  std::uint32_t threads_per_group = 0;
  std::uint32_t threads_per_core = 0;
  std::uint64_t slm_per_group = 0;    ///< bytes, as allocated
  std::uint32_t groups_per_core = 0;  ///< 0: not even one fits
  Resource limit = Resource::threads;

  /// Share of the hardware threads that have work, in percent.
  [[nodiscard]] std::uint32_t percent() const {
    return threads_per_core == 0 ? 0 : groups_per_core * threads_per_group * 100 / threads_per_core;
  }
};

/// `group_size` in work-items, `slm` in bytes a group (total_slm()). Needs the SIMD width: the facts of a
/// native binary; else nothing is known and all is 0. Pure.
[[nodiscard]] Occupancy occupancy(const KernelFacts& kernel, const CoreLimits& limits,
                                  std::uint64_t group_size, std::uint64_t slm);

/// Work-groups that a cooperative launch may have: all of them must run at the same time. Below what the
/// hardware can hold and below what Intel's driver suggests. The driver counts `slm_per_group` for each core,
/// and all cores as one pool (getMaxWorkGroupCount, kernel_helpers.cpp:33 of 26.31): so on Xe-HPG it suggests
/// half, and elsewhere more than fit when a group's share does not divide a core's. Since 25.18 it suggests 1
/// on Gen12 and Xe-HPG, whatever the kernel. Pure.
[[nodiscard]] std::uint64_t cooperative_groups(const KernelFacts& kernel, const CoreLimits& limits,
                                               std::uint64_t group_size, std::uint64_t slm);

}  // namespace kiln
