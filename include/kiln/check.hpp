// SPDX-License-Identifier: MIT
// The launch check: device limits, kernel facts and a request in, a verdict out, before the driver hears of
// it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/binary.hpp"
#include "kiln/diagnostic.hpp"
#include "kiln/extent.hpp"
#include "kiln/result.hpp"

namespace kiln {

/// A `__local` argument: bytes of SLM a work-group, no value.
struct LocalMemory {
  std::uint64_t bytes = 0;
};

/// One argument of a launch, as the check and the driver see it.
struct LaunchArgument {
  ArgumentKind kind = ArgumentKind::value;
  std::uint64_t size = 0;      ///< bytes of the value, or bytes of SLM
  const void* data = nullptr;  ///< the value, or the place of a handle; null for SLM and null pointers
};

struct LaunchShape {
  Extent groups;      ///< work-groups by dimension
  Extent group_size;  ///< work-items of a group by dimension
};

/// What device and kernel allow together.
struct LaunchLimits {
  std::uint64_t slm_per_group = 0;          ///< bytes
  std::uint64_t max_group_size = 0;         ///< work-items in all: the kernel's own limit where known
  std::uint64_t device_max_group_size = 0;  ///< work-items in all, any kernel
  Extent max_group_extent;                  ///< work-items by dimension
  Extent max_groups;                        ///< groups by dimension
};

enum class LaunchVerdict : std::uint8_t {
  fits,
  argument_count,       ///< K0106
  argument_kind,        ///< K0107
  argument_size,        ///< K0108
  zero_group_size,      ///< K0104
  group_size,           ///< K0102
  required_group_size,  ///< K0103
  group_count,          ///< K0105
  slm,                  ///< K0101
};

/// The dynamic part of a work-group's SLM as Intel's driver lays it out: each `__local` argument at its
/// alignment, the whole rounded up to 1024 bytes; behind the static arrays, and so with them, in
/// SlmMode::runtime_adjusted. 64-bit, saturating; the driver's own sums are 32-bit.
/// Source: kernel_imp.cpp:854-879 of intel/compute-runtime 26.31. Pure.
[[nodiscard]] std::uint64_t dynamic_slm(const KernelFacts& kernel, std::span<const LaunchArgument> arguments);

/// Static and dynamic SLM of a work-group, in bytes. Pure.
[[nodiscard]] std::uint64_t total_slm(const KernelFacts& kernel, std::span<const LaunchArgument> arguments);

/// Does the launch fit? Allocates nothing. The group size is checked on every call, since Intel's
/// drivers 22.53 to 26.31 forget a wrong one when it is set twice. Pure.
[[nodiscard]] LaunchVerdict check_launch(const KernelFacts& kernel, const LaunchLimits& limits,
                                         const LaunchShape& shape, std::span<const LaunchArgument> arguments);

/// check_launch for the hot path: worked out once for a kernel on a device, then a few comparisons a launch.
/// A yes means that check_launch says `fits`; a no only means that check_launch must be asked. Thread-safe.
class LaunchGate {
 public:
  LaunchGate() = default;  ///< says no to everything
  LaunchGate(const KernelFacts& kernel, const LaunchLimits& limits);

  [[nodiscard]] bool admits(const Extent& groups, const Extent& size,
                            std::span<const LaunchArgument> arguments) const {
    if (arguments.size() != slots_.size()) return false;
    std::uint64_t slm_end = slm_start_;
    const Slot* slot = slots_.data();
    for (const LaunchArgument& argument : arguments)
      if (!take(*slot++, argument, slm_end)) return false;
    return slm_end <= slm_room_ && admits_shape(groups, size);
  }

  /// The same without a loop: kinds and sizes that are known at compile time become constants.
  template <std::size_t N>
  [[nodiscard, gnu::always_inline]] inline bool admits(const Extent& groups, const Extent& size,
                                                       const std::array<LaunchArgument, N>& arguments) const {
    if (slots_.size() != N) return false;
    std::uint64_t slm_end = slm_start_;
    return take_all(arguments, slm_end, std::make_index_sequence<N>()) && slm_end <= slm_room_ &&
           admits_shape(groups, size);
  }

 private:
  struct Slot {
    ArgumentKind kind;
    std::uint32_t number;  // bytes of a value or pointer; of a `__local` one the alignment - 1
  };

  // Inlined, so that a kind that is known decides what is left to compare.

  /// Is this what the slot takes? A `__local` one moves `slm_end` on.
  [[nodiscard, gnu::always_inline]] inline bool take(const Slot& slot, const LaunchArgument& argument,
                                                     std::uint64_t& slm_end) const {
    if (argument.kind != slot.kind) return false;
    if (argument.kind != ArgumentKind::local_pointer) return argument.size == slot.number;
    slm_end = ((slm_end + slot.number) & ~std::uint64_t{slot.number}) + argument.size;
    return argument.size <= slm_room_;  // so that the sum cannot wrap
  }
  template <std::size_t... I>
  [[nodiscard, gnu::always_inline]] inline bool take_all(
      const std::array<LaunchArgument, sizeof...(I)>& arguments, std::uint64_t& slm_end,
      std::index_sequence<I...>) const {
    return (take(slots_[I], arguments[I], slm_end) && ...);
  }
  [[nodiscard, gnu::always_inline]] inline bool admits_shape(const Extent& groups, const Extent& size) const {
    return size.x - first_.x <= span_.x && size.y - first_.y <= span_.y && size.z - first_.z <= span_.z &&
           std::uint64_t{size.x} * size.y * size.z <= max_items_ && groups.x <= max_groups_.x &&
           groups.y <= max_groups_.y && groups.z <= max_groups_.z;
  }

  std::vector<Slot> slots_;
  std::uint64_t slm_start_ = 0, slm_room_ = 0;  // bytes: where the `__local` arguments begin and must end
  Extent first_, span_{0, 0, 0};                // a group size is in first_ .. first_ + span_
  Extent max_groups_{0, 0, 0};
  std::uint64_t max_items_ = 0;  // of a group; 0 until the gate is open, and so says no
};

/// What a program may do by itself when a launch does not fit. 0, or nothing: it does not apply, or nothing
/// fits.
struct LaunchFit {
  /// Work-items of the largest group: with the same `__local` bytes for each of them, where these decide.
  std::uint64_t group_items = 0;
  std::optional<Extent> required_group_size{};  ///< the kernel takes no other
  std::optional<std::uint64_t> local_bytes{};   ///< all `__local` arguments together, alignment included
  std::uint64_t local_bytes_per_item = 0;       ///< as asked for, where `group_items` follows from it
  // Where the `__local` arguments asked for are square tiles of one edge, and do not fit:
  std::uint64_t tile_edge = 0;     ///< of the largest that fit, in elements
  std::uint32_t tiles = 0;         ///< how many there are
  std::uint64_t tile_element = 0;  ///< bytes of an element
  std::uint64_t element_size =
      0;  ///< bytes of elements that fit where the ones asked for, of twice that, do not
};

/// What would fit of this kernel, whether the launch fits or not. Each value is for itself: give one of them,
/// not all. The texts of K0101 are made of it. Pure.
[[nodiscard]] LaunchFit what_fits(const KernelFacts& kernel, const LaunchLimits& limits,
                                  const LaunchShape& shape, std::span<const LaunchArgument> arguments);

/// The result code that Intel's driver would give for a verdict, and the call that would give it. Pure.
[[nodiscard]] ze_result_t code_of(LaunchVerdict verdict);
[[nodiscard]] const char* call_of(LaunchVerdict verdict);

/// Says what was asked by what, what there is and what would fit. `verdict` is what check_launch gave. Pure.
[[nodiscard]] Diagnostic explain_launch(LaunchVerdict verdict, const KernelFacts& kernel,
                                        const LaunchLimits& limits, const LaunchShape& shape,
                                        std::span<const LaunchArgument> arguments);

/// The largest buffer in bytes that a kernel can be given: 4 GiB unless it was built for more, else no bound.
/// Above, Gen12 and Xe-HPG answer wrong without an error; for Xe-HPC and later the compiler builds for more
/// on its own. `.ze_info` says it. Where only SPIR-V is known it is what the build `flags` ask for, on a
/// device whose `largest_allocation` (bytes; 0: not known) is bounded for this reason. Pure. Source:
/// module_imp.cpp:78 and device_caps.cpp:64-99 of intel/compute-runtime 26.31.
[[nodiscard]] std::uint64_t largest_buffer(const KernelFacts& kernel, std::string_view flags,
                                           std::uint64_t largest_allocation);

/// K0112 for the first of the arguments above `most` bytes. Pure.
[[nodiscard]] Diagnostic explain_buffer(const KernelFacts& kernel, std::uint64_t most,
                                        std::span<const std::uint64_t> bytes);

/// The first kernel whose static SLM alone is above the limit, or null: Intel's driver then refuses the whole
/// module, even when that kernel is never used. Pure.
[[nodiscard]] const KernelFacts* static_slm_over_limit(const ModuleFacts& module,
                                                       std::uint64_t slm_per_group);

/// What in a native binary ends the process inside a driver, before it is given to one: K0113 for
/// program-scope variables above `memory` bytes (0: not known), in SPIR-V also from 4 GiB on, K0114 for what
/// `.ze_info` must not say. Pure. Source: kernel_imp.cpp:858,1307, zeinfo_decoder.cpp:800 and
/// program_initialization.cpp:92-157 of intel/compute-runtime 26.31; drivers 22.43 and 26.27 without a GPU.
[[nodiscard]] std::optional<Diagnostic> check_module(const ModuleFacts& module, std::uint64_t memory);

/// K0109 for such a kernel. Pure.
[[nodiscard]] Diagnostic explain_static_slm(const KernelFacts& kernel, std::uint64_t slm_per_group);

}  // namespace kiln
