// SPDX-License-Identifier: MIT
// Append functions that launch kernels: arguments are captured here, and limits are checked before anything
// is queued.
#include "drivers/cpu/api/api.hpp"
#include "drivers/cpu/objects/command_list.hpp"
#include "drivers/cpu/objects/kernel.hpp"
#include "drivers/cpu/objects/last_error.hpp"

namespace kiln::cpu {
namespace {

/// A list for copies alone runs no kernels. Intel's driver, too, takes kernels whose work-groups wait for
/// each other in cooperative launches alone.
ze_result_t check_launch(ze_command_list_handle_t list, const Kernel& kernel, bool cooperative) {
  if (kernel.compiled->grid_barrier && !cooperative) {
    set_last_error(
        "Kernel " + kernel.facts().name +
        " has a barrier of all work-groups: launch it with zeCommandListAppendLaunchCooperativeKernel");
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  if (object<CommandList>(list)->ordinal == kCopyGroup) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
  return kernel.check_launch();
}

void capture(Launch& launch, const Kernel& kernel) {
  launch.program = kernel.program;
  launch.kernel = kernel.compiled;
  launch.arguments =
      kernel.arguments;  // into the memory of an earlier launch, when the command is a reused one
  launch.group_size = kernel.group_size;
  launch.global_offset = kernel.global_offset;
  launch.indirect_access = kernel.indirect_access;
}

template <bool kCooperative>
ze_result_t launch(ze_command_list_handle_t list, const Kernel& kernel, const ze_group_count_t& groups,
                   const Links& links) {
  if (const auto result = check_launch(list, kernel, kCooperative); result != ZE_RESULT_SUCCESS)
    return result;
  return append(list, links, [&](Command& command) {
    capture(command.launch, kernel);
    command.launch.cooperative = kCooperative;
    command.launch.groups = {groups.groupCountX, groups.groupCountY, groups.groupCountZ};
  });
}

ze_result_t launch_cooperative(ze_command_list_handle_t list, const Kernel& kernel,
                               const ze_group_count_t& groups, const Links& links) {
  if (const auto result = kernel.check_slm(); result != ZE_RESULT_SUCCESS) return result;
  // Each factor is bounded first, so that the product cannot wrap.
  const std::uint64_t limit = max_cooperative_groups();
  if (groups.groupCountX > limit || groups.groupCountY > limit || groups.groupCountZ > limit ||
      std::uint64_t{groups.groupCountX} * groups.groupCountY > limit ||
      std::uint64_t{groups.groupCountX} * groups.groupCountY * groups.groupCountZ > limit)
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  return launch<true>(list, kernel, groups, links);
}

}  // namespace

ze_result_t command_list_append_launch_kernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                              const ze_group_count_t* groups, ze_event_handle_t signal,
                                              std::uint32_t wait_count, ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_HANDLE(kernel);
  KILN_NEED_POINTER(groups);
  return launch<false>(list, *object<Kernel>(kernel), *groups, {signal, wait_count, waits});
}

ze_result_t command_list_append_launch_cooperative_kernel(ze_command_list_handle_t list,
                                                          ze_kernel_handle_t kernel,
                                                          const ze_group_count_t* groups,
                                                          ze_event_handle_t signal, std::uint32_t wait_count,
                                                          ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_HANDLE(kernel);
  KILN_NEED_POINTER(groups);
  return launch_cooperative(list, *object<Kernel>(kernel), *groups, {signal, wait_count, waits});
}

ze_result_t command_list_append_launch_kernel_indirect(ze_command_list_handle_t list,
                                                       ze_kernel_handle_t handle,
                                                       const ze_group_count_t* groups,
                                                       ze_event_handle_t signal, std::uint32_t wait_count,
                                                       ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_HANDLE(handle);
  KILN_NEED_POINTER(groups);
  const Kernel& kernel = *object<Kernel>(handle);
  if (const auto result = check_launch(list, kernel, false); result != ZE_RESULT_SUCCESS) return result;
  return append(list, {signal, wait_count, waits}, [&](Command& command) {
    capture(command.launch, kernel);
    command.launch.indirect = groups;
  });
}

ze_result_t command_list_append_launch_multiple_kernels_indirect(
    ze_command_list_handle_t list, std::uint32_t count, ze_kernel_handle_t* kernels,
    const std::uint32_t* count_in_memory, const ze_group_count_t* groups, ze_event_handle_t signal,
    std::uint32_t wait_count, ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_POINTER(kernels);
  KILN_NEED_POINTER(count_in_memory);
  KILN_NEED_POINTER(groups);
  for (std::uint32_t i = 0; i < count; ++i) {
    KILN_NEED_HANDLE(kernels[i]);
    if (const auto result = check_launch(list, *object<Kernel>(kernels[i]), false);
        result != ZE_RESULT_SUCCESS)
      return result;
  }
  // The first command waits, the last one signals; those between are kept in order.
  if (count == 0) return command_list_append_barrier(list, signal, wait_count, waits);
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const Links links{last ? signal : nullptr, i == 0 ? wait_count : 0, waits};
    const auto result = append(list, links, [&](Command& command) {
      capture(command.launch, *object<Kernel>(kernels[i]));
      command.barrier = i != 0;
      command.launch.indirect = groups + i;
      command.launch.indirect_limit = count_in_memory;
      command.launch.indirect_index = i;
    });
    if (result != ZE_RESULT_SUCCESS) return result;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_append_launch_kernel_with_parameters(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t* groups,
    const void* next, ze_event_handle_t signal, std::uint32_t wait_count, ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_HANDLE(kernel);
  KILN_NEED_POINTER(groups);
  const auto* cooperative = find_chained<abi::AppendCooperative>(next, abi::kAppendCooperative);
  const auto launcher = cooperative && cooperative->isCooperative ? launch_cooperative : launch<false>;
  return launcher(list, *object<Kernel>(kernel), *groups, {signal, wait_count, waits});
}

ze_result_t command_list_append_launch_kernel_with_arguments(
    ze_command_list_handle_t list, ze_kernel_handle_t handle, ze_group_count_t groups,
    abi::GroupSize group_size, void** arguments, const void* next, ze_event_handle_t signal,
    std::uint32_t wait_count, ze_event_handle_t* waits) {
  KILN_NEED_HANDLE(list);
  KILN_NEED_HANDLE(handle);
  Kernel& kernel = *object<Kernel>(handle);
  const auto& facts = kernel.facts().arguments;
  if (!facts.empty()) KILN_NEED_POINTER(arguments);
  if (const auto result = kernel.set_group_size(group_size.x, group_size.y, group_size.z);
      result != ZE_RESULT_SUCCESS)
    return result;
  for (std::uint32_t i = 0; i < facts.size(); ++i) {
    const bool local = facts[i].kind == ArgumentKind::local_pointer;
    // For a local pointer the array holds a pointer to the size in bytes.
    if (local && !arguments[i]) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    std::size_t size = facts[i].kind == ArgumentKind::global_pointer ? sizeof(void*) : facts[i].size;
    if (local) size = *static_cast<const std::size_t*>(arguments[i]);
    const auto result = guarded([&] { return kernel.set_argument(i, size, local ? nullptr : arguments[i]); });
    if (result != ZE_RESULT_SUCCESS) return result;
  }
  return command_list_append_launch_kernel_with_parameters(list, handle, &groups, next, signal, wait_count,
                                                           waits);
}

}  // namespace kiln::cpu
