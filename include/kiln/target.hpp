// SPDX-License-Identifier: MIT
// Does a kernel fit a product that is not here? Limits by product, and what can be told from a file alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/check.hpp"

namespace kiln {

enum class Generation : std::uint8_t { gen12lp, xe_hpg, xe_hpc, xe2, xe3, xe3p };

struct TargetLimits {
  Generation generation = Generation::gen12lp;
  std::uint64_t slm_per_group = 0;           ///< bytes
  std::uint32_t max_group_size = 0;          ///< work-items, any kernel
  std::uint64_t max_scratch_per_thread = 0;  ///< bytes
  std::uint32_t smallest_sub_group = 8;      ///< work-items; from there powers of two up to 32
  std::uint32_t max_arguments_size = 2048;   ///< bytes of all arguments of a kernel
};

/// Pure; thread-safe. Source: Intel's driver 26.27 without a GPU for tgllp, dg2, pvc, bmg, lnl and ptl; for
/// the others hw_info_*.cpp and gfx_core_helper_*.cpp of intel/compute-runtime 26.31.
[[nodiscard]] TargetLimits target_limits(const Target& target);

/// The most work-items in a group of this kernel, by its registers and SIMD width where they are known. Pure.
/// Source: gfx_core_helper_xehp_and_later.inl:98, gfx_core_helper_xe2_hpg_core.cpp:249 and
/// gfx_core_helper_xe3_core.cpp:236 of intel/compute-runtime 26.31; 22.43 lets every kernel have the
/// device's.
[[nodiscard]] std::uint32_t max_group_size(const KernelFacts& kernel, const TargetLimits& limits);

/// What a launch would ask for, as far as it is known.
struct KernelRequest {
  std::optional<Extent> group_size;
  /// Bytes for each argument; those of `__local` ones count, and the others are as the kernel wants them.
  std::vector<std::uint64_t> local_bytes;
  std::optional<Extent> groups{};  ///< work-groups by dimension
};

/// All reasons why the kernel cannot be compiled, made or launched there: K0101 to K0105, K0109 to K0111 and
/// K0116 to K0119, the last of them also as warnings. Without a group size, counts, or bytes for any
/// `__local` argument, what depends on them is not checked. Pure.
[[nodiscard]] std::vector<Diagnostic> check_kernel(const KernelFacts& kernel, const TargetLimits& limits,
                                                   const KernelRequest& request);

/// what_fits() of kiln/check.hpp for a launch there. Pure.
[[nodiscard]] LaunchFit what_fits(const KernelFacts& kernel, const TargetLimits& limits,
                                  const KernelRequest& request);

/// What the threads of a device share.
struct ThreadMemory {
  std::uint64_t threads = 0;  ///< hardware threads that the device says it has
  std::uint64_t bytes = 0;    ///< memory of the device
};

/// K0115: private and scratch memory of a kernel is set aside for every hardware thread at once, when the
/// kernel is made (private) or first submitted (scratch). An error when what the threads need is above all
/// memory; a warning when twice that is: the driver counts the threads of the whole chip, fused-off ones
/// included, and on Xe-HPC two for each. Source: kernel_helpers.cpp:80 of intel/compute-runtime 26.31;
/// drivers before 22.49 do not look, and take 4 GiB a thread for none. Pure.
[[nodiscard]] std::optional<Diagnostic> check_thread_memory(const KernelFacts& kernel,
                                                            const ThreadMemory& memory);

}  // namespace kiln
