// SPDX-License-Identifier: MIT
// The launch path: check, then arguments, group size and append.
#include "kiln/launch.hpp"

#include <string_view>

#include "check/kernel_facts.hpp"
#include "kiln/refusal.hpp"
#include "kiln/structures.hpp"
#include "launch/kernel_state.hpp"
#include "level_zero/call.hpp"
#include "level_zero/observe.hpp"
#include "level_zero/survey.hpp"

namespace kiln {

void detail::add_properties(KernelFacts& facts, const KernelProperties& properties) {
  if (!facts.arguments_known) {  // then at least their number
    ArgumentFacts unknown;
    unknown.kind = ArgumentKind::other;
    facts.arguments.resize(properties.arguments, unknown);
    for (ArgumentFacts& argument : facts.arguments)  // of a struct it may name some members alone
      if (argument.kind == ArgumentKind::value) argument.size = 0;
    facts.arguments_known = true;
  }
  if (properties.required_group_size[0] != 0) facts.required_group_size = properties.required_group_size;
  // A fresh kernel has no dynamic SLM yet, so this is the static part alone on every driver.
  if (facts.slm_mode == SlmMode::compiler_resolved && properties.local_memory != 0)
    facts.static_slm = properties.local_memory;
  // What a driver compiled for itself to a format of its own has no other facts than these.
  if (facts.simd_size == 0) {
    facts.private_per_thread = properties.private_memory;
    facts.scratch_per_thread = {properties.spill_memory, 0};
  }
}

LaunchLimits detail::launch_limits(const KernelProperties& properties, const ComputeProperties& device) {
  LaunchLimits limits;
  limits.slm_per_group = device.slm_per_group;
  limits.device_max_group_size = device.max_total_group_size;
  limits.max_group_size = properties.max_group_size.value_or(device.max_total_group_size);
  limits.max_group_extent = {device.max_group_size[0], device.max_group_size[1], device.max_group_size[2]};
  limits.max_groups = {device.max_group_count[0], device.max_group_count[1], device.max_group_count[2]};
  return limits;
}

Result<CheckedKernel> CheckedKernel::create(KernelRef kernel, KernelFacts facts,
                                            const ComputeProperties& device, KernelHome home) {
  auto properties = kernel.properties();
  KILN_TRY(properties);
  constexpr ze_kernel_indirect_access_flags_t kAllKinds = ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                                          ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                                          ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
  if (facts.may_follow_pointers) KILN_TRY(kernel.set_indirect_access(kAllKinds));
  CheckedKernel checked;
  checked.kernel_ = kernel;
  checked.home_ = home;
  checked.facts_ = std::move(facts);
  detail::add_properties(checked.facts_, *properties);
  checked.limits_ = detail::launch_limits(*properties, device);
  checked.gate_ = LaunchGate(checked.facts_, checked.limits_);
  return checked;
}

namespace {

// Cold and out of line, so that the way of a good launch stays short.
[[gnu::cold, gnu::noinline]] Result<void> refuse(LaunchVerdict verdict, const CheckedKernel& kernel,
                                                 const LaunchShape& shape,
                                                 std::span<const LaunchArgument> arguments) {
  return tl::unexpected(detail::told(
      Refused::launch, Error(code_of(verdict), call_of(verdict),
                             explain_launch(verdict, kernel.facts(), kernel.limits(), shape, arguments))));
}

// As the driver would: cmdlist_hw.inl:3997 and cmdlist_hw_xehp_and_later.inl:74 of
// intel/compute-runtime 26.31.
[[gnu::cold, gnu::noinline]] Result<void> refuse(Diagnostic diagnostic) {
  return tl::unexpected(detail::told(
      Refused::launch,
      Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "zeCommandListAppendLaunchKernel", std::move(diagnostic))));
}

using detail::kAppendLaunch;
using detail::kSetArgument;
using detail::kSetGroupSize;

bool are_of_one_driver(KernelRef kernel, CommandListRef list, EventRef signal) {
  const Api* const table = kernel.table();
  return list.table() == table && (!signal || signal.table() == table);
}

/// Straight through the table: a Result for each call would cost more than the check.
[[gnu::always_inline]] inline detail::Sent send(CommandListRef list, KernelRef kernel, const Launch& launch,
                                                std::span<const LaunchArgument> arguments,
                                                ze_event_handle_t* events) {
  const Api& ze = *kernel.table();  // the list's, and a list that is not empty has one
  std::uint32_t index = 0;
  for (const LaunchArgument& argument : arguments)
    if (const auto code = ze.zeKernelSetArgumentValue(kernel.raw(), index++, argument.size,
                                                      detail::value_of(argument))) [[unlikely]]
      return {code, kSetArgument};
  const Extent &size = launch.group_size, &groups = launch.groups;
  if (const auto code = ze.zeKernelSetGroupSize(kernel.raw(), size.x, size.y, size.z)) [[unlikely]]
    return {code, kSetGroupSize};
  const ze_group_count_t count{groups.x, groups.y, groups.z};
  const auto waits = static_cast<std::uint32_t>(launch.sync.wait.size());
  return {ze.zeCommandListAppendLaunchKernel(list.raw(), kernel.raw(), &count, launch.sync.signal.raw(),
                                             waits, events),
          kAppendLaunch};
}

[[gnu::noinline]] detail::Sent send_behind_events(CommandListRef list, KernelRef kernel, const Launch& launch,
                                                  std::span<const LaunchArgument> arguments) {
  const detail::Handles events(std::span(launch.sync.wait.data(), launch.sync.wait.size()));
  if (events.has_empty()) return {ZE_RESULT_ERROR_INVALID_NULL_HANDLE, kAppendLaunch};
  if (!events.is_of(kernel.api())) return {ZE_RESULT_ERROR_INVALID_ARGUMENT, kAppendLaunch};
  return send(list, kernel, launch, arguments, events.data());
}

detail::Sent send_checked(CommandListRef list, KernelRef kernel, const Launch& launch,
                          std::span<const LaunchArgument> arguments) {
  if (!list || !are_of_one_driver(kernel, list, launch.sync.signal)) [[unlikely]]
    return {list ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_ERROR_INVALID_NULL_HANDLE, kAppendLaunch};
  if (!launch.sync.wait.empty()) return send_behind_events(list, kernel, launch, arguments);
  return send(list, kernel, launch, arguments, nullptr);
}

/// The first pointer that lies in no allocation of the driver; how many there are: none.
std::size_t stray_pointer(DriverRef driver, std::span<const LaunchArgument> arguments) {
  const auto context = ContextRef::create(driver);
  if (!context) return arguments.size();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_pointer = arguments[i].kind == ArgumentKind::global_pointer;
    const void* const address = is_pointer ? detail::pointer_of(arguments[i]) : nullptr;
    if (!address) continue;
    auto properties = make<ze_memory_allocation_properties_t>();
    const ze_result_t code =
        driver.api().zeMemGetAllocProperties(context->get().raw(), address, &properties, nullptr);
    if (code != ZE_RESULT_SUCCESS || properties.type == ZE_MEMORY_TYPE_UNKNOWN) return i;
  }
  return arguments.size();
}

}  // namespace

Error detail::refuse_buffer(const CheckedKernel& kernel, std::span<const std::uint64_t> bytes) {
  return told(Refused::launch, Error(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "zeCommandListAppendLaunchKernel",
                                     explain_buffer(kernel.facts(), kernel.home().largest_buffer, bytes)));
}

// Cold as well: the driver said no, though the check said yes.
Error detail::explain_unsent(Sent sent, CommandListRef list, const CheckedKernel& kernel,
                             const Launch& launch, std::span<const LaunchArgument> arguments) {
  const Handles events(std::span(launch.sync.wait.data(), launch.sync.wait.size()));
  if (!list || events.has_empty()) return told(Refused::launch, empty_handle(sent.call));
  if (!are_of_one_driver(kernel.kernel(), list, launch.sync.signal) || !events.is_of(list.api()))
    return told(Refused::launch, foreign_handle(sent.call));
  return told(Refused::launch, explain_refused(sent, kernel, {launch.groups, launch.group_size}, arguments));
}

Error detail::explain_refused(Sent sent, const CheckedKernel& kernel, const LaunchShape& shape,
                              std::span<const LaunchArgument> arguments) {
  const KernelHome& home = kernel.home();
  Refusal refusal = survey(sent.code, sent.call, home.device);
  refusal.driver_text = home.driver.last_error_description();
  const std::string_view call = sent.call;  // by its text: a program has literals of its own
  if (call == kSetArgument && sent.code == ZE_RESULT_ERROR_INVALID_ARGUMENT)
    if (const std::size_t stray = stray_pointer(home.driver, arguments); stray < arguments.size())
      return Error(sent.code, sent.call,
                   explain_pointer(refusal, kernel.facts(), stray, pointer_of(arguments[stray])));
  const bool cooperative = call == "zeCommandListAppendLaunchCooperativeKernel";
  if (sent.code == ZE_RESULT_ERROR_INVALID_ARGUMENT && (cooperative || call == kAppendLaunch) &&
      !is_lost(refusal))
    return Error(sent.code, sent.call, explain_list_kind(refusal, kernel.facts(), cooperative));
  return Error(sent.code, sent.call,
               explain_launch(refusal, kernel.facts(), kernel.limits(), shape, arguments));
}

detail::Sent detail::set_up(KernelRef kernel, const Extent& size, std::span<const LaunchArgument> arguments) {
  const Api& ze = kernel.api();
  for (std::uint32_t i = 0; i < arguments.size(); ++i)
    if (const auto code =
            ze.zeKernelSetArgumentValue(kernel.raw(), i, arguments[i].size, value_of(arguments[i])))
      return {code, kSetArgument};
  return {ze.zeKernelSetGroupSize(kernel.raw(), size.x, size.y, size.z), kSetGroupSize};
}

Result<void> detail::refuse_null_objects(const CheckedKernel& kernel,
                                         std::span<const LaunchArgument> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool object =
        arguments[i].kind == ArgumentKind::image || arguments[i].kind == ArgumentKind::sampler;
    if (object && !pointer_of(arguments[i]))
      return tl::unexpected(Error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, kSetArgument,
                                  explain_null_object(kernel.facts(), i, arguments[i].kind)));
  }
  return {};
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
    KILN_TRY(detail::told(Refused::launch, detail::refuse_null_objects(kernel, arguments)));
  }
  const detail::Sent sent = send_checked(list, kernel.kernel(), launch, arguments);
  if (sent.code == ZE_RESULT_SUCCESS) [[likely]]
    return {};
  return tl::unexpected(detail::explain_unsent(sent, list, kernel, launch, arguments));
}

}  // namespace kiln
