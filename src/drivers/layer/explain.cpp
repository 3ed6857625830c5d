// SPDX-License-Identifier: MIT
// Gathers what is known around a refused call, and has the library's checks and diagnoses judge it.
#include "drivers/layer/explain.hpp"

#include <algorithm>
#include <cctype>

#include "check/kernel_facts.hpp"
#include "drivers/layer/arguments.hpp"
#include "drivers/layer/real_driver.hpp"
#include "drivers/layer/recorder.hpp"
#include "drivers/layer/tell.hpp"
#include "kiln/check.hpp"
#include "kiln/explain.hpp"
#include "kiln/launch.hpp"
#include "kiln/needs.hpp"
#include "kiln/refusal.hpp"
#include "kiln/structures.hpp"
#include "launch/kernel_state.hpp"
#include "level_zero/survey.hpp"

namespace kiln::layer {
namespace {

DeviceRef device_ref(ze_device_handle_t device) {
  const Api* api = real_api();
  return api && device ? DeviceRef(device, *api) : DeviceRef();
}

Refusal survey(const Failed& failed, ze_device_handle_t device, MemoryRequest asked = {}) {
  return detail::survey(failed.code, failed.call, device_ref(device), std::move(asked));
}

Diagnostic by_driver(Diagnostic diagnostic, const Failed& failed) {
  if (diagnostic.code == "K0220") record_lost(diagnostic);
  return answered(std::move(diagnostic), AnsweredBy::driver, failed.code, failed.call);
}

Diagnostic or_code(std::optional<Diagnostic> diagnostic, const Failed& failed) {
  return diagnostic ? by_driver(*std::move(diagnostic), failed) : explain_code_alone(failed);
}

/// A launch as the library's check sees it.
struct Seen {
  KernelFacts facts;
  LaunchLimits limits;
  std::vector<LaunchArgument> arguments;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
};

std::optional<Seen> see(const KnownKernel* kernel) {
  if (!kernel || !kernel->module) return std::nullopt;
  Seen seen;
  seen.device = kernel->module->device;
  seen.context = kernel->module->context;
  const auto compute = device_ref(seen.device).compute_properties();
  if (!compute) return std::nullopt;
  if (const KernelFacts* known = kernel->module->facts().find(kernel->name)) seen.facts = *known;
  seen.facts.name = kernel->name;
  detail::add_properties(seen.facts, kernel->properties);
  seen.limits = detail::launch_limits(kernel->properties, *compute);
  const auto& arguments = seen.facts.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    seen.arguments.push_back(
        likely_argument(arguments[i], i < kernel->count ? kernel->arguments[i] : KnownArgument()));
  return seen;
}

/// K0229, for a pointer that the driver does not know.
std::optional<Diagnostic> explain_stray(const Refusal& refusal, const Seen& seen, std::uint32_t index,
                                        const void* address) {
  const Api* api = real_api();
  if (!api || !address) return std::nullopt;
  auto properties = make<ze_memory_allocation_properties_t>();
  const ze_result_t code = api->zeMemGetAllocProperties(seen.context, address, &properties, nullptr);
  if (code == ZE_RESULT_SUCCESS && properties.type != ZE_MEMORY_TYPE_UNKNOWN) return std::nullopt;
  return explain_pointer(refusal, seen.facts, index, address);
}

/// Some causes name the call that they are of: "zeKernelCreate: …".
bool may_be_of(std::string_view cause, std::string_view call) {
  const auto end = std::ranges::find_if_not(cause, [](unsigned char c) { return std::isalnum(c) != 0; });
  const std::string_view first(cause.data(), static_cast<std::size_t>(end - cause.begin()));
  return !first.starts_with("ze") || call.starts_with(first);
}

Diagnostic explain_no_wait_list(const Failed& failed) {
  return by_driver({"K0222",
                    "a number of events to wait for was given, and no list of them",
                    {{"call", failed.call}},
                    {"give the events, or 0 as their number"}},
                   failed);
}

std::string name_of(const KnownModule& module) { return "module " + std::to_string(module.number); }

const char* format_of(const ze_module_desc_t* description) {
  switch (static_cast<int>(description->format)) {
    case ZE_MODULE_FORMAT_IL_SPIRV:
      return "SPIR-V";
    case ZE_MODULE_FORMAT_NATIVE:
      return "native binary";
    case 3:  // of Intel's driver, kiln::ModuleFormat::opencl_c
      return "OpenCL C";
    default:
      return "one that the specification does not have";
  }
}

/// What native code says that the driver was given.
ModuleFacts facts_given(KnownModule& module, const ze_module_desc_t* description) {
  if (description->format == ZE_MODULE_FORMAT_IL_SPIRV || !description->pInputModule) return module.facts();
  const std::span code(reinterpret_cast<const std::byte*>(description->pInputModule), description->inputSize);
  for (BinaryPart& part : read_parts(code))
    if (part.facts && !part.facts->kernels.empty()) return *std::move(part.facts);
  return {};
}

}  // namespace

Diagnostic explain_code_alone(const Failed& failed) {
  Diagnostic diagnostic{"K0260", std::string("the driver refuses ") + failed.call, {}, {}};
  if (const auto meaning = explain_code(result_name(failed.code))) {
    diagnostic.rows.push_back({"meaning", meaning->meaning});
    for (const std::string& cause : meaning->causes)
      if (may_be_of(cause, failed.call)) diagnostic.rows.push_back({"known cause", cause});
    diagnostic.help = meaning->cures;
  }
  if (diagnostic.help.empty())
    diagnostic.help = {"see the driver's own messages: NEOReadDebugKeys=1 PrintDebugMessages=1"};
  return by_driver(std::move(diagnostic), failed);
}

std::string last_error_text() noexcept {
  std::string text;
  quietly([&] {
    const Api* api = real_api();
    if (!api || !api->zeDriverGetLastErrorDescription) return;
    const auto all = drivers(*api);
    if (all && !all->empty()) text = all->front().last_error_description();
  });
  return text;
}

Diagnostic explain_launch(const Failed& failed, ze_kernel_handle_t kernel, const Extent& groups) {
  if (failed.no_wait_list) return explain_no_wait_list(failed);
  const KnownKernel* known_kernel = known.kernels.find(kernel);
  const auto seen = see(known_kernel);
  if (!seen) return explain_submission(failed, nullptr);
  const bool cooperative = std::string_view(failed.call).find("Cooperative") != std::string_view::npos;
  const LaunchShape shape{groups, known_kernel->group_size};
  const LaunchVerdict verdict = check_launch(seen->facts, seen->limits, shape, seen->arguments);
  if (verdict != LaunchVerdict::fits && code_of(verdict) == failed.code)
    return by_driver(explain_launch(verdict, seen->facts, seen->limits, shape, seen->arguments), failed);
  if (seen->facts.is_invalid) return by_driver(detail::explain_invalid(seen->facts), failed);
  if (seen->facts.needs_sync_buffer && !cooperative)
    return by_driver(detail::explain_cooperative_only(seen->facts, Severity::error), failed);
  Refusal refusal = survey(failed, seen->device);
  refusal.driver_text = last_error_text();
  if (failed.code == ZE_RESULT_ERROR_INVALID_ARGUMENT && !is_lost(refusal))
    return by_driver(explain_list_kind(refusal, seen->facts, cooperative), failed);
  return by_driver(kiln::explain_launch(refusal, seen->facts, seen->limits, shape, seen->arguments), failed);
}

bool would_fit(ze_kernel_handle_t kernel, const LaunchShape& shape,
               std::span<const KnownArgument> arguments) {
  auto seen = see(known.kernels.find(kernel));
  if (!seen) return true;
  for (std::size_t i = 0; i < seen->arguments.size(); ++i)
    seen->arguments[i] =
        likely_argument(seen->facts.arguments[i], i < arguments.size() ? arguments[i] : KnownArgument());
  return check_launch(seen->facts, seen->limits, shape, seen->arguments) == LaunchVerdict::fits;
}

Diagnostic explain_group_size(const Failed& failed, ze_kernel_handle_t kernel, const Extent& size) {
  const auto seen = see(known.kernels.find(kernel));
  if (!seen) return explain_code_alone(failed);
  const LaunchShape shape{{1, 1, 1}, size};
  const LaunchVerdict verdict = check_launch(seen->facts, seen->limits, shape, seen->arguments);
  if (verdict != LaunchVerdict::fits && code_of(verdict) == failed.code)
    return by_driver(explain_launch(verdict, seen->facts, seen->limits, shape, seen->arguments), failed);
  return explain_code_alone(failed);
}

Diagnostic explain_argument(const Failed& failed, ze_kernel_handle_t kernel, std::uint32_t index,
                            std::size_t size, const void* value) {
  const auto seen = see(known.kernels.find(kernel));
  if (!seen) return explain_code_alone(failed);
  const Refusal refusal = survey(failed, seen->device);
  if (is_lost(refusal)) return by_driver(explain_lost_device(refusal), failed);
  std::vector<LaunchArgument> arguments;
  for (const ArgumentFacts& each : seen->facts.arguments) arguments.push_back(likely_argument(each, {}));
  LaunchVerdict verdict = LaunchVerdict::fits;
  if (index >= arguments.size()) {
    arguments.resize(std::min<std::size_t>(index + std::size_t{1}, arguments.size() + 1));
    verdict = LaunchVerdict::argument_count;
  } else {
    const ArgumentFacts& wanted = seen->facts.arguments[index];
    const bool local = wanted.kind == ArgumentKind::local_pointer;
    LaunchArgument& given = arguments[index];
    given = {wanted.kind, size, value};
    if (local && value) given.kind = ArgumentKind::value;
    if (!local && !value && size != sizeof(void*)) given.kind = ArgumentKind::local_pointer;
    if (given.kind != wanted.kind && wanted.kind != ArgumentKind::other)
      verdict = LaunchVerdict::argument_kind;
    else if (!local && wanted.size != 0 && wanted.size != size)
      verdict = LaunchVerdict::argument_size;
    if (verdict == LaunchVerdict::fits && wanted.kind != ArgumentKind::value && value &&
        size == sizeof(void*))
      if (auto stray = explain_stray(refusal, *seen, index, detail::pointer_of(given)))
        return by_driver(*std::move(stray), failed);
  }
  if (verdict != LaunchVerdict::fits)
    return by_driver(explain_launch(verdict, seen->facts, seen->limits, {}, arguments), failed);
  Diagnostic diagnostic = explain_code_alone(failed);
  if (value && size == sizeof(void*) && !detail::pointer_of({ArgumentKind::global_pointer, size, value}))
    diagnostic.help = {
        "for a null pointer give no value, instead of the address of one: driver 22.43 refuses "
        "that, later ones take both"};
  return diagnostic;
}

Diagnostic explain_module(const Failed& failed, KnownModule& module, const ze_module_desc_t* description,
                          const std::string& log, const std::string& text) {
  if (!description) return explain_code_alone(failed);
  const DeviceRef device = device_ref(module.device);
  const ModuleFacts facts = facts_given(module, description);
  const auto compute = device.compute_properties();
  const KernelFacts* over = compute ? static_slm_over_limit(facts, compute->slm_per_group) : nullptr;
  if (over) return by_driver(explain_static_slm(*over, compute->slm_per_group), failed);
  const Refusal refusal = survey(failed, module.device);
  if (is_lost(refusal)) return by_driver(explain_lost_device(refusal), failed);
  if (log.empty() && text.empty() &&
      (failed.code == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE ||
       failed.code == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY ||
       failed.code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY))
    return by_driver(explain_silent_build(refusal, name_of(module), format_of(description)), failed);
  Diagnostic diagnostic{"K0203", "the driver cannot build `" + name_of(module) + "`", {}, {}};
  diagnostic.rows = {{"format", format_of(description)}, {"size", {}, description->inputSize, "B"}};
  if (description->pBuildFlags && *description->pBuildFlags)
    diagnostic.rows.push_back({"build options", description->pBuildFlags});
  if (!log.empty()) diagnostic.rows.push_back({"build log", log});
  if (!text.empty()) diagnostic.rows.push_back({"driver says", text});
  diagnostic.help = {
      failed.code == ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE
          ? "install the compiler library (libigc1 or libigc2), or ship a native binary for this device"
          : "read the build log, and check that the device has what the kernel needs"};
  return by_driver(std::move(diagnostic), failed);
}

Diagnostic explain_link(const Failed& failed, std::uint32_t modules, const std::string& log) {
  if (log.empty()) return explain_code_alone(failed);
  Diagnostic diagnostic{"K0236", "the modules cannot be linked", {}, {}};
  diagnostic.rows = {{"modules", {}, modules}, {"link log", log}};
  diagnostic.help = {
      "give the module that defines what is missing too, and build each with "
      "-library-compilation: only then does a compiler keep what no kernel calls"};
  return by_driver(std::move(diagnostic), failed);
}

Diagnostic explain_kernel(const Failed& failed, ze_module_handle_t handle, const char* name,
                          const std::string& text) {
  const ModuleEntry* entry = known.modules.find(handle);
  const Api* api = real_api();
  if (!entry || !entry->module || !name || !api) return explain_code_alone(failed);
  KnownModule& module = *entry->module;
  if (failed.code == ZE_RESULT_ERROR_INVALID_KERNEL_NAME) {
    Diagnostic diagnostic{"K0208", "`" + name_of(module) + "` has no kernel `" + name + "`", {}, {}};
    if (const auto names = ModuleRef(handle, *api).kernel_names())
      for (const std::string& each : *names) diagnostic.rows.push_back({"kernel", each});
    diagnostic.help = {"use one of these names"};
    return by_driver(std::move(diagnostic), failed);
  }
  if (failed.code == ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED) return by_driver(explain_unlinked({}), failed);
  KernelFacts facts;
  if (const KernelFacts* found = module.facts().find(name)) facts = *found;
  facts.name = name;
  Refusal refusal = survey(failed, module.device);
  refusal.driver_text = text;
  return or_code(kiln::explain_kernel(refusal, facts), failed);
}

Diagnostic explain_allocation(const Failed& failed, ze_device_handle_t device,
                              const AllocationRequest& request) {
  const DeviceRef of = device_ref(device);
  AllocationLimits limits;
  if (of)
    if (const auto properties = of.properties()) {
      limits.largest = properties->largest_allocation;
      limits.free_memory = properties->usable_memory;
    }
  if (of && request.relaxed_limits) limits.memory = detail::memory_of(of);
  const AllocationVerdict verdict = check_allocation(limits, request);
  if (verdict != AllocationVerdict::fits && code_of(verdict) == failed.code)
    return by_driver(explain_allocation(verdict, limits, request), failed);
  MemoryRequest asked;
  asked.kind = request.kind;
  asked.size = request.size;
  return or_code(kiln::explain_allocation(survey(failed, device, std::move(asked)), request), failed);
}

Diagnostic explain_event_pool(const Failed& failed, std::uint32_t count) {
  return or_code(kiln::explain_event_pool(survey(failed, nullptr), count), failed);
}

Diagnostic explain_queue(const Failed& failed, ze_device_handle_t device) {
  return or_code(kiln::explain_queue(survey(failed, device)), failed);
}

Diagnostic explain_submission(const Failed& failed, ze_device_handle_t device) {
  if (failed.no_wait_list) return explain_no_wait_list(failed);
  return or_code(kiln::explain_submission(survey(failed, device)), failed);
}

}  // namespace kiln::layer
