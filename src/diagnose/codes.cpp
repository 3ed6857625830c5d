// SPDX-License-Identifier: MIT
// The meaning of result codes: what the specification says, and what makes Intel's driver give them.
#include <array>
#include <span>

#include "diagnose/log_code.hpp"
#include "kiln/explain.hpp"
#include "support/digits.hpp"

namespace kiln {
namespace {

using Texts = std::array<std::string_view, 6>;

struct Known {
  std::uint32_t value;
  std::string_view name;  // without ZE_RESULT_
  std::string_view meaning;
  Texts causes{}, cures{};
};

// Source of the causes: intel/compute-runtime, releases 22.43 to 26.31; of the meanings: specification 1.15.
constexpr Known kKnown[] = {
    {0x0, "SUCCESS", "the call succeeded"},
    {0x1, "NOT_READY", "what was asked about is not done yet: a wait with a timeout gives it"},
    {0x70000001,
     "ERROR_DEVICE_LOST",
     "the device hung, was reset, removed, or the driver updated",
     {"a kernel that does not end, or that reads or writes where it may not",
      "from an allocation: the device is not part of the context, a mistake of the program"},
     {"look into the kernel log (dmesg) for a hang or a page fault of the GPU",
      "give the allocation a device of its own context"}},
    {0x70000002,
     "ERROR_OUT_OF_HOST_MEMORY",
     "not enough host memory",
     {"a host allocation failed",
      "from a submission: the GPU's memory is full (i915 answers ENOSPC, which the "
      "driver takes for this)"},
     {"free memory of the host, and of the device too"}},
    {0x70000003,
     "ERROR_OUT_OF_DEVICE_MEMORY",
     "not enough device memory, of which shared local memory (SLM) is one kind",
     {"zeKernelSuggestGroupSize or a launch: static and dynamic SLM of a work-group are more than "
      "the device has; the most frequent cause",
      "zeModuleCreate (since 26.18): the `__local` arrays of some kernel in the module are too large",
      "zeKernelCreate: private memory or spilled registers of all hardware threads are more than the memory",
      "an immediate command list: any failure of a submission but one, a hang among them",
      "an allocation, an event pool, a command list: memory is really full",
      "a copy: host memory that cannot be pinned"},
     {"`kiln inspect` shows the SLM of a kernel; SLM is a fixed part of the GPU that no "
      "setting "
      "enlarges",
      "after a failure of an immediate list ask zeDeviceGetStatus before blaming memory"}},
    {0x70000004,
     "ERROR_MODULE_BUILD_FAILURE",
     "the module could not be built; the build log says why",
     {"a compiler error",
      "with an empty log, before 26.18: static SLM of some kernel above the device's limit",
      "a native binary whose `.ze_info` cannot be read"},
     {"read the build log", "`kiln inspect` shows the static SLM of every kernel in the file"}},
    {0x70000005,
     "ERROR_MODULE_LINK_FAILURE",
     "modules could not be linked",
     {"a function or variable that no module defines",
      "a module that was built without -library-compilation"},
     {"link the module that defines it"}},
    {0x70000006, "ERROR_DEVICE_REQUIRES_RESET", "the device must be reset"},
    {0x70000007, "ERROR_DEVICE_IN_LOW_POWER_STATE", "the device is in a state of low power"},
    {0x70010000,
     "ERROR_INSUFFICIENT_PERMISSIONS",
     "the user may not do this",
     {"device management needs rights that the user has not"},
     {"run as a user in the groups render and video"}},
    {0x70010001, "ERROR_NOT_AVAILABLE", "in use, or not there at the moment"},
    {0x70020000,
     "ERROR_DEPENDENCY_UNAVAILABLE",
     "a library that the driver needs is missing",
     {"the graphics compiler (libigc) is not installed, so SPIR-V cannot be compiled"},
     {"install it (Debian: libigc2 or libigc1), or give native binaries"}},
    {0x78000001,
     "ERROR_UNINITIALIZED",
     "the driver is not initialized, or there is none",
     {"the loader found no driver, or a driver found no device"},
     {"`kiln devices` names the reason"}},
    {0x78000002, "ERROR_UNSUPPORTED_VERSION", "the driver does not know this version"},
    {0x78000003, "ERROR_UNSUPPORTED_FEATURE", "the device or the driver lacks this feature"},
    {0x78000004,
     "ERROR_INVALID_ARGUMENT",
     "an argument is wrong",
     {"zeKernelSetGroupSize: a size of zero in some dimension",
      "a cooperative launch with more groups than run at once",
      "a launch of a kernel that synchronizes groups, but not as cooperative", "wrong build options",
      "zeMemAlloc…: a relaxed limit without its flag"},
     {}},
    {0x78000005, "ERROR_INVALID_NULL_HANDLE", "a handle is null"},
    {0x78000006, "ERROR_HANDLE_OBJECT_IN_USE", "the object is still in use by the device"},
    {0x78000007, "ERROR_INVALID_NULL_POINTER", "a pointer is null"},
    {0x78000008, "ERROR_INVALID_SIZE", "a size is wrong"},
    {0x78000009,
     "ERROR_UNSUPPORTED_SIZE",
     "a size that the device does not support",
     {"an allocation of zero bytes", "an allocation above maxMemAllocSize without a relaxed limit",
      "with a relaxed limit: above all of the memory"},
     {"several smaller allocations",
      "ze_relaxed_allocation_limits_exp_desc_t, and kernels built with "
      "-ze-opt-greater-than-4GB-buffer-required"}},
    {0x7800000a, "ERROR_UNSUPPORTED_ALIGNMENT", "an alignment that is no power of two, or too large"},
    {0x7800000b, "ERROR_INVALID_SYNCHRONIZATION_OBJECT", "the object is in the wrong state"},
    {0x7800000c, "ERROR_INVALID_ENUMERATION", "an enumeration has a value that does not exist"},
    {0x7800000d, "ERROR_UNSUPPORTED_ENUMERATION",
     "an enumeration has a value that the driver does not support"},
    {0x7800000e, "ERROR_UNSUPPORTED_IMAGE_FORMAT", "an image format that the device does not support"},
    {0x7800000f,
     "ERROR_INVALID_NATIVE_BINARY",
     "the native binary does not fit the device",
     {"it was compiled for another device, or by a compiler too new or too old",
      "22.43: static SLM of some kernel above the device's limit",
      "zeKernelCreate: more than 256 KiB of scratch (2 MiB on Gen12LP) a hardware thread"},
     {"`kiln inspect` names its target, its SLM and its scratch",
      "compile for this device: ocloc -device …"}},
    {0x78000010, "ERROR_INVALID_GLOBAL_NAME", "the module has no variable of that name"},
    {0x78000011,
     "ERROR_INVALID_KERNEL_NAME",
     "the module has no kernel of that name",
     {},
     {"`kiln inspect` lists the kernels of a file"}},
    {0x78000012, "ERROR_INVALID_FUNCTION_NAME", "the module has no function of that name"},
    {0x78000013,
     "ERROR_INVALID_GROUP_SIZE_DIMENSION",
     "a work-group size that the kernel or the device cannot have",
     {"more work-items than the device takes, or than this kernel takes with its registers and SIMD width",
      "another size than the kernel's reqd_work_group_size",
      "22.53 to 26.31 say so only once: the same call again succeeds, and the launch is wrong"},
     {"the limits of the device: `kiln devices`; of the kernel: `kiln inspect`"}},
    {0x78000014, "ERROR_INVALID_GLOBAL_WIDTH_DIMENSION", "a global size that does not fit the group size"},
    {0x78000015, "ERROR_INVALID_KERNEL_ARGUMENT_INDEX", "the kernel has no argument of that index"},
    {0x78000016, "ERROR_INVALID_KERNEL_ARGUMENT_SIZE",
     "an argument has another size than the kernel expects"},
    {0x78000017, "ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE", "an attribute has a wrong value"},
    {0x78000018,
     "ERROR_INVALID_MODULE_UNLINKED",
     "the module has unresolved imports",
     {"a kernel uses what another module defines",
      "a misspelt function that is declared and defined nowhere; then no kernel of the module can be made, "
      "whether it uses the function or not"},
     {"`kiln inspect` names the symbols and kernels of a file",
      "zeModuleDynamicLink before zeKernelCreate, where another module has them"}},
    {0x78000019, "ERROR_INVALID_COMMAND_LIST_TYPE", "the list and the queue do not belong together"},
    {0x7800001a, "ERROR_OVERLAPPING_REGIONS", "source and destination overlap"},
    {0x7ffffffe,
     "ERROR_UNKNOWN",
     "the driver does not say",
     {"a submission that the kernel driver refused"},
     {"NEOReadDebugKeys=1 PrintDebugMessages=1 makes Intel's driver print its reasons"}},
};

/// What OpenCL and the runtimes of SYCL (PI until 2024, UR since) say.
struct Above {
  int opencl;              // its number there, and PI's; 0: none
  std::uint32_t ur;        // and in UR; 0: none
  std::string_view names;  // behind CL_, PI_ERROR_ or UR_RESULT_ERROR_; blank before, between and behind
  std::string_view meaning;
  std::uint32_t below;  // the Level Zero code that it mostly comes from
  Texts causes{};       // empty: those of that code
};

// Sources: cl.h of OpenCL 3.0, pi.h of DPC++ 2023, ur_api.h 0.12.
constexpr Above kAbove[] = {
    {-1, 18, " DEVICE_NOT_FOUND ", "there is no such device", 0x78000001},
    {-2, 69, " DEVICE_NOT_AVAILABLE ", "the device is not there at the moment", 0x70000001},
    {-3, 16, " COMPILER_NOT_AVAILABLE ", "there is no compiler", 0x70020000},
    {-4,
     35,
     " MEM_OBJECT_ALLOCATION_FAILURE ",
     "memory of the device could not be allocated",
     0x70000003,
     {"the memory of the device is full, or that of the host which the driver takes for it",
      "a single allocation above the device's largest", "host memory that cannot be pinned"}},
    {-5, 40, " OUT_OF_RESOURCES ",
     "OpenCL's and SYCL's word for most failures of the device: SLM, registers, memory, hangs", 0x70000003},
    {-6, 38, " OUT_OF_HOST_MEMORY ", "not enough host memory", 0x70000002},
    {-7, 17, " PROFILING_INFO_NOT_AVAILABLE ", "times were not asked for", 0x70010001},
    {-11, 41, " BUILD_PROGRAM_FAILURE PROGRAM_BUILD_FAILURE ", "a program could not be built", 0x70000004},
    {-12, 0, " MAP_FAILURE ", "memory could not be mapped", 0x70000002},
    {-14,
     68,
     " EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST IN_EVENT_LIST_EXEC_STATUS ",
     "a command that this one waits for has failed on the device",
     0x70000001,
     {"a kernel before it hung, or read or wrote where it may not", "the memory of the device is full"}},
    {-15, 0, " COMPILE_PROGRAM_FAILURE ", "a program could not be compiled", 0x70000004},
    {-16, 0, " LINKER_NOT_AVAILABLE ", "there is no linker", 0x70020000},
    {-17, 42, " LINK_PROGRAM_FAILURE PROGRAM_LINK_FAILURE ", "programs could not be linked", 0x70000005},
    {-18, 23, " DEVICE_PARTITION_FAILED ", "the device could not be divided", 0x78000003},
    {-30, 4, " INVALID_VALUE ", "a value is wrong", 0x78000004},
    {-32, 6, " INVALID_PLATFORM ", "there is no such platform", 0x78000001},
    {-33, 19, " INVALID_DEVICE ", "the device is none of the context's, or there is no such device",
     0x78000004},
    {-34, 5, " INVALID_CONTEXT ", "the context is none, or of other devices", 0x78000005},
    {-35, 2, " INVALID_QUEUE_PROPERTIES ", "a queue that the device cannot have", 0x78000004},
    {-36, 3, " INVALID_COMMAND_QUEUE INVALID_QUEUE ",
     "the queue is none, or lost: after a hang other calls say so too", 0x70000001},
    {-37, 63, " INVALID_HOST_PTR ", "a pointer to host memory is wrong", 0x78000007},
    {-38, 11, " INVALID_MEM_OBJECT ", "a buffer or image is none", 0x78000005},
    {-39, 34, " INVALID_IMAGE_FORMAT_DESCRIPTOR ", "an image format that does not exist", 0x7800000e},
    {-40, 33, " INVALID_IMAGE_SIZE ", "an image larger than the device takes", 0x78000009},
    {-42, 7, " INVALID_BINARY ", "a binary that does not fit the device", 0x7800000f},
    {-43, 0, " INVALID_BUILD_OPTIONS ", "options that the compiler does not know", 0x78000004},
    {-44, 8, " INVALID_PROGRAM ", "the program is none", 0x78000005},
    {-45, 36, " INVALID_PROGRAM_EXECUTABLE ", "the program was not built for the device", 0x78000018},
    {-46, 29, " INVALID_KERNEL_NAME ", "the program has no kernel of that name", 0x78000011},
    {-47, 0, " INVALID_KERNEL_DEFINITION ", "a kernel that differs between devices", 0x78000011},
    {-48, 28, " INVALID_KERNEL ", "the kernel is none", 0x78000005},
    {-49, 30, " INVALID_ARG_INDEX INVALID_KERNEL_ARGUMENT_INDEX ", "the kernel has no argument of that index",
     0x78000015},
    {-50, 0, " INVALID_ARG_VALUE ", "the value of an argument is wrong", 0x78000004},
    {-51, 31, " INVALID_ARG_SIZE INVALID_KERNEL_ARGUMENT_SIZE ",
     "an argument has another size than the kernel expects", 0x78000016},
    {-52, 27, " INVALID_KERNEL_ARGS ", "an argument of the kernel was not set", 0x78000004},
    {-53, 26, " INVALID_WORK_DIMENSION ", "a number of dimensions that does not exist", 0x78000004},
    {-54, 15, " INVALID_WORK_GROUP_SIZE ", "a work-group size that does not fit", 0x78000013},
    {-55, 25, " INVALID_WORK_ITEM_SIZE ", "a work-group size that does not fit", 0x78000013},
    {-56, 0, " INVALID_GLOBAL_OFFSET ", "a global offset that does not fit", 0x78000004},
    {-57, 13, " INVALID_EVENT_WAIT_LIST ", "a list of events that is none", 0x78000004},
    {-58, 12, " INVALID_EVENT ", "the event is none", 0x7800000b},
    {-59, 1, " INVALID_OPERATION ", "the call is not possible here", 0x78000003},
    {-61, 10, " INVALID_BUFFER_SIZE ", "a buffer of zero bytes, or above the largest allocation", 0x78000009},
    {-63, 0, " INVALID_GLOBAL_WORK_SIZE ", "a global size that does not fit", 0x78000014},
    {-997, 66, " PLUGIN_SPECIFIC_ERROR ADAPTER_SPECIFIC ",
     "a failure that only the runtime's own words explain", 0x7ffffffe},
    {-999, 0x7ffffffe, " UNKNOWN ", "the runtime does not say", 0x7ffffffe},
    {-1001, 0, " PLATFORM_NOT_FOUND_KHR ", "OpenCL finds no driver", 0x78000001},
    {0, 20, " DEVICE_LOST ", "the device hung or was reset", 0x70000001},
    {0, 21, " DEVICE_REQUIRES_RESET ", "the device must be reset", 0x70000006},
    {0, 37, " UNINITIALIZED ", "the driver is not initialized, or there is none", 0x78000001},
    {0,
     39,
     " OUT_OF_DEVICE_MEMORY ",
     "memory of the device could not be allocated",
     0x70000003,
     {"the memory of the device is full, or that of the host which the driver takes for it",
      "a single allocation above the device's largest", "a submission that failed, by a hang too"}},
    {0, 43, " UNSUPPORTED_VERSION ", "the driver does not know this version", 0x78000002},
    {0, 44, " UNSUPPORTED_FEATURE ", "the device or the driver lacks this feature", 0x78000003},
    {0, 45, " INVALID_ARGUMENT ", "an argument is wrong", 0x78000004},
    {0, 46, " INVALID_NULL_HANDLE ", "a handle is null", 0x78000005},
    {0, 48, " INVALID_NULL_POINTER ", "a pointer is null", 0x78000007},
    {0, 49, " INVALID_SIZE ", "a size is wrong", 0x78000008},
    {0, 50, " UNSUPPORTED_SIZE ", "a size that the device does not support", 0x78000009},
    {0, 51, " UNSUPPORTED_ALIGNMENT ", "an alignment that is no power of two, or too large", 0x7800000a},
    {0, 56, " INVALID_NATIVE_BINARY ", "the native binary does not fit the device", 0x7800000f},
    {0, 59, " INVALID_GROUP_SIZE_DIMENSION ", "a work-group size that does not fit", 0x78000013},
    {0, 61, " PROGRAM_UNLINKED ", "the program has unresolved imports", 0x78000018},
    {0, 64, " INVALID_USM_SIZE ", "an allocation of zero bytes, or above the largest", 0x78000009},
    {0, 65, " OBJECT_ALLOCATION_FAILURE ", "an object of the runtime could not be allocated", 0x70000002},
};

constexpr std::string_view kPrefix = "ZE_RESULT_";

std::vector<std::string> list(const Texts& texts) {
  std::vector<std::string> all;
  for (const std::string_view text : texts)
    if (!text.empty()) all.emplace_back(text);
  return all;
}

const Known* find(std::uint64_t value) {
  for (const Known& known : kKnown)
    if (known.value == value) return &known;
  return nullptr;
}

const Known* find(std::string_view word) {
  std::string_view name = word;
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  for (const Known& known : kKnown)
    if (known.name == name || (known.name.starts_with("ERROR_") && known.name.substr(6) == name))
      return &known;
  const bool prefixed = word.starts_with("0x") || word.starts_with("0X");
  const std::string_view digits = prefixed ? word.substr(2) : word;
  if (prefixed)
    if (const auto value = detail::parse_digits(digits, 16))
      if (const Known* known = find(*value)) return known;
  if (const auto value = detail::parse_digits(digits)) return find(*value);
  return nullptr;
}

const Above* find_above(std::string_view word) {
  if (word.starts_with('-')) {
    const auto number = detail::parse_digits(word.substr(1));
    for (const Above& above : kAbove)
      if (number && above.opencl != 0 && *number == static_cast<std::uint64_t>(-above.opencl)) return &above;
    return nullptr;
  }
  for (const std::string_view prefix : {"CL_", "PI_ERROR_", "UR_RESULT_ERROR_"}) {
    if (!word.starts_with(prefix) || word.find(' ') != word.npos) continue;
    const std::string wanted = " " + std::string(word.substr(prefix.size())) + " ";
    for (const Above& above : kAbove)
      if (above.names.find(wanted) != above.names.npos) return &above;
  }
  return nullptr;
}

}  // namespace

std::optional<CodeMeaning> explain_code(std::string_view word) {
  if (const Known* known = find(word))
    return CodeMeaning{std::string(kPrefix).append(known->name), known->value, std::string(known->meaning),
                       list(known->causes), list(known->cures)};
  const Above* above = find_above(word);
  if (!above) return std::nullopt;
  const Known& below = *find(above->below);
  CodeMeaning meaning{std::string(word), std::nullopt, std::string(above->meaning),
                      list(above->causes[0].empty() ? below.causes : above->causes), list(below.cures)};
  meaning.causes.insert(meaning.causes.begin(), "most often " + std::string(kPrefix).append(below.name) +
                                                    " of Level Zero, by these:");
  meaning.cures.emplace_back("trace the program (onetrace -c PROGRAM) and give the trace to `kiln explain`");
  return meaning;
}

namespace detail {

std::optional<std::uint32_t> level_zero_code(std::string_view word) {
  if (const Known* known = find(word)) return known->value;
  if (const Above* above = find_above(word)) return above->below;
  return std::nullopt;
}

std::string_view ur_name(std::uint32_t number) {
  for (const Above& above : kAbove)
    if (number != 0 && above.ur == number) {
      const std::string_view last = above.names.substr(0, above.names.size() - 1);
      return last.substr(last.rfind(' ') + 1);
    }
  return {};
}

}  // namespace detail
}  // namespace kiln
