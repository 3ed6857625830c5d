// SPDX-License-Identifier: MIT
// The verdict on a launch: the hot half of the check, without allocation.
#include "kiln/check.hpp"

#include <algorithm>

namespace kiln {
namespace {

constexpr std::uint64_t kSaturated = std::uint64_t{1} << 48;  // bytes; far above any device, safe to add up
constexpr std::uint64_t kDynamicGranule = 1024;               // bytes
constexpr std::uint32_t kDefaultAlignment = 16;  // bytes; Intel's driver, where the file is silent

/// `alignment` is a power of two, or 0 for none.
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  const std::uint64_t mask = alignment - (alignment != 0);
  return (value + mask) & ~mask;
}

/// A work-group's SLM, laid out argument by argument.
class SlmSum {
 public:
  explicit SlmSum(const KernelFacts& kernel)
      : static_(std::min(kernel.static_slm, kSaturated)),
        // In runtime_adjusted mode the arguments are laid out behind the static arrays.
        beside_(kernel.slm_mode == SlmMode::runtime_adjusted ? 0 : static_),
        end_(static_ - beside_) {}

  void add(std::uint64_t bytes, std::uint32_t alignment) {
    end_ = align_up(end_, alignment) + std::min(bytes, kSaturated);
    dynamic_ = true;
  }
  void add(const KernelFacts& kernel, std::span<const LaunchArgument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].kind == ArgumentKind::local_pointer)
        add(arguments[i].size,
            i < kernel.arguments.size() ? kernel.arguments[i].local_alignment : kDefaultAlignment);
  }

  [[nodiscard]] std::uint64_t dynamic() const { return dynamic_ ? align_up(end_, kDynamicGranule) : 0; }
  [[nodiscard]] std::uint64_t total() const { return dynamic_ ? dynamic() + beside_ : static_; }

 private:
  std::uint64_t static_, beside_, end_;  // bytes
  bool dynamic_ = false;
};

/// Are these the arguments that the kernel takes? Adds the `__local` ones up on the way: this is the hot
/// path.
LaunchVerdict check_arguments(const KernelFacts& kernel, std::span<const LaunchArgument> arguments,
                              SlmSum& slm) {
  if (!kernel.arguments_known) [[unlikely]] {
    slm.add(kernel, arguments);
    return LaunchVerdict::fits;
  }
  if (arguments.size() != kernel.arguments.size()) return LaunchVerdict::argument_count;
  const ArgumentFacts* wanted = kernel.arguments.data();
  for (const LaunchArgument& given : arguments) {
    if (given.kind != wanted->kind && wanted->kind != ArgumentKind::other)
      return LaunchVerdict::argument_kind;
    if (given.kind == ArgumentKind::local_pointer)
      slm.add(given.size, wanted->local_alignment);
    else if (given.size != wanted->size && wanted->size != 0)  // 0: the file does not say
      return LaunchVerdict::argument_size;
    ++wanted;
  }
  return LaunchVerdict::fits;
}

/// Zero or above the limit, in one comparison: zero wraps round to the largest.
constexpr bool outside(std::uint32_t size, std::uint32_t limit) { return size - 1 >= limit; }

LaunchVerdict check_shape(const KernelFacts& kernel, const LaunchLimits& limits, const LaunchShape& shape) {
  const Extent &size = shape.group_size, &most = limits.max_group_extent;
  if (outside(size.x, most.x) || outside(size.y, most.y) || outside(size.z, most.z)) [[unlikely]]
    return size.x && size.y && size.z ? LaunchVerdict::group_size : LaunchVerdict::zero_group_size;
  std::uint64_t items = 0;
  const bool wraps = __builtin_mul_overflow(std::uint64_t{size.x} * size.y, std::uint64_t{size.z}, &items);
  if (wraps || items > limits.max_group_size) return LaunchVerdict::group_size;
  const auto& required = kernel.required_group_size;
  if (required[0] != 0 && Extent{required[0], required[1], required[2]} != size)
    return LaunchVerdict::required_group_size;
  const Extent& groups = shape.groups;
  if (groups.x > limits.max_groups.x || groups.y > limits.max_groups.y || groups.z > limits.max_groups.z)
    return LaunchVerdict::group_count;
  return LaunchVerdict::fits;
}

}  // namespace

std::uint64_t dynamic_slm(const KernelFacts& kernel, std::span<const LaunchArgument> arguments) {
  SlmSum slm(kernel);
  slm.add(kernel, arguments);
  return slm.dynamic();
}

std::uint64_t total_slm(const KernelFacts& kernel, std::span<const LaunchArgument> arguments) {
  SlmSum slm(kernel);
  slm.add(kernel, arguments);
  return slm.total();
}

LaunchVerdict check_launch(const KernelFacts& kernel, const LaunchLimits& limits, const LaunchShape& shape,
                           std::span<const LaunchArgument> arguments) {
  SlmSum slm(kernel);
  LaunchVerdict verdict = check_arguments(kernel, arguments, slm);
  if (verdict == LaunchVerdict::fits) verdict = check_shape(kernel, limits, shape);
  if (verdict == LaunchVerdict::fits && slm.total() > limits.slm_per_group) verdict = LaunchVerdict::slm;
  return verdict;
}

LaunchGate::LaunchGate(const KernelFacts& kernel, const LaunchLimits& limits) {
  const std::uint64_t fixed = kernel.static_slm, limit = limits.slm_per_group;
  std::uint64_t most_items = 0;  // by dimension alone; must not wrap, admits() multiplies without a look
  const Extent& most = limits.max_group_extent;
  const bool wraps =
      __builtin_mul_overflow(std::uint64_t{most.x} * most.y, std::uint64_t{most.z}, &most_items);
  const auto& required = kernel.required_group_size;
  const auto reachable = [](std::uint32_t size, std::uint32_t limit) { return size != 0 && size <= limit; };
  const bool possible = required[0] == 0 ? most_items != 0
                                         : reachable(required[0], most.x) && reachable(required[1], most.y) &&
                                               reachable(required[2], most.z);
  if (kernel.is_invalid || kernel.needs_sync_buffer) return;
  if (!kernel.arguments_known || wraps || !possible || fixed > limit || limit > kSaturated) return;

  bool dynamic = false;
  for (const ArgumentFacts& argument : kernel.arguments) {
    const bool local = argument.kind == ArgumentKind::local_pointer;
    const bool plain = argument.kind == ArgumentKind::value || argument.kind == ArgumentKind::global_pointer;
    if (!local && (!plain || argument.size == 0)) return;  // takes the long way
    slots_.push_back({argument.kind, local ? std::max(argument.local_alignment, 1u) - 1 : argument.size});
    dynamic |= local;
  }
  const bool behind = dynamic && kernel.slm_mode == SlmMode::runtime_adjusted;
  slm_start_ = behind ? fixed : 0;
  slm_room_ = (behind ? limit : limit - fixed) / kDynamicGranule * kDynamicGranule;
  first_ = required[0] ? Extent{required[0], required[1], required[2]} : Extent{1, 1, 1};
  span_ = required[0] ? Extent{0, 0, 0} : Extent{most.x - 1, most.y - 1, most.z - 1};
  max_groups_ = limits.max_groups;
  max_items_ = limits.max_group_size;
}

ze_result_t code_of(LaunchVerdict verdict) {
  switch (verdict) {
    case LaunchVerdict::fits:
      return ZE_RESULT_SUCCESS;
    case LaunchVerdict::argument_count:
      return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    case LaunchVerdict::argument_kind:
    case LaunchVerdict::argument_size:
      return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    case LaunchVerdict::zero_group_size:
    case LaunchVerdict::group_count:
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    case LaunchVerdict::group_size:
    case LaunchVerdict::required_group_size:
      return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    case LaunchVerdict::slm:
      return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  return ZE_RESULT_ERROR_UNKNOWN;
}

const char* call_of(LaunchVerdict verdict) {
  switch (verdict) {
    case LaunchVerdict::argument_count:
    case LaunchVerdict::argument_kind:
    case LaunchVerdict::argument_size:
      return "zeKernelSetArgumentValue";
    case LaunchVerdict::zero_group_size:
    case LaunchVerdict::group_size:
    case LaunchVerdict::required_group_size:
      return "zeKernelSetGroupSize";
    case LaunchVerdict::fits:
    case LaunchVerdict::group_count:
    case LaunchVerdict::slm:
      break;
  }
  return "zeCommandListAppendLaunchKernel";
}

const KernelFacts* static_slm_over_limit(const ModuleFacts& module, std::uint64_t slm_per_group) {
  const auto found = std::ranges::find_if(
      module.kernels, [&](const KernelFacts& kernel) { return kernel.static_slm > slm_per_group; });
  return found == module.kernels.end() ? nullptr : &*found;
}

}  // namespace kiln
