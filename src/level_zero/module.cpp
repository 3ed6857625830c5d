// SPDX-License-Identifier: MIT
// Modules with their build log, and kernels.
#include "kiln/module.hpp"

#include <algorithm>
#include <cstring>

#include "kiln/structures.hpp"
#include "level_zero/call.hpp"
#include "level_zero/create_module.hpp"

namespace kiln {
namespace {

std::string take_log(Ref<ze_module_build_log_handle_t> log) {
  if (!log) return {};
  std::size_t size = 0;
  std::string text;
  if (log.api().zeModuleBuildLogGetString(log.raw(), &size, nullptr) == ZE_RESULT_SUCCESS && size > 0) {
    text.resize(size);
    if (log.api().zeModuleBuildLogGetString(log.raw(), &size, text.data()) != ZE_RESULT_SUCCESS) text.clear();
    text.resize(std::min(text.find('\0'), text.size()));
  }
  KILN_DESTROY(zeModuleBuildLogDestroy, log);
  return text;
}

constexpr const char* kLostLog =
    "(The Level Zero loader stands between the application and several drivers, or was told to intercept "
    "calls, and then loses the build log of a module that fails. To see the log, unset "
    "ZE_ENABLE_LOADER_INTERCEPT or name one driver alone in ZE_ENABLE_ALT_DRIVERS.)";

/// An intercepting loader puts an object of its own around every handle, except the log of a build that
/// failed, and takes that one for its own when it comes back: a wild call. Loaders 1.8 to 1.32.
template <class R>
bool loses_log(R object, int kind) {
  void* behind = object.raw();
  const auto translate = object.api().zelLoaderTranslateHandle;
  return translate && translate(kind, object.raw(), &behind) == ZE_RESULT_SUCCESS && behind != object.raw();
}

/// The same where no context is at hand.
bool intercepts(const Api& api) {
  const auto all = drivers(api);
  return all && !all->empty() && loses_log(all->front(), abi::kLoaderDriverHandle);
}

/// Source of the last: level_zero/core/source/module/defines_ext.h of intel/compute-runtime 26.27; oneDNN and
/// OpenVINO give it too.
ze_module_format_t format_of(ModuleFormat format) {
  switch (format) {
    case ModuleFormat::spirv:
      return ZE_MODULE_FORMAT_IL_SPIRV;
    case ModuleFormat::native:
      return ZE_MODULE_FORMAT_NATIVE;
    case ModuleFormat::opencl_c:
      break;
  }
  return static_cast<ze_module_format_t>(3);
}

/// Specialization constants as Level Zero takes them: the value's first bytes count, so an integer of 64
/// bits serves every type.
class Constants {
 public:
  explicit Constants(std::span<const SpecializationConstant> constants) {
    for (const SpecializationConstant& each : constants) {
      ids_.push_back(each.id);
      values_.push_back(&each.value);
    }
    list_.numConstants = static_cast<std::uint32_t>(ids_.size());
    list_.pConstantIds = ids_.data();
    list_.pConstantValues = values_.data();
  }
  Constants(Constants&&) = default;
  [[nodiscard]] const ze_module_constants_t* get() const { return ids_.empty() ? nullptr : &list_; }

 private:
  std::vector<std::uint32_t> ids_;
  std::vector<const void*> values_;
  ze_module_constants_t list_{};
};

/// Says so where the module has no such name, and leaves other failures alone.
Error unknown_name(Error error, const char* kind, const char* name) {
  // Driver 22.43 gives INVALID_ARGUMENT for a variable that is not there.
  if (error.code() != ZE_RESULT_ERROR_INVALID_GLOBAL_NAME &&
      error.code() != ZE_RESULT_ERROR_INVALID_FUNCTION_NAME &&
      error.code() != ZE_RESULT_ERROR_INVALID_ARGUMENT)
    return error;
  if (error.diagnostic()) return error;
  Diagnostic diagnostic{"K0233", std::string("the module has no ") + kind + " `" + name + "`", {}, {}};
  diagnostic.answer = {AnsweredBy::driver};
  diagnostic.help = {"see which names the file has: `kiln inspect`",
                     "build with -ze-take-global-address, so that the compiler keeps what no kernel names"};
  return Error(error.code(), error.call(), std::move(diagnostic));
}

Error no_link_here(const char* call) {
  return Error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, call,
               {"K0236",
                "this loader cannot link modules where it intercepts calls",
                {},
                {"unset ZE_ENABLE_LOADER_INTERCEPT, or name one driver alone in ZE_ENABLE_ALT_DRIVERS",
                 "or install a newer loader", "or link the SPIR-V before it is built: Bundle::link()"}});
}

bool links_programs(DriverRef driver) {
  const auto extensions = driver.extensions();
  return extensions && std::ranges::find(*extensions, ZE_MODULE_PROGRAM_EXP_NAME) != extensions->end();
}

}  // namespace

bool detail::starts_as_spirv(std::span<const std::byte> code) {
  constexpr std::uint32_t kMagic = 0x07230203, kMajorVersion = 1;
  std::uint32_t header[5];  // magic, version, generator, bound, schema
  if (code.size() < sizeof header || code.size() % sizeof *header != 0) return false;
  std::memcpy(header, code.data(), sizeof header);
  return header[0] == kMagic && header[1] >> 16 == kMajorVersion;
}

ModuleBuild detail::create_module(DriverRef driver, ContextRef context, DeviceRef device,
                                  std::span<const ModuleInput> inputs) {
  if (!context || !device)
    return ModuleBuild(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "an empty handle was given");
  if (&context.api() != &device.api())
    return ModuleBuild(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the context is of another driver than the device");
  std::vector<Constants> constants;
  std::vector<std::size_t> sizes;
  std::vector<const std::uint8_t*> codes;
  std::vector<const char*> flags;
  std::vector<const ze_module_constants_t*> lists;
  constants.reserve(inputs.size());
  for (const ModuleInput& input : inputs) {
    if (input.code.empty()) return ModuleBuild(ZE_RESULT_ERROR_INVALID_SIZE, "no code was given");
    if (input.format == ModuleFormat::spirv && !detail::starts_as_spirv(input.code))
      return ModuleBuild(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "this is no SPIR-V of version 1");
    constants.emplace_back(input.constants);
    sizes.push_back(input.code.size());
    codes.push_back(reinterpret_cast<const std::uint8_t*>(input.code.data()));
    flags.push_back(input.flags.c_str());
    lists.push_back(constants.back().get());
  }
  if (inputs.empty()) return ModuleBuild(ZE_RESULT_ERROR_INVALID_SIZE, "no code was given");
  auto description = make<ze_module_desc_t>();
  description.format = format_of(inputs[0].format);
  description.inputSize = sizes[0];
  description.pInputModule = codes[0];
  description.pBuildFlags = flags[0];
  description.pConstants = lists[0];
  auto program = make<ze_module_program_exp_desc_t>();
  if (inputs.size() > 1) {
    if (std::ranges::any_of(inputs, [](const auto& each) { return each.format != ModuleFormat::spirv; }))
      return ModuleBuild(ZE_RESULT_ERROR_INVALID_ARGUMENT, "native code cannot be linked: give SPIR-V alone");
    if (!links_programs(driver))
      return ModuleBuild(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                         "this driver does not link several inputs (" ZE_MODULE_PROGRAM_EXP_NAME
                         "): link them before, with spirv-link");
    program.count = static_cast<std::uint32_t>(inputs.size());
    program.inputSizes = sizes.data();
    program.pInputModules = codes.data();
    program.pBuildFlags = flags.data();
    program.pConstants = lists.data();
    chain(description, program);
  }
  const std::string before = driver.last_error_description();
  ze_module_build_log_handle_t log = nullptr;
  ze_module_handle_t handle = nullptr;
  const Api& api = context.api();
  const ze_result_t code = api.zeModuleCreate(context.raw(), device.raw(), &description, &handle, &log);
  const bool made = code == ZE_RESULT_SUCCESS && handle;
  std::string text = code != ZE_RESULT_SUCCESS && loses_log(context, abi::kLoaderContextHandle)
                         ? kLostLog
                         : take_log({log, api});
  if (!made) {
    ModuleBuild build(code, std::move(text));
    if (std::string after = driver.last_error_description(); after != before)
      build.last_error = std::move(after);
    return build;
  }
  ModuleBuild build(Module::adopt(handle, api));
  build.log = std::move(text);
  return build;
}

Result<Kernel> ModuleRef::kernel(const char* name) const {
  if (!name) return tl::unexpected(detail::null_pointer("zeKernelCreate", "name"));
  auto description = make<ze_kernel_desc_t>();
  description.pKernelName = name;
  ze_kernel_handle_t handle = nullptr;
  KILN_TRY(KILN_CALL(zeKernelCreate, *this, &description, &handle));
  return Kernel::adopt(handle, api());
}

Result<std::vector<std::string>> ModuleRef::kernel_names() const {
  std::uint32_t count = 0;
  KILN_TRY(KILN_CALL(zeModuleGetKernelNames, *this, &count, nullptr));
  std::vector<const char*> names(count);
  KILN_TRY(KILN_CALL(zeModuleGetKernelNames, *this, &count, names.data()));
  names.resize(count);
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::vector<std::byte>> ModuleRef::native_binary() const {
  std::size_t size = 0;
  KILN_TRY(KILN_CALL(zeModuleGetNativeBinary, *this, &size, nullptr));
  std::vector<std::byte> binary(size);
  KILN_TRY(KILN_CALL(zeModuleGetNativeBinary, *this, &size, reinterpret_cast<std::uint8_t*>(binary.data())));
  binary.resize(size);
  return binary;
}

Result<GlobalVariable> ModuleRef::global(const char* name) const {
  if (!name) return tl::unexpected(detail::null_pointer("zeModuleGetGlobalPointer", "name"));
  GlobalVariable variable;
  if (auto found = KILN_CALL(zeModuleGetGlobalPointer, *this, name, &variable.size, &variable.data); !found)
    return tl::unexpected(unknown_name(std::move(found).error(), "variable", name));
  return variable;
}

Result<void*> ModuleRef::function(const char* name) const {
  if (!name) return tl::unexpected(detail::null_pointer("zeModuleGetFunctionPointer", "name"));
  void* address = nullptr;
  if (auto found = KILN_CALL(zeModuleGetFunctionPointer, *this, name, &address); !found)
    return tl::unexpected(unknown_name(std::move(found).error(), "function", name));
  return address;
}

Result<void> link_modules(std::span<const ModuleRef> modules) {
  constexpr const char* kLink = "zeModuleDynamicLink";
  if (modules.empty()) return {};
  const detail::Handles handles(modules);
  if (handles.has_empty()) return tl::unexpected(detail::empty_handle(kLink));
  const Api& api = modules.front().api();
  if (!handles.is_of(api)) return tl::unexpected(detail::foreign_handle(kLink));
  // Such a loader follows a wrong address here (1.8); mended in those that have the functions of Level
  // Zero 1.9.
  if (!api.zeCommandListGetDeviceHandle && intercepts(api)) return tl::unexpected(no_link_here(kLink));
  ze_module_build_log_handle_t log = nullptr;
  const ze_result_t code = api.zeModuleDynamicLink(handles.size(), handles.data(), &log);
  const std::string text = take_log({log, api});
  if (code == ZE_RESULT_SUCCESS) return {};
  Diagnostic diagnostic{"K0236", "the modules cannot be linked", {}, {}};
  diagnostic.answer = {AnsweredBy::driver};
  diagnostic.rows = {{"modules", {}, modules.size()}};
  if (!text.empty()) diagnostic.rows.push_back({"link log", text});
  diagnostic.help = {
      "give the module that defines what is missing too, and build each with "
      "-library-compilation: only then does a compiler keep what no kernel calls",
      "or link the SPIR-V before it is built: Bundle::link()"};
  return tl::unexpected(Error(code, kLink, std::move(diagnostic)));
}

void ModuleRef::destroy(ModuleRef ref) { KILN_DESTROY(zeModuleDestroy, ref); }

Result<KernelProperties> KernelRef::properties() const {
  // One chained struct a call: drivers 22.43 to 22.52 loop for ever on two.
  auto properties = make<ze_kernel_properties_t>();
  auto largest = make<abi::KernelMaxGroupSize>();
  chain(properties, largest);
  auto answered = KILN_CALL(zeKernelGetProperties, *this, &properties);
  // The parameter validation of loader 1.20 refuses every chained struct.
  if (!answered && answered.error().code() == ZE_RESULT_ERROR_INVALID_ARGUMENT) {
    properties.pNext = nullptr;
    answered = KILN_CALL(zeKernelGetProperties, *this, &properties);
  }
  KILN_TRY(std::move(answered));
  KernelProperties facts;
  facts.arguments = properties.numKernelArgs;
  facts.required_group_size = {properties.requiredGroupSizeX, properties.requiredGroupSizeY,
                               properties.requiredGroupSizeZ};
  facts.required_sub_groups = properties.requiredNumSubGroups;
  facts.required_sub_group_size = properties.requiredSubgroupSize;
  facts.max_sub_group_size = properties.maxSubgroupSize;
  facts.max_sub_groups = properties.maxNumSubgroups;
  facts.local_memory = properties.localMemSize;
  facts.private_memory = properties.privateMemSize;
  facts.spill_memory = properties.spillMemSize;
  if (largest.maxGroupSize != 0) facts.max_group_size = largest.maxGroupSize;
  return facts;
}

Result<void> KernelRef::set_group_size(Extent size) const {
  return KILN_CALL(zeKernelSetGroupSize, *this, size.x, size.y, size.z);
}

Result<Extent> KernelRef::suggest_group_size(Extent global) const {
  Extent size;
  KILN_TRY(
      KILN_CALL(zeKernelSuggestGroupSize, *this, global.x, global.y, global.z, &size.x, &size.y, &size.z));
  return size;
}

Result<void> KernelRef::set_argument(std::uint32_t index, std::size_t size, const void* value) const {
  return KILN_CALL(zeKernelSetArgumentValue, *this, index, size, value);
}

Result<void> KernelRef::set_indirect_access(ze_kernel_indirect_access_flags_t kinds) const {
  return KILN_CALL(zeKernelSetIndirectAccess, *this, kinds);
}

void KernelRef::destroy(KernelRef ref) { KILN_DESTROY(zeKernelDestroy, ref); }

}  // namespace kiln
