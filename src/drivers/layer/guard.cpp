// SPDX-License-Identifier: MIT
// Judges calls before the driver hears of them, by the library's own checks.
#include "drivers/layer/guard.hpp"

#include <bit>
#include <cstring>

#include "drivers/layer/arguments.hpp"
#include "drivers/layer/real_driver.hpp"
#include "drivers/layer/tell.hpp"
#include "kiln/binary.hpp"
#include "kiln/check.hpp"
#include "kiln/refusal.hpp"
#include "kiln/target.hpp"
#include "launch/kernel_state.hpp"
#include "level_zero/call.hpp"
#include "level_zero/create_module.hpp"
#include "level_zero/survey.hpp"

namespace kiln::layer {
namespace {

constexpr const char* kSetArgument = "zeKernelSetArgumentValue";
constexpr const char* kModuleCreate = "zeModuleCreate";

DeviceRef guarded_device(ze_device_handle_t device) {
  const Api* api = real_api();
  return api && device ? DeviceRef(device, *api) : DeviceRef();
}

ze_result_t refuse_launch(LaunchVerdict verdict, const char* call, const KnownKernel& known,
                          const LaunchShape& shape, const std::vector<LaunchArgument>& arguments) {
  return refuse(Error(code_of(verdict), call,
                      explain_launch(verdict, known.guard->facts, known.guard->limits, shape, arguments)));
}

/// What cannot be judged for want of memory is the driver's to answer.
template <class Judge>
ze_result_t unless_it_throws(Judge judge) noexcept {
  ze_result_t code = ZE_RESULT_SUCCESS;
  quietly([&] { code = judge(); });
  return code;
}

/// Of a kernel whose facts are known, as all of these.
ze_result_t judge_extent(const char* call, const KnownKernel& known, const Extent& size) noexcept {
  const KernelGuard& guard = *known.guard;
  const auto& required = guard.facts.required_group_size;
  const bool other = required[0] != 0 && Extent{required[0], required[1], required[2]} != size;
  const Extent& most = guard.limits.max_group_extent;
  const bool small = size.x - 1 < most.x && size.y - 1 < most.y && size.z - 1 < most.z &&
                     std::uint64_t{size.x} * size.y * size.z <= guard.limits.max_group_size;
  if (small && !other) return ZE_RESULT_SUCCESS;
  return unless_it_throws([&] {
    std::vector<LaunchArgument> arguments;
    for (const ArgumentFacts& each : guard.facts.arguments) arguments.push_back(certain_argument(each, {}));
    const LaunchShape shape{{1, 1, 1}, size};
    const LaunchVerdict verdict = check_launch(guard.facts, guard.limits, shape, arguments);
    return verdict == LaunchVerdict::fits ? ZE_RESULT_SUCCESS
                                          : refuse_launch(verdict, call, known, shape, arguments);
  });
}

ze_result_t judge_slm(const char* call, const KnownKernel& known, const Extent& group_size,
                      const std::vector<LaunchArgument>& arguments) {
  if (total_slm(known.guard->facts, arguments) <= known.guard->limits.slm_per_group) return ZE_RESULT_SUCCESS;
  return refuse_launch(LaunchVerdict::slm, call, known, {{1, 1, 1}, group_size}, arguments);
}

ze_result_t refuse_null_object(const char* call, const KnownKernel& known, std::uint32_t index) noexcept {
  tell([&] {
    const KernelFacts& facts = known.guard->facts;
    return *Error(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, call,
                  explain_null_object(facts, index, facts.arguments[index].kind))
                .diagnostic();
  });
  return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

/// Arguments as they were set; of those before, what the driver took.
std::vector<LaunchArgument> arguments_of(const KnownKernel& known) {
  std::vector<LaunchArgument> arguments;
  const auto& wanted = known.guard->facts.arguments;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    arguments.push_back(certain_argument(wanted[i], i < known.count ? known.arguments[i] : KnownArgument()));
  return arguments;
}

/// Private and scratch memory of all hardware threads.
ze_result_t judge_threads(const KernelFacts& facts, ze_device_handle_t handle) {
  const DeviceRef device = guarded_device(handle);
  const auto properties = device.properties();
  if (!properties) return ZE_RESULT_SUCCESS;
  auto lack = check_thread_memory(facts, {properties->threads(), detail::memory_of(device)});
  if (!lack || lack->severity != Severity::error) return ZE_RESULT_SUCCESS;
  return refuse(Error(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "zeKernelCreate", *std::move(lack)));
}

std::optional<Diagnostic> hazard_in(const ze_module_desc_t& description, ze_device_handle_t device) {
  const std::span code(reinterpret_cast<const std::byte*>(description.pInputModule), description.inputSize);
  const std::uint64_t memory = detail::memory_of(guarded_device(device));
  if (description.format == ZE_MODULE_FORMAT_IL_SPIRV) {
    const auto facts = read_spirv(code, SpirvUse::part);
    return facts ? check_module(*facts, memory) : std::nullopt;
  }
  for (const BinaryPart& part : read_parts(code))
    if (part.facts)
      if (auto hazard = check_module(*part.facts, memory)) return hazard;
  return std::nullopt;
}

}  // namespace

ze_result_t refuse(const Error& error) noexcept {
  if (error.diagnostic()) tell([&] { return *error.diagnostic(); });
  return error.code();
}

ze_result_t refuse_empty(const char* call) noexcept {
  tell([&] { return *detail::empty_handle(call).diagnostic(); });
  return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

ze_result_t refuse_null(const char* call, const char* what) noexcept {
  tell([&] { return *detail::null_pointer(call, what).diagnostic(); });
  return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
}

void guard_kernel(KnownKernel& kernel) {
  using Guard = KnownArgument::Guard;
  kernel.guard = nullptr;
  kernel.admitted = true;  // where nothing is known
  const auto compute = guarded_device(kernel.module->device).compute_properties();
  const KernelFacts* facts = kernel.module->facts().find(kernel.name);
  if (!compute || !facts) return;
  auto guard = std::make_shared<KernelGuard>();
  guard->facts = *facts;
  detail::add_properties(guard->facts, kernel.properties);
  guard->limits = detail::launch_limits(kernel.properties, *compute);
  for (std::uint32_t i = 0; i < kernel.count && i < guard->facts.arguments.size(); ++i) {
    const ArgumentKind kind = guard->facts.arguments[i].kind;
    kernel.arguments[i].guard = kind == ArgumentKind::local_pointer ? Guard::local
                                : kind == ArgumentKind::image || kind == ArgumentKind::sampler
                                    ? Guard::object
                                    : Guard::nothing;
  }
  kernel.guard = std::move(guard);
  kernel.admitted = false;
}

ze_result_t judge_argument(ze_kernel_handle_t kernel, KnownKernel* known, std::uint32_t index,
                           std::size_t size, const void* value) noexcept {
  if (!kernel) return refuse_empty(kSetArgument);
  if (!known || !known->guard || index >= known->guard->facts.arguments.size() || index >= known->count)
    return ZE_RESULT_SUCCESS;
  if (known->arguments[index].guard == KnownArgument::Guard::local) known->admitted = false;
  if (known->arguments[index].guard != KnownArgument::Guard::object) return ZE_RESULT_SUCCESS;
  const void* object = nullptr;
  if (value && size >= sizeof object) std::memcpy(&object, value, sizeof object);
  return object ? ZE_RESULT_SUCCESS : refuse_null_object(kSetArgument, *known, index);
}

ze_result_t judge_group_size(ze_kernel_handle_t kernel, const KnownKernel* known,
                             const Extent& size) noexcept {
  constexpr const char* kCall = "zeKernelSetGroupSize";
  if (!kernel) return refuse_empty(kCall);
  if (!known || !known->guard || known->group_size == size) return ZE_RESULT_SUCCESS;
  return judge_extent(kCall, *known, size);
}

ze_result_t judge_launch(const char* call, const void* list, ze_kernel_handle_t kernel,
                         const void* groups) noexcept {
  if (!kernel || !list) return refuse_empty(call);
  if (!groups) return refuse_null(call, "number of groups");
  KnownKernel* const known_kernel = known.kernels.find(kernel);
  if (!known_kernel || !known_kernel->guard) return ZE_RESULT_SUCCESS;
  return unless_it_throws([&] {
    const ze_result_t code =
        judge_slm(call, *known_kernel, known_kernel->group_size, arguments_of(*known_kernel));
    known_kernel->admitted = code == ZE_RESULT_SUCCESS;
    return code;
  });
}

ze_result_t judge_arguments(const char* call, const void* list, ze_kernel_handle_t kernel, KnownKernel* known,
                            const GivenArguments& given) noexcept {
  if (!kernel || !list) return refuse_empty(call);
  if (!known || !known->guard) return ZE_RESULT_SUCCESS;
  const auto& wanted = known->guard->facts.arguments;
  if (!given.values && !wanted.empty()) return refuse_null(call, "arguments");
  if (const auto code = judge_extent(call, *known, given.group_size); code != ZE_RESULT_SUCCESS) return code;
  for (std::uint32_t i = 0; i < wanted.size() && i < known->count; ++i)
    if (known->arguments[i].guard == KnownArgument::Guard::object &&
        (!given.values[i] || !*static_cast<void**>(given.values[i])))
      return refuse_null_object(call, *known, i);
  return unless_it_throws([&] {
    std::vector<LaunchArgument> arguments;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const bool local = wanted[i].kind == ArgumentKind::local_pointer;
      arguments.push_back({wanted[i].kind, wanted[i].size, nullptr});
      if (local) arguments[i].size = given.values[i] ? *static_cast<const std::size_t*>(given.values[i]) : 0;
    }
    return judge_slm(call, *known, given.group_size, arguments);
  });
}

ze_result_t guard_module(ze_context_handle_t context, ze_device_handle_t device,
                         const ze_module_desc_t* description, const void* place) noexcept {
  return unless_it_throws([&]() -> ze_result_t {
    if (const auto code =
            first_of(need_handles(kModuleCreate, context, device),
                     need(kModuleCreate, "description", description), need(kModuleCreate, "module", place));
        code != ZE_RESULT_SUCCESS)
      return code;
    if (description->pNext) return ZE_RESULT_SUCCESS;  // several inputs
    if (!description->pInputModule || description->inputSize == 0)
      return refuse_null(kModuleCreate, "input module");
    const std::span code(reinterpret_cast<const std::byte*>(description->pInputModule),
                         description->inputSize);
    if (description->format == ZE_MODULE_FORMAT_IL_SPIRV && !detail::starts_as_spirv(code))
      return refuse(Error(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, kModuleCreate,
                          {"K0203",
                           "a module is no SPIR-V of version 1",
                           {{"size", {}, code.size(), "B"}},
                           {"see where it comes from: Intel's compiler would leave the process"}}));
    if (auto hazard = hazard_in(*description, device))
      return refuse(Error(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, kModuleCreate, *std::move(hazard)));
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t guard_kernel(ze_module_handle_t module, const ze_kernel_desc_t* description,
                         const void* place) noexcept {
  return unless_it_throws([&]() -> ze_result_t {
    constexpr const char* kCall = "zeKernelCreate";
    if (const auto code = first_of(need_handles(kCall, module), need(kCall, "description", description),
                                   need(kCall, "kernel", place));
        code != ZE_RESULT_SUCCESS)
      return code;
    if (!description->pKernelName) return refuse_null(kCall, "name");
    const ModuleEntry* entry = known.modules.find(module);
    if (!entry || !entry->module) return ZE_RESULT_SUCCESS;
    const KernelFacts* facts = entry->module->facts().find(description->pKernelName);
    return facts ? judge_threads(*facts, entry->module->device) : ZE_RESULT_SUCCESS;
  });
}

ze_result_t guard_made_kernel(ze_module_handle_t module, const ze_kernel_desc_t& description,
                              ze_kernel_handle_t kernel) noexcept {
  return unless_it_throws([&]() -> ze_result_t {
    const ModuleEntry* entry = known.modules.find(module);
    const Api* api = real_api();
    if (!entry || !entry->module || !api) return ZE_RESULT_SUCCESS;
    KernelFacts facts;
    if (const KernelFacts* of_code = entry->module->facts().find(description.pKernelName)) facts = *of_code;
    if (facts.simd_size != 0) return ZE_RESULT_SUCCESS;  // judged before it was made
    const auto properties = KernelRef(kernel, *api).properties();
    if (!properties) return ZE_RESULT_SUCCESS;
    facts.name = description.pKernelName;
    detail::add_properties(facts, *properties);
    return judge_threads(facts, entry->module->device);
  });
}

ze_result_t guard_allocation(const char* call, ze_context_handle_t context, const AllocationRequest& request,
                             const void* description, const void* place) noexcept {
  return unless_it_throws([&]() -> ze_result_t {
    if (const auto code = first_of(need_handles(call, context), need(call, "description", description),
                                   need(call, "place of the address", place));
        code != ZE_RESULT_SUCCESS)
      return code;
    // What the driver refuses by itself is its to refuse.
    const AllocationVerdict verdict = check_allocation({}, request);
    if (verdict == AllocationVerdict::fits) return ZE_RESULT_SUCCESS;
    return refuse(Error(code_of(verdict), call, explain_allocation(verdict, {}, request)));
  });
}

ze_result_t guard_queue(const char* call, ze_device_handle_t device, std::uint32_t group,
                        std::uint32_t index) noexcept {
  return unless_it_throws([&]() -> ze_result_t {
    const DeviceRef of = guarded_device(device);
    if (!of) return ZE_RESULT_SUCCESS;
    const auto fits = detail::check_queue(of, group, index, call);
    return fits ? ZE_RESULT_SUCCESS : refuse(fits.error());
  });
}

ze_result_t guard_event_pool(ze_context_handle_t context, const ze_event_pool_desc_t* description,
                             const void* place) noexcept {
  return unless_it_throws([&]() -> ze_result_t {
    constexpr const char* kCall = "zeEventPoolCreate";
    if (const auto code = first_of(need_handles(kCall, context), need(kCall, "description", description),
                                   need(kCall, "pool", place));
        code != ZE_RESULT_SUCCESS)
      return code;
    const auto fits = detail::check_event_count(description->count);
    return fits ? ZE_RESULT_SUCCESS : refuse(fits.error());
  });
}

ze_result_t guard_fill(const void* to, const void* pattern, std::size_t size, std::size_t bytes) noexcept {
  return unless_it_throws([&]() -> ze_result_t {
    constexpr const char* kCall = "zeCommandListAppendMemoryFill";
    if (!to) return refuse_null(kCall, "destination");
    if (!pattern) return refuse_null(kCall, "pattern");
    return std::has_single_bit(size) ? ZE_RESULT_SUCCESS : refuse(detail::bad_fill(size, bytes));
  });
}

}  // namespace kiln::layer
