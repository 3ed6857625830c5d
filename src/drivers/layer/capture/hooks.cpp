// SPDX-License-Identifier: MIT
#include "drivers/layer/capture/hooks.hpp"

#include <algorithm>

#include "drivers/layer/capture/launch.hpp"
#include "drivers/layer/known.hpp"
#include "drivers/layer/settings.hpp"
#include "drivers/layer/tell.hpp"

namespace kiln::layer::capture {
namespace {

namespace hook {
#define KILN_OLD(table, place, name) decltype(::name) name;
#define KILN_NEW(table, place, since, name, type) std::remove_pointer_t<type> name;
#define KILN_ASKED(table, place, name)
KILN_CAPTURE_CALLS(KILN_OLD, KILN_NEW, KILN_ASKED)
#undef KILN_OLD
#undef KILN_NEW
#undef KILN_ASKED

ze_result_t ZE_APICALL zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
                                      const ze_module_desc_t* description, ze_module_handle_t* module,
                                      ze_module_build_log_handle_t* log) {
  const ze_result_t code = next.zeModuleCreate(context, device, description, module, log);
  if (description && is_capturing())
    quietly([&] {
      auto source = source_of(context, device, *description);
      if (code == ZE_RESULT_SUCCESS)
        objects.modules.add(*module, [&](CapturedModule& made) { made.source = std::move(source); });
      else
        write_refused_build("zeModuleCreate", code, *source, nullptr);
    });
  return code;
}

ze_result_t ZE_APICALL zeModuleDestroy(ze_module_handle_t module) {
  objects.modules.remove(module, [](CapturedModule& gone) { gone.source.reset(); });
  return next.zeModuleDestroy(module);
}

ze_result_t ZE_APICALL zeKernelCreate(ze_module_handle_t module, const ze_kernel_desc_t* description,
                                      ze_kernel_handle_t* kernel) {
  const ze_result_t code = next.zeKernelCreate(module, description, kernel);
  const CapturedModule* const of = module ? objects.modules.find(module) : nullptr;
  if (!of || !description || !description->pKernelName) return code;
  quietly([&] {
    if (code != ZE_RESULT_SUCCESS)
      return write_refused_build("zeKernelCreate", code, *of->source, description->pKernelName);
    objects.kernels.add(*kernel, [&](CapturedKernel& made) {
      made = {};
      made.source = of->source;
      made.name = description->pKernelName;
      made.chosen = is_chosen(made.name);
    });
  });
  return code;
}

ze_result_t ZE_APICALL zeKernelDestroy(ze_kernel_handle_t kernel) {
  objects.kernels.remove(kernel, [](CapturedKernel& gone) { gone = {}; });
  return next.zeKernelDestroy(kernel);
}

/// The record of a kernel that is to be captured; null: it is not.
CapturedKernel* record_of(ze_kernel_handle_t kernel) {
  CapturedKernel* const found = kernel ? objects.kernels.find(kernel) : nullptr;
  return found && found->chosen ? found : nullptr;
}

ze_result_t ZE_APICALL zeKernelSetGroupSize(ze_kernel_handle_t kernel, std::uint32_t x, std::uint32_t y,
                                            std::uint32_t z) {
  const ze_result_t code = next.zeKernelSetGroupSize(kernel, x, y, z);
  if (CapturedKernel* const record = record_of(kernel); record && code == ZE_RESULT_SUCCESS)
    record->group_size = {x, y, z};
  return code;
}

void note_argument(CapturedKernel& record, std::uint32_t index, std::size_t size, const void* value) {
  if (index >= record.arguments.size()) record.arguments.resize(index + std::size_t{1});
  Argument& argument = record.arguments[index];
  argument.set = true;
  argument.size = size;
  const auto* bytes = static_cast<const std::byte*>(value);
  if (!bytes) {
    argument.value.reset();
    return;
  }
  // Of fewer bytes than before drivers keep the others.
  if (!argument.value) argument.value.emplace();
  if (argument.value->size() < size) argument.value->resize(size);
  std::copy_n(bytes, size, argument.value->begin());
}

ze_result_t ZE_APICALL zeKernelSetArgumentValue(ze_kernel_handle_t kernel, std::uint32_t index,
                                                std::size_t size, const void* value) {
  const ze_result_t code = next.zeKernelSetArgumentValue(kernel, index, size, value);
  // Only what the driver took: it knows how many arguments there are.
  if (CapturedKernel* const record = record_of(kernel); record && code == ZE_RESULT_SUCCESS)
    quietly([&] { note_argument(*record, index, size, value); });
  return code;
}

ze_result_t ZE_APICALL zeKernelSetIndirectAccess(ze_kernel_handle_t kernel,
                                                 ze_kernel_indirect_access_flags_t flags) {
  const ze_result_t code = next.zeKernelSetIndirectAccess(kernel, flags);
  if (CapturedKernel* const record = record_of(kernel); record && code == ZE_RESULT_SUCCESS)
    record->indirect |= flags;  // as drivers do
  return code;
}

ze_result_t ZE_APICALL zeKernelSetGlobalOffsetExp(ze_kernel_handle_t kernel, std::uint32_t x, std::uint32_t y,
                                                  std::uint32_t z) {
  const ze_result_t code = next.zeKernelSetGlobalOffsetExp(kernel, x, y, z);
  if (CapturedKernel* const record = record_of(kernel); record && code == ZE_RESULT_SUCCESS)
    record->offset = {x, y, z};
  return code;
}

/// `append` takes the event to signal, and the events to wait for.
template <class Append>
ze_result_t captured_or_not(const Launch& launch, ze_event_handle_t signal, std::uint32_t waits,
                            ze_event_handle_t* events, Append append) {
  const Begun begun = begin(launch, waits, events);
  if (begun.captured) return end(begun.captured, append(nullptr, 0, nullptr), signal);
  const ze_result_t code = append(signal, waits, events);
  if (code != ZE_RESULT_SUCCESS)
    write_refused_launch(launch, code, begun.counted);
  else if (begun.why_not)
    tell_not_captured(launch, begun.why_not);
  return code;
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernel(ze_command_list_handle_t list,
                                                       ze_kernel_handle_t kernel,
                                                       const ze_group_count_t* groups,
                                                       ze_event_handle_t signal, std::uint32_t waits,
                                                       ze_event_handle_t* events) {
  if (!groups || !list)
    return next.zeCommandListAppendLaunchKernel(list, kernel, groups, signal, waits, events);
  return captured_or_not(
      {"zeCommandListAppendLaunchKernel", list, kernel, *groups, false}, signal, waits, events,
      [&](auto... sync) { return next.zeCommandListAppendLaunchKernel(list, kernel, groups, sync...); });
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchCooperativeKernel(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t* groups,
    ze_event_handle_t signal, std::uint32_t waits, ze_event_handle_t* events) {
  if (!groups || !list)
    return next.zeCommandListAppendLaunchCooperativeKernel(list, kernel, groups, signal, waits, events);
  return captured_or_not({"zeCommandListAppendLaunchCooperativeKernel", list, kernel, *groups, true}, signal,
                         waits, events, [&](auto... sync) {
                           return next.zeCommandListAppendLaunchCooperativeKernel(list, kernel, groups,
                                                                                  sync...);
                         });
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernelIndirect(ze_command_list_handle_t list,
                                                               ze_kernel_handle_t kernel,
                                                               const ze_group_count_t* groups,
                                                               ze_event_handle_t signal, std::uint32_t waits,
                                                               ze_event_handle_t* events) {
  const Launch launch{"zeCommandListAppendLaunchKernelIndirect", list, kernel, {}, false,
                      "its group count lies in memory"};
  return captured_or_not(launch, signal, waits, events, [&](auto... sync) {
    return next.zeCommandListAppendLaunchKernelIndirect(list, kernel, groups, sync...);
  });
}

constexpr const char* kChained = "it has chained parameters";

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernelWithParameters(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t* groups,
    const void* more, ze_event_handle_t signal, std::uint32_t waits, ze_event_handle_t* events) {
  if (!groups || !list)
    return next.zeCommandListAppendLaunchKernelWithParameters(list, kernel, groups, more, signal, waits,
                                                              events);
  const Launch launch{"zeCommandListAppendLaunchKernelWithParameters",
                      list,
                      kernel,
                      *groups,
                      false,
                      more ? kChained : nullptr};
  return captured_or_not(launch, signal, waits, events, [&](auto... sync) {
    return next.zeCommandListAppendLaunchKernelWithParameters(list, kernel, groups, more, sync...);
  });
}

/// What is given with the launch is the kernel's from then on.
void note_arguments(ze_kernel_handle_t kernel, const layer::abi::GroupSize& size, void** arguments) {
  CapturedKernel* const record = record_of(kernel);
  const KnownKernel* const of_layer = known.kernels.find(kernel);
  if (!record || !of_layer || !of_layer->module || !arguments) return;
  record->group_size = {size.x, size.y, size.z};
  const KernelFacts* const facts = of_layer->module->facts().find(record->name);
  if (!facts || !facts->arguments_known) return;
  for (std::uint32_t i = 0; i < facts->arguments.size(); ++i) {
    const ArgumentFacts& each = facts->arguments[i];
    if (each.kind != ArgumentKind::local_pointer)
      note_argument(*record, i, each.size, arguments[i]);
    else if (arguments[i])
      note_argument(*record, i, *static_cast<const std::size_t*>(arguments[i]), nullptr);
  }
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernelWithArguments(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, ze_group_count_t groups,
    layer::abi::GroupSize size, void** arguments, const void* more, ze_event_handle_t signal,
    std::uint32_t waits, ze_event_handle_t* events) {
  const auto append = [&](auto... sync) {
    return next.zeCommandListAppendLaunchKernelWithArguments(list, kernel, groups, size, arguments, more,
                                                             sync...);
  };
  if (!list || !arguments) return append(signal, waits, events);
  quietly([&] { note_arguments(kernel, size, arguments); });
  const Launch launch{
      "zeCommandListAppendLaunchKernelWithArguments", list, kernel, groups, false, more ? kChained : nullptr};
  return captured_or_not(launch, signal, waits, events, append);
}

ze_result_t ZE_APICALL zeModuleDynamicLink(std::uint32_t count, ze_module_handle_t* modules,
                                           ze_module_build_log_handle_t* log) {
  const ze_result_t code = next.zeModuleDynamicLink(count, modules, log);
  for (std::uint32_t i = 0; modules && i < count; ++i)
    if (const CapturedModule* const of = objects.modules.find(modules[i])) of->source->linked = true;
  return code;
}

ze_result_t ZE_APICALL zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t queue, std::uint32_t count,
                                                         ze_command_list_handle_t* lists,
                                                         ze_fence_handle_t fence) {
  if (lists) note_submission({lists, count});
  const ze_result_t code = next.zeCommandQueueExecuteCommandLists(queue, count, lists, fence);
  noticed(code);  // of a synchronous queue
  return code;
}

ze_result_t ZE_APICALL zeCommandListImmediateAppendCommandListsExp(
    ze_command_list_handle_t list, std::uint32_t count, ze_command_list_handle_t* lists,
    ze_event_handle_t signal, std::uint32_t waits, ze_event_handle_t* events) {
  if (lists) note_submission({lists, count});
  const ze_result_t code =
      next.zeCommandListImmediateAppendCommandListsExp(list, count, lists, signal, waits, events);
  noticed(code);
  return code;
}

ze_result_t ZE_APICALL zeCommandListDestroy(ze_command_list_handle_t list) {
  drop_list(list);
  return next.zeCommandListDestroy(list);
}

ze_result_t ZE_APICALL zeCommandListReset(ze_command_list_handle_t list) {
  drop_list(list);
  return next.zeCommandListReset(list);
}

ze_result_t ZE_APICALL zeContextDestroy(ze_context_handle_t context) {
  drop_context(context);
  return next.zeContextDestroy(context);
}

/// The program learns that something is done.
template <class Wait>
ze_result_t waited(Wait wait) {
  const ze_result_t code = wait();
  noticed(code);
  return code;
}

ze_result_t ZE_APICALL zeCommandListHostSynchronize(ze_command_list_handle_t list, std::uint64_t timeout) {
  return waited([&] { return next.zeCommandListHostSynchronize(list, timeout); });
}

ze_result_t ZE_APICALL zeCommandQueueSynchronize(ze_command_queue_handle_t queue, std::uint64_t timeout) {
  return waited([&] { return next.zeCommandQueueSynchronize(queue, timeout); });
}

ze_result_t ZE_APICALL zeEventHostSynchronize(ze_event_handle_t event, std::uint64_t timeout) {
  return waited([&] { return next.zeEventHostSynchronize(event, timeout); });
}

ze_result_t ZE_APICALL zeEventQueryStatus(ze_event_handle_t event) {
  return waited([&] { return next.zeEventQueryStatus(event); });
}

ze_result_t ZE_APICALL zeFenceHostSynchronize(ze_fence_handle_t fence, std::uint64_t timeout) {
  return waited([&] { return next.zeFenceHostSynchronize(fence, timeout); });
}

ze_result_t ZE_APICALL zeFenceQueryStatus(ze_fence_handle_t fence) {
  return waited([&] { return next.zeFenceQueryStatus(fence); });
}

}  // namespace hook

struct CaptureHook {
  Hook hook;
  bool asked;
};

constexpr bool kAsked = true;

std::span<const CaptureHook> all_hooks() {
  static const CaptureHook all[] = {
#define KILN_OLD(table, place, name) KILN_NEW(table, place, 0, name, )
#define KILN_NEW(table, place, since, name, type)                        \
  {{#table, place, since, #name, reinterpret_cast<Address*>(&next.name), \
    reinterpret_cast<Address>(&hook::name)},                             \
   !kAsked},
#define KILN_ASKED(table, place, name) \
  {{#table, place, 0, #name, reinterpret_cast<Address*>(&next.name), nullptr}, kAsked},
      KILN_CAPTURE_CALLS(KILN_OLD, KILN_NEW, KILN_ASKED)
#undef KILN_OLD
#undef KILN_NEW
#undef KILN_ASKED
  };
  return all;
}

}  // namespace

void fill(std::string_view table, ze_api_version_t version, const Address* of_driver, Address* members) {
  if (settings().capture.empty()) return;
  for (const auto& [hook, asked] : all_hooks()) {
    if (hook.table != table || hook.since > ZE_MINOR_VERSION(static_cast<std::uint32_t>(version)) ||
        !of_driver[hook.place])
      continue;
    *hook.real = asked ? of_driver[hook.place] : members[hook.place];
    if (!asked) members[hook.place] = hook.own;
  }
}

Address in_front_of(std::string_view name, Address found) {
  if (settings().capture.empty()) return found;
  for (const auto& [hook, asked] : all_hooks()) {
    if (hook.name != name || asked) continue;
    if (!*hook.real) *hook.real = found;
    return hook.own;
  }
  return found;
}

}  // namespace kiln::layer::capture
