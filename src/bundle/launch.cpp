// SPDX-License-Identifier: MIT
// The launch path: check, then arguments, group size and append.
#include "kiln/launch.hpp"

#include "check/kernel_facts.hpp"
#include "kiln/refusal.hpp"
#include "level_zero/call.hpp"
#include "level_zero/survey.hpp"

namespace kiln {

Result<CheckedKernel> CheckedKernel::create(KernelRef kernel, KernelFacts facts,
                                            const ComputeProperties& device, KernelHome home) {
  auto properties = kernel.properties();
  KILN_TRY(properties);
  CheckedKernel checked;
  checked.kernel_ = kernel;
  checked.home_ = home;
  checked.facts_ = std::move(facts);
  if (!checked.facts_.arguments_known) {  // then at least their number
    ArgumentFacts unknown;
    unknown.kind = ArgumentKind::other;
    checked.facts_.arguments.resize(properties->arguments, unknown);
    for (ArgumentFacts& argument : checked.facts_.arguments)  // of a struct it may name some members alone
      if (argument.kind == ArgumentKind::value) argument.size = 0;
    checked.facts_.arguments_known = true;
  }
  if (properties->required_group_size[0] != 0)
    checked.facts_.required_group_size = properties->required_group_size;
  // A fresh kernel has no dynamic SLM yet, so this is the static part alone on every driver.
  if (checked.facts_.slm_mode == SlmMode::compiler_resolved && properties->local_memory != 0)
    checked.facts_.static_slm = properties->local_memory;
  // What a driver compiled for itself to a format of its own has no other facts than these.
  if (checked.facts_.simd_size == 0) {
    checked.facts_.private_per_thread = properties->private_memory;
    checked.facts_.scratch_per_thread = {properties->spill_memory, 0};
  }
  LaunchLimits& limits = checked.limits_;
  limits.slm_per_group = device.slm_per_group;
  limits.device_max_group_size = device.max_total_group_size;
  limits.max_group_size = properties->max_group_size.value_or(device.max_total_group_size);
  limits.max_group_extent = {device.max_group_size[0], device.max_group_size[1], device.max_group_size[2]};
  limits.max_groups = {device.max_group_count[0], device.max_group_count[1], device.max_group_count[2]};
  checked.gate_ = LaunchGate(checked.facts_, limits);
  return checked;
}

namespace {

// Cold and out of line, so that the way of a good launch stays short.
[[gnu::cold, gnu::noinline]] Result<void> refuse(LaunchVerdict verdict, const CheckedKernel& kernel,
                                                 const LaunchShape& shape,
                                                 std::span<const LaunchArgument> arguments) {
  return tl::unexpected(Error(code_of(verdict), "zeCommandListAppendLaunchKernel",
                              explain_launch(verdict, kernel.facts(), kernel.limits(), shape, arguments)));
}

// As the driver would: cmdlist_hw.inl:3997 and cmdlist_hw_xehp_and_later.inl:74 of
// intel/compute-runtime 26.31.
[[gnu::cold, gnu::noinline]] Result<void> refuse(Diagnostic diagnostic) {
  return tl::unexpected(
      Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "zeCommandListAppendLaunchKernel", std::move(diagnostic)));
}

bool are_of_one_driver(KernelRef kernel, CommandListRef list, EventRef signal,
                       const detail::Handles<ze_event_handle_t>& events) {
  const Api& api = kernel.api();
  return &list.api() == &api && (!signal || &signal.api() == &api) && events.is_of(api);
}

}  // namespace

Error detail::refuse_buffer(const CheckedKernel& kernel, std::span<const std::uint64_t> bytes) {
  return Error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "zeCommandListAppendLaunchKernel",
               explain_buffer(kernel.facts(), kernel.home().largest_buffer, bytes));
}

// Cold as well: the driver said no, though the check said yes.
Error detail::explain_unsent(Sent sent, CommandListRef list, const CheckedKernel& kernel,
                             const Launch& launch, std::span<const LaunchArgument> arguments) {
  const Handles events(launch.sync.wait);
  if (!list || events.has_empty()) return empty_handle(sent.call);
  if (!are_of_one_driver(kernel.kernel(), list, launch.sync.signal, events)) return foreign_handle(sent.call);
  const KernelHome& home = kernel.home();
  Refusal refusal = survey(sent.code, sent.call, home.device);
  refusal.driver_text = home.driver.last_error_description();
  return Error(sent.code, sent.call,
               explain_launch(refusal, kernel.facts(), kernel.limits(), {launch.groups, launch.group_size},
                              arguments));
}

detail::Sent detail::send_launch(CommandListRef list, KernelRef kernel, const Launch& launch,
                                 std::span<const LaunchArgument> arguments) {
  constexpr const char* kAppend = "zeCommandListAppendLaunchKernel";
  const Handles events(launch.sync.wait);
  if (!list || events.has_empty()) [[unlikely]]
    return {ZE_RESULT_ERROR_INVALID_NULL_HANDLE, kAppend};
  const Api& ze = kernel.api();
  if (!are_of_one_driver(kernel, list, launch.sync.signal, events)) [[unlikely]]
    return {ZE_RESULT_ERROR_INVALID_ARGUMENT, kAppend};
  // Straight through the table: a Result for each call would cost more than the check.
  std::uint32_t index = 0;
  for (const LaunchArgument& argument : arguments)
    if (const auto code = ze.zeKernelSetArgumentValue(kernel.raw(), index++, argument.size, argument.data))
        [[unlikely]]
      return {code, "zeKernelSetArgumentValue"};
  const Extent &size = launch.group_size, &groups = launch.groups;
  if (const auto code = ze.zeKernelSetGroupSize(kernel.raw(), size.x, size.y, size.z)) [[unlikely]]
    return {code, "zeKernelSetGroupSize"};
  const ze_group_count_t count{groups.x, groups.y, groups.z};
  return {ze.zeCommandListAppendLaunchKernel(list.raw(), kernel.raw(), &count, launch.sync.signal.raw(),
                                             events.size(), events.data()),
          kAppend};
}

Result<void> launch_with(CommandListRef list, const CheckedKernel& kernel, const Launch& launch,
                         std::span<const LaunchArgument> arguments) {
  if (!kernel.gate().admits(launch.groups, launch.group_size, arguments)) [[unlikely]] {
    const LaunchShape shape{launch.groups, launch.group_size};
    const LaunchVerdict verdict = check_launch(kernel.facts(), kernel.limits(), shape, arguments);
    // In the driver's order: what the kernel is comes before its SLM.
    if (verdict == LaunchVerdict::fits || verdict == LaunchVerdict::slm) {
      if (kernel.facts().is_invalid) return refuse(detail::explain_invalid(kernel.facts()));
      if (kernel.facts().needs_sync_buffer)
        return refuse(detail::explain_cooperative_only(kernel.facts(), Severity::error));
    }
    if (verdict != LaunchVerdict::fits) return refuse(verdict, kernel, shape, arguments);
  }
  const detail::Sent sent = detail::send_launch(list, kernel.kernel(), launch, arguments);
  if (sent.code == ZE_RESULT_SUCCESS) [[likely]]
    return {};
  return tl::unexpected(detail::explain_unsent(sent, list, kernel, launch, arguments));
}

}  // namespace kiln
