// SPDX-License-Identifier: MIT
// Kernels and their launches: what a launch takes is remembered, and a refused one explained.
#include <utility>

#include "drivers/layer/explain.hpp"
#include "drivers/layer/guard.hpp"
#include "drivers/layer/hooks.hpp"
#include "drivers/layer/real_driver.hpp"
#include "drivers/layer/recorder.hpp"
#include "drivers/layer/tell.hpp"

namespace kiln::layer {
namespace {

// Cold and out of line, so that the way of a call that succeeds stays short.
#define KILN_COLD [[gnu::cold, gnu::noinline]] ze_result_t

KILN_COLD refused_argument(const Failed failed, ze_kernel_handle_t kernel, std::uint32_t index,
                           std::size_t size, const void* value) {
  tell([&] { return explain_argument(failed, kernel, index, size, value); });
  return failed.code;
}

KILN_COLD refused_group_size(const Failed failed, ze_kernel_handle_t kernel, const Extent size) {
  tell([&] { return explain_group_size(failed, kernel, size); });
  return failed.code;
}

/// `groups` may lie in memory of the device, and then is not looked at.
KILN_COLD refused_launch(const Failed failed, ze_kernel_handle_t kernel, const ze_group_count_t* groups) {
  const Extent count =
      groups ? Extent{groups->groupCountX, groups->groupCountY, groups->groupCountZ} : Extent{};
  tell([&] { return explain_launch(failed, kernel, count); });
  return failed.code;
}

KILN_COLD refused_kernel(const Failed failed, ze_module_handle_t module, const ze_kernel_desc_t* description,
                         const std::string& before) {
  tell([&] {
    const std::string text = last_error_text();
    return explain_kernel(failed, module, description ? description->pKernelName : nullptr,
                          text == before ? "" : text);
  });
  return failed.code;
}

/// Its place in the record.
std::uint32_t name_of(const ze_kernel_desc_t* description) noexcept {
  std::uint32_t place = 0;
  quietly([&] {
    if (description && description->pKernelName) place = recorded_name(description->pKernelName);
  });
  return place;
}

void remember(ze_module_handle_t module, const char* name, ze_kernel_handle_t kernel) {
  const Api* api = real_api();
  const ModuleEntry* entry = known.modules.find(module);
  if (!api || !entry || !name) return;
  const auto properties = KernelRef(kernel, *api).properties();
  if (guarding)
    static_cast<void>(entry->module->facts());  // asks the driver, which the map's lock must not span
  known.kernels.add(kernel, [&](KnownKernel& made) {
    made.module = entry->module;
    made.name = name;
    made.recorded_name = recorded_name(made.name);
    made.properties = properties ? *properties : KernelProperties();
    made.set_group_size({0, 0, 0});
    made.count = made.properties.arguments;
    made.storage = std::make_unique<KnownArgument[]>(made.count);
    made.arguments = made.storage.get();
    if (guarding) guard_kernel(made);
  });
}

}  // namespace

ze_result_t ZE_APICALL hook::zeKernelCreate(ze_module_handle_t module, const ze_kernel_desc_t* description,
                                            ze_kernel_handle_t* kernel) {
  KILN_GUARD(guard_kernel(module, description, kernel));
  const std::string before = last_error_text();
  const Recording recording(record::Call::kernel, module);
  recording.set_name(name_of(description));
  recording.begin();
  const ze_result_t code = real.zeKernelCreate(module, description, kernel);
  recording.end(code);
  if (code != ZE_RESULT_SUCCESS) return refused_kernel({code, "zeKernelCreate"}, module, description, before);
  if (guarding) [[unlikely]]
    if (const ze_result_t judged = guard_made_kernel(module, *description, *kernel);
        judged != ZE_RESULT_SUCCESS) {
      real.zeKernelDestroy(std::exchange(*kernel, nullptr));
      return judged;
    }
  quietly([&] { remember(module, description->pKernelName, *kernel); });
  return code;
}

ze_result_t ZE_APICALL hook::zeKernelDestroy(ze_kernel_handle_t kernel) {
  KILN_GUARD(need_handles("zeKernelDestroy", kernel));
  // Before the driver has it: another thread may get the same handle at once.
  known.kernels.remove(kernel, [](KnownKernel& gone) {
    gone.count = 0;
    gone.module.reset();
    gone.guard.reset();
  });
  return real.zeKernelDestroy(kernel);
}

ze_result_t ZE_APICALL hook::zeKernelGetProperties(ze_kernel_handle_t kernel,
                                                   ze_kernel_properties_t* properties) {
  KILN_GUARD(first_of(need_handles("zeKernelGetProperties", kernel),
                      need("zeKernelGetProperties", "properties", properties)));
  struct Chained {
    ze_structure_type_t stype;
    Chained* next;
  };
  auto* first = guarding ? static_cast<Chained*>(properties->pNext) : nullptr;
  if (!first || !first->next) return real.zeKernelGetProperties(kernel, properties);
  // Drivers 22.43 to 22.52 loop for ever over two structures: each in a call of its own.
  ze_result_t code = ZE_RESULT_SUCCESS;
  for (Chained* each = first; each && code == ZE_RESULT_SUCCESS;) {
    Chained* const next = each->next;
    properties->pNext = each;
    each->next = nullptr;
    code = real.zeKernelGetProperties(kernel, properties);
    each->next = next;
    each = next;
  }
  properties->pNext = first;
  return code;
}

ze_result_t ZE_APICALL hook::zeKernelSetArgumentValue(ze_kernel_handle_t kernel, std::uint32_t index,
                                                      std::size_t size, const void* value) {
  KnownKernel* const known_kernel = known.kernels.find(kernel);
  KILN_GUARD(guard_argument(kernel, known_kernel, index, size, value));
  const ze_result_t code = real.zeKernelSetArgumentValue(kernel, index, size, value);
  if (code != ZE_RESULT_SUCCESS) [[unlikely]]
    return refused_argument({code, "zeKernelSetArgumentValue"}, kernel, index, size, value);
  if (!known_kernel || index >= known_kernel->count) return code;
  KnownArgument& argument = known_kernel->arguments[index];
  argument.size = size;
  argument.null = !value;
  return code;
}

ze_result_t ZE_APICALL hook::zeKernelSetGroupSize(ze_kernel_handle_t kernel, std::uint32_t x, std::uint32_t y,
                                                  std::uint32_t z) {
  KnownKernel* const known_kernel = known.kernels.find(kernel);
  KILN_GUARD(guard_group_size(kernel, known_kernel, {x, y, z}));
  const ze_result_t code = real.zeKernelSetGroupSize(kernel, x, y, z);
  if (code != ZE_RESULT_SUCCESS) [[unlikely]]
    return refused_group_size({code, "zeKernelSetGroupSize"}, kernel, {x, y, z});
  if (known_kernel) known_kernel->set_group_size({x, y, z});
  return code;
}

ze_result_t ZE_APICALL hook::zeKernelSuggestGroupSize(ze_kernel_handle_t kernel, std::uint32_t x,
                                                      std::uint32_t y, std::uint32_t z, std::uint32_t* size_x,
                                                      std::uint32_t* size_y, std::uint32_t* size_z) {
  KILN_GUARD(guard_launch("zeKernelSuggestGroupSize", kernel, kernel, known.kernels.find(kernel),
                          size_x && size_y ? size_z : nullptr));
  const ze_result_t code = real.zeKernelSuggestGroupSize(kernel, x, y, z, size_x, size_y, size_z);
  if (code != ZE_RESULT_SUCCESS) [[unlikely]]
    return refused_group_size({code, "zeKernelSuggestGroupSize"}, kernel, {1, 1, 1});
  return code;
}

ze_result_t ZE_APICALL hook::zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t kernel,
                                                                     std::uint32_t* groups) {
  KILN_GUARD(guard_launch("zeKernelSuggestMaxCooperativeGroupCount", kernel, kernel,
                          known.kernels.find(kernel), groups));
  const ze_result_t code = real.zeKernelSuggestMaxCooperativeGroupCount(kernel, groups);
  if (code != ZE_RESULT_SUCCESS) [[unlikely]]
    return refused_launch({code, "zeKernelSuggestMaxCooperativeGroupCount"}, kernel, nullptr);
  return code;
}

namespace {

const KnownKernel unknown_kernel{};

using Append = decltype(&::zeCommandListAppendLaunchKernel);
using Groups = const ze_group_count_t*;

/// One of the three entry points that differ in nothing but the driver's function behind.
struct Launching {
  Append Real::*function;
  char call[48];
  record::Call recorded;
  bool in_memory = false;  ///< `groups` may lie in memory of the device, and is not looked at
};

/// `no_list` tells that there is a number of events to wait for, and no list of them. It is no question of
/// `waits` and `events` here: to keep them across the driver's call costs every launch six instructions.
template <Launching kOf>
[[gnu::always_inline]] inline ze_result_t launch(const KnownKernel& known_kernel,
                                                 ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                 Groups groups, ze_event_handle_t signal, std::uint32_t waits,
                                                 ze_event_handle_t* events, bool no_list) {
  const Recording recording(kOf.recorded, list);
  recording.set_launch(known_kernel, kOf.in_memory ? nullptr : groups, signal);
  recording.begin();
  const ze_result_t code = (real.*kOf.function)(list, kernel, groups, signal, waits, events);
  recording.end(code);
  if (code != ZE_RESULT_SUCCESS) [[unlikely]]
    return refused_launch({code, kOf.call, no_list}, kernel, kOf.in_memory ? nullptr : groups);
  return code;
}

/// What is not clear at once. It has all arguments, so that they stay in their registers on the way of what
/// is.
template <Launching kOf>
KILN_COLD judged(ze_command_list_handle_t list, ze_kernel_handle_t kernel, Groups groups,
                 ze_event_handle_t signal, std::uint32_t waits, ze_event_handle_t* events) {
  const KnownKernel* const found = known.kernels.find(kernel);
  KILN_GUARD(guard_launch(kOf.call, list, kernel, found, groups));
  return launch<kOf>(found ? *found : unknown_kernel, list, kernel, groups, signal, waits, events,
                     waits != 0 && !events);
}

template <Launching kOf>
[[gnu::always_inline]] inline ze_result_t guarded(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                                  Groups groups, ze_event_handle_t signal,
                                                  std::uint32_t waits, ze_event_handle_t* events) {
  const KnownKernel* const found = known.kernels.find(kernel);
  if (!is_clear(found, list, groups) || (waits != 0 && !events)) [[unlikely]]
    return judged<kOf>(list, kernel, groups, signal, waits, events);
  return launch<kOf>(*found, list, kernel, groups, signal, waits, events, false);
}

}  // namespace

ze_result_t ZE_APICALL hook::zeCommandListAppendLaunchKernel(ze_command_list_handle_t list,
                                                             ze_kernel_handle_t kernel, Groups groups,
                                                             ze_event_handle_t signal, std::uint32_t waits,
                                                             ze_event_handle_t* events) {
  return guarded<Launching{&Real::zeCommandListAppendLaunchKernel, "zeCommandListAppendLaunchKernel",
                           record::Call::launch}>(list, kernel, groups, signal, waits, events);
}

ze_result_t ZE_APICALL hook::zeCommandListAppendLaunchCooperativeKernel(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, Groups groups, ze_event_handle_t signal,
    std::uint32_t waits, ze_event_handle_t* events) {
  return guarded<Launching{&Real::zeCommandListAppendLaunchCooperativeKernel,
                           "zeCommandListAppendLaunchCooperativeKernel", record::Call::cooperative}>(
      list, kernel, groups, signal, waits, events);
}

ze_result_t ZE_APICALL hook::zeCommandListAppendLaunchKernelIndirect(ze_command_list_handle_t list,
                                                                     ze_kernel_handle_t kernel, Groups groups,
                                                                     ze_event_handle_t signal,
                                                                     std::uint32_t waits,
                                                                     ze_event_handle_t* events) {
  return guarded<Launching{&Real::zeCommandListAppendLaunchKernelIndirect,
                           "zeCommandListAppendLaunchKernelIndirect", record::Call::indirect, true}>(
      list, kernel, groups, signal, waits, events);
}

ze_result_t ZE_APICALL hook::zeCommandListAppendLaunchKernelWithParameters(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t* groups,
    const void* next, ze_event_handle_t signal, std::uint32_t waits, ze_event_handle_t* events) {
  const KnownKernel* const known_kernel = known.kernels.find(kernel);
  KILN_GUARD(
      guard_launch("zeCommandListAppendLaunchKernelWithParameters", list, kernel, known_kernel, groups));
  const Recording recording(record::Call::with_parameters, list);
  recording.set_launch(known_kernel ? *known_kernel : unknown_kernel, groups, signal);
  recording.begin();
  const ze_result_t code =
      real.zeCommandListAppendLaunchKernelWithParameters(list, kernel, groups, next, signal, waits, events);
  recording.end(code);
  if (code != ZE_RESULT_SUCCESS) [[unlikely]]
    return refused_launch({code, "zeCommandListAppendLaunchKernelWithParameters", waits != 0 && !events},
                          kernel, groups);
  return code;
}

namespace {

/// What was given with the launch: the driver may have kept some of it and not the rest.
void note_arguments(KnownKernel& kernel, const GivenArguments& given) {
  kernel.set_group_size(given.group_size);
  const KernelFacts* const facts = kernel.module ? kernel.module->facts().find(kernel.name) : nullptr;
  if (!facts || !given.values) return;
  for (std::uint32_t i = 0; i < kernel.count && i < facts->arguments.size(); ++i) {
    if (!given.values[i]) continue;
    const bool local = facts->arguments[i].kind == ArgumentKind::local_pointer;
    KnownArgument& argument = kernel.arguments[i];
    argument.null = local;
    argument.size = local ? *static_cast<const std::size_t*>(given.values[i]) : facts->arguments[i].size;
  }
}

KILN_COLD refused_arguments(const Failed failed, ze_kernel_handle_t kernel, const ze_group_count_t& groups,
                            const GivenArguments& given) {
  KnownKernel* const known_kernel = known.kernels.find(kernel);
  if (known_kernel) quietly([&] { note_arguments(*known_kernel, given); });
  (void)refused_launch(failed, kernel, &groups);
  if (known_kernel) known_kernel->forget_arguments();
  return failed.code;
}

/// Of --guard, which knows the arguments, and has found that these fit.
[[gnu::cold, gnu::noinline]] void note_admitted(KnownKernel& kernel, const GivenArguments& given) noexcept {
  quietly([&] { note_arguments(kernel, given); });
  kernel.admitted = true;
}

#undef KILN_COLD

}  // namespace

ze_result_t ZE_APICALL hook::zeCommandListAppendLaunchKernelWithArguments(
    ze_command_list_handle_t list, ze_kernel_handle_t kernel, ze_group_count_t groups, abi::GroupSize size,
    void** arguments, const void* next, ze_event_handle_t signal, std::uint32_t waits,
    ze_event_handle_t* events) {
  constexpr const char* kCall = "zeCommandListAppendLaunchKernelWithArguments";
  KnownKernel* const known_kernel = known.kernels.find(kernel);
  const GivenArguments given{{size.x, size.y, size.z}, arguments};
  KILN_GUARD(guard_arguments(kCall, list, kernel, known_kernel, given));
  const Recording recording(record::Call::with_arguments, list);
  recording.set_launch(known_kernel ? *known_kernel : unknown_kernel, &groups, signal);
  recording.set_group_size(given.group_size);
  recording.begin();
  const ze_result_t code = real.zeCommandListAppendLaunchKernelWithArguments(
      list, kernel, groups, size, arguments, next, signal, waits, events);
  recording.end(code);
  if (code != ZE_RESULT_SUCCESS) [[unlikely]]
    return refused_arguments({code, kCall, waits != 0 && !events}, kernel, groups, given);
  if (!known_kernel) return code;
  if (!known_kernel->guard) {
    known_kernel->forget_arguments();
    known_kernel->set_group_size(given.group_size);
  } else if (known_kernel->group_size != given.group_size || !known_kernel->has_sizes(arguments)) {
    note_admitted(*known_kernel, given);
  }
  return code;
}

}  // namespace kiln::layer
