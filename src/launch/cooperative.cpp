// SPDX-License-Identifier: MIT
// Cooperative launches: checked like others, then held against the groups that run at the same time.
#include "kiln/cooperative.hpp"

#include <algorithm>

#include "kiln/occupancy.hpp"
#include "level_zero/call.hpp"
#include "level_zero/observe.hpp"

namespace kiln {
namespace {

constexpr const char* kCall = "zeCommandListAppendLaunchCooperativeKernel";

Result<void> check_shape(const CheckedKernel& kernel, const LaunchShape& shape,
                         std::span<const LaunchArgument> arguments, const char* call) {
  const LaunchVerdict verdict = check_launch(kernel.facts(), kernel.limits(), shape, arguments);
  if (verdict == LaunchVerdict::fits) return {};
  return tl::unexpected(Error(code_of(verdict), call,
                              explain_launch(verdict, kernel.facts(), kernel.limits(), shape, arguments)));
}

/// What the cores have room for; UINT64_MAX where the product or the kernel's width is not known.
std::uint64_t room(const CheckedKernel& kernel, const Extent& group_size,
                   std::span<const LaunchArgument> arguments) {
  if (!kernel.home().device || kernel.facts().simd_size == 0) return UINT64_MAX;
  const auto properties = kernel.home().device.properties();
  const Target* target =
      properties && properties->ip_version ? find_target(*properties->ip_version) : nullptr;
  if (!target) return UINT64_MAX;
  CoreLimits cores = core_limits(*target);
  cores.cores = properties->slices * properties->sub_slices_per_slice;
  cores.eus_per_core = properties->eus_per_sub_slice;
  cores.threads_per_eu = properties->threads_per_eu;
  return cooperative_groups(kernel.facts(), cores, total(group_size), total_slm(kernel.facts(), arguments));
}

Error too_many(const CheckedKernel& kernel, const Extent& groups, std::uint64_t most) {
  Diagnostic diagnostic{
      "K0120",
      "kernel `" + kernel.facts().name +
          "` is launched cooperatively with more groups than run at the "
          "same time",
      {{"asked for",
        std::to_string(groups.x) + " x " + std::to_string(groups.y) + " x " + std::to_string(groups.z)},
       {"most work-groups", {}, most}},
      {"launch at most " + std::to_string(most) + " groups, each of which does more of the work",
       "or make room for more at a time: fewer work-items a group, less SLM, fewer registers"}};
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, kCall, std::move(diagnostic));
}

Result<std::uint64_t> most_groups(const CheckedKernel& checked, const Extent& group_size,
                                  std::span<const LaunchArgument> arguments) {
  constexpr const char* kSuggest = "zeKernelSuggestMaxCooperativeGroupCount";
  const LaunchShape shape{{}, group_size};
  KILN_TRY(check_shape(checked, shape, arguments, kSuggest));
  KILN_TRY(detail::refuse_null_objects(checked, arguments));
  const KernelRef kernel = checked.kernel();
  std::uint32_t suggested = 0;
  detail::Sent sent = detail::set_up(kernel, group_size, arguments);
  if (sent.code == ZE_RESULT_SUCCESS)
    sent = {kernel.api().zeKernelSuggestMaxCooperativeGroupCount(kernel.raw(), &suggested), kSuggest};
  if (sent.code != ZE_RESULT_SUCCESS)
    return tl::unexpected(detail::explain_refused(sent, checked, shape, arguments));
  // On dg2 and tgllp driver 26.27 suggests 1 for everything, and takes more all the same.
  const std::uint64_t most = room(checked, group_size, arguments);
  return suggested == 1 && most != UINT64_MAX ? most : std::min<std::uint64_t>(suggested, most);
}

Result<void> launch_together(CommandListRef list, const CheckedKernel& kernel, const Launch& launch,
                             std::span<const LaunchArgument> arguments) {
  KILN_TRY(check_shape(kernel, {launch.groups, launch.group_size}, arguments, kCall));
  const auto most = most_groups(kernel, launch.group_size, arguments);
  KILN_TRY(most);
  if (total(launch.groups) > *most) return tl::unexpected(too_many(kernel, launch.groups, *most));
  const ze_group_count_t count{launch.groups.x, launch.groups.y, launch.groups.z};
  auto result =
      KILN_CALL(zeCommandListAppendLaunchCooperativeKernel, list, kernel.kernel(), &count,
                detail::Optional{launch.sync.signal}, static_cast<std::uint32_t>(launch.sync.wait.size()),
                detail::Handles(std::span(launch.sync.wait.data(), launch.sync.wait.size())));
  if (result || result.error().diagnostic()) return result;
  return tl::unexpected(detail::explain_refused({result.error().code(), kCall}, kernel,
                                                {launch.groups, launch.group_size}, arguments));
}

}  // namespace

Result<std::uint64_t> max_cooperative_groups(const CheckedKernel& kernel, const Extent& group_size,
                                             std::span<const LaunchArgument> arguments) {
  return detail::told(Refused::launch, most_groups(kernel, group_size, arguments));
}

Result<void> launch_cooperative_with(CommandListRef list, const CheckedKernel& kernel, const Launch& launch,
                                     std::span<const LaunchArgument> arguments) {
  return detail::told(Refused::launch, launch_together(list, kernel, launch, arguments));
}

}  // namespace kiln
