// SPDX-License-Identifier: MIT
// Sentences of kernels, drivers and compilers, and the cause that each tells of.
#include <vector>

#include "diagnose/log_causes.hpp"

namespace kiln::detail {
namespace {

// Ranks: 90 and more, the cause in so many words; 83 to 89, the kernel's log; 70 to 82, a runtime that says
// what it lacks; below kCodeRank, what may as well be beside the failure.
constexpr Rule kSystemRules[] = {
    // The kernel's drivers, i915 and xe. Their sentences: drivers/gpu/drm/{i915,xe}, 5.10 to 7.0.
    {"memory cat error|fault response: unsuccessful", "", "", Cause::page_fault, 92},
    {"segmentation fault from gpu at|page fault from gpu at", "", "", Cause::page_fault, 93},
    {"faulttype:", "asid", "", Cause::page_fault, 91},
    {"faulted address", "", "", Cause::page_fault, 91},
    {"dmar:", "fault addr", "", Cause::page_fault, 60, Cause::hang,
     "a device reached for memory that the IOMMU does not let it have: `lspci` says "
     "whether it is the GPU"},
    {"has declared device", "wedged", "", Cause::wedged, 91},
    {"device declared wedged", "", "", Cause::wedged, 91},
    {"declaring it wedged", "", "", Cause::wedged, 85},
    {"rip: 0010:", "[i915]|[xe]", "", Cause::kernel_driver, 84, Cause::hang,
     "the kernel's driver for this GPU failed itself: a fault in i915 or xe"},
    {"workqueue: i915|workqueue: xe|workqueue: drm_sched", "", "amdgpu|nouveau", Cause::kernel_driver, 60,
     Cause::hang, "the kernel's driver for this GPU failed itself: what it left to a thread of the kernel"},
    {"unknown symbol |disagrees about version of symbol", "drm|i915|xe", "nvidia|nouveau|amdgpu|evdi",
     Cause::kernel_driver, 86, Cause::library,
     "the kernel's module for this GPU is missing, or does not build for this kernel"},
    {"device is non-operational|lost access to mmio bar", "", "", Cause::wedged, 88, Cause::kernel_driver},
    {"comm: xe_module_load|comm: i915_module_load", "", "", Cause::kernel_driver, 84, Cause::none,
     "the kernel's driver for this GPU failed itself while it was loaded"},
    {"/dkms/", ": error: &i915|/xe/|drm", "", Cause::kernel_driver, 92, Cause::build,
     "the kernel's module for this GPU does not build for this kernel"},
    {"failed to reset chip", "", "", Cause::wedged, 89},
    {"failed to reset guc", "", "", Cause::wedged, 86},
    {"/var/lib/dkms/", "make.log&i915|/xe|drm", "", Cause::kernel_driver, 84, Cause::build,
     "the kernel's module for this GPU does not build for this kernel"},
    {"assert was called at ", "line in file", "", Cause::driver_abort, 90},
    {"iov: unable to confirm version|iov: found interface version", "", "", Cause::kernel_driver, 86,
     Cause::none, "a virtual function's driver and that of the host (SR-IOV) are of different releases"},
    {"bug: kernel null pointer|bug: unable to handle page fault", "", "", Cause::kernel_driver, 52,
     Cause::hang, "the kernel failed itself: the line `RIP:` below says in which driver"},
    {"firmware load for i915/|firmware load for xe/", "_dmc_", "", Cause::kernel_driver, 31, Cause::none,
     "the kernel's driver lacks the firmware that saves power (DMC): the GPU works, and needs more of it"},
    {"gsc er timed out|driver-flr", "", "", Cause::wedged, 87},
    {"re-enable pci device after reset", "", "", Cause::wedged, 89},
    {"guc crash dump notification", "", "", Cause::hang, 87},
    {"hardware reports unknown", "version", "", Cause::kernel_driver, 88},
    {"address translation service (ats)", "", "", Cause::kernel_driver, 88, Cause::none,
     "i915 does not start where the BIOS has address translation services (ATS) on for this GPU: switch them "
     "off"},
    {"vram allocation failed", "", "", Cause::memory_full, 84, Cause::host_memory},
    {"get pages failed", "retry count exceeded", "", Cause::page_fault, 84, Cause::host_memory},
    {"[ttm] failed allocating", "", "", Cause::host_memory, 84},
    {"unexpected fault", "i915| xe 0", "", Cause::page_fault, 91},
    {"runtime survivability mode", "", "", Cause::wedged, 90, Cause::kernel_driver},
    {"supported by rebar sizes|pci resource is not valid", "", "", Cause::small_bar, 84,
     Cause::kernel_driver},
    {"reset failed (-", "[drm]", "amdgpu", Cause::wedged, 89},
    {"declaring wedged", "", "amdgpu|radeon", Cause::wedged, 88},
    {"tlb invalidation response timed out|tlb invalidation fence timeout", "", "", Cause::wedged, 86,
     Cause::hang},
    {"gpu recovery", "timed out|failed", "amdgpu|nouveau|panfrost|panthor|lima|msm|etnaviv", Cause::wedged,
     88, Cause::hang},
    {"waiting for forcewake ack", "", "", Cause::wedged, 86, Cause::kernel_driver},
    {"engine reset request failed", "guc", "", Cause::hang, 84, Cause::wedged},
    {"failed to initialise hw following reset|failed to initialize hw following reset", "", "", Cause::wedged,
     89},
    {"pci error detected|removing device access to userspace", "", "nvme|nvidia", Cause::wedged, 86},
    {"write access violation @|read access violation @", "", "", Cause::page_fault, 91},
    {"pcie bus error: severity=uncorrect|aer: uncorrect|aer: multiple uncorrect|aer: fatal", "",
     "nvidia|nvme", Cause::wedged, 84, Cause::hang},
    {"gpu hang: ecode|context reset due to gpu hang|preemption time out|"
     "stopped heartbeat on|chip for hang on|resetting chip after gpu hang|"
     "fence expiration time out i915|check job timeout|hangcheck timer elapsed",
     "", "", Cause::hang, 85},
    {"gpu hang|reset request timed out", "[drm]", "amdgpu", Cause::hang, 84},
    {"drm_intel_gem_bo_context_exec|drm_intel_gem_bo_exec|intel_do_flush_locked", "input/output error", "",
     Cause::hang, 84, Cause::wedged},
    {"gpu hang detected|exec queue reset detected|gpu hang (-21)", "", "", Cause::hang, 82},
    {"errordevicelost|vk_error_device_lost", "", "", Cause::hang, 45, Cause::page_fault},
    {"resetting chip for", "i915", "", Cause::hang, 84},
    {"guc: engine reset failed|vm job timed out|stuck on render ring", "", "", Cause::hang, 84},
    {"timedout job", "", "amdgpu", Cause::hang, 85},
    {"engine reset:", "guc_id|engine_class", "", Cause::hang, 85},
    {"schedule disable failed to respond", "", "", Cause::hang, 84, Cause::wedged},
    {"asynchronous wait on fence", "timed out", "amdgpu", Cause::hang, 83},
    {"xe device coredump", "", "deleted", Cause::hang, 80, Cause::page_fault},
    // The device that is wedged behind these is what comes of them.
    {"firmware production part check failure|firmware signature verification failed", "", "",
     Cause::kernel_driver, 92},
    {"unsupported guc v", "", "", Cause::kernel_driver, 87},
    {"guc init failed|guc initialization failed|guc load failed|guc: load failed|"
     "failed to initialize uc|enabling uc failed|emit_wa_job failed|probe with driver xe failed|"
     "probe with driver i915 failed",
     "", "", Cause::kernel_driver, 86},
    {"guc firmware", "fetch failed|not found|unexpected version:", "", Cause::kernel_driver, 86},
    {" dmc", "failed to load|disabling runtime power management", "", Cause::kernel_driver, 31, Cause::none,
     "the kernel's driver lacks the firmware that saves power (DMC): the GPU works, and needs more of it"},
    {"firmware", "is recommended, but only", "huc| gsc", Cause::kernel_driver, 31, Cause::none,
     "the GPU's firmware is older than its kernel driver wants: a newer linux-firmware"},
    {"survivability mode", "", "", Cause::kernel_driver, 88, Cause::wedged},
    {"your graphics device", "not properly supported|not officially supported", "", Cause::kernel_driver, 86},
    {"incompatible option detected", "i915|[drm]", "", Cause::kernel_driver, 60, Cause::none,
     "the kernel's driver was given an option that this GPU does not take (a parameter of the module)"},
    {"probe blocked for device", "", "", Cause::kernel_driver, 86},
    {"firmware: failed to load i915/|firmware load for i915/|firmware load for xe/", "guc", "",
     Cause::kernel_driver, 83},
    {"device initialization failed (-", "i915", "", Cause::kernel_driver, 86},
    // Only where nothing else failed, or what failed needs it: compute does not.
    {" huc| gsc", "fail|error|not found|timed out&firmware|.bin|auth|load|init|i915|xe",
     "guc f|guc l|guc v|guc i", Cause::kernel_driver, kMediaFirmwareRank, Cause::small_bar,
     "the kernel's driver lacks a firmware, of what decodes video or keeps secrets"},
    {"without any cpu visible vram", "", "", Cause::small_bar, 90, Cause::kernel_driver},
    {"bar size was found to be smaller", "", "", Cause::small_bar, 51},
    {"can't resize vram bar|can't resize lmem bar|failed to resize bar|resizable bar not detected|using a "
     "reduced bar size|"
     "small bar detected",
     "", "", Cause::small_bar, 50},
    {"small bar device", "", "", Cause::small_bar, 49},
    {"can't claim bar 2", "", "", Cause::small_bar, 50, Cause::kernel_driver},
    {"cannot fit", "bridging to", "", Cause::small_bar, 50},

    // Memory of the host.
    {"invoked oom-killer|oom-kill:|out of memory: killed process|"
     "oom_reaper: reaped process|paging file is too small|"
     "not enough memory: you tried to allocate|"
     "can't allocate memory: you tried to allocate|llvm error: out of memory|"
     "killed by the oom killer",
     "", "", Cause::host_memory, 84},
    {"memory cgroup out of memory", "", "", Cause::host_memory, 85, Cause::none,
     "the memory of the cgroup (container, service) ran out, which memory of the device "
     "counts to as well"},
    {"systemd-oomd", "killed", "", Cause::host_memory, 84},
    {"exited with code 137", "", "", Cause::host_memory, 45, Cause::misuse,
     "the process was killed, most likely for want of memory of the host"},
    {"signal: killed", "", "", Cause::host_memory, 45, Cause::misuse,
     "the process was killed, most likely for want of memory of the host"},
    {"exitcode", "-9", "", Cause::host_memory, 45, Cause::misuse,
     "the process was killed, most likely for want of memory of the host"},
    {"insufficient space in /dev/shm|insufficient shared memory (shm)|workers are out of shared memory", "",
     "", Cause::host_memory, 88, Cause::none,
     "/dev/shm is too small: containers get 64 MiB, `--shm-size=8g` or `--ipc=host` give "
     "more"},
    {"std::bad_alloc|bad allocation", "", "", Cause::host_memory, 45, Cause::memory_full},
    {"memoryerror", "", "outofmemory|_cl.", Cause::host_memory, 40, Cause::memory_full},
    {"cannot allocate memory", "", "", Cause::host_memory, 44, Cause::memory_full},
    {"vm worker error", "", "", Cause::memory_full, 82, Cause::host_memory},
    {"unable to allocate page", "ttm", "", Cause::host_memory, 83},
    {"[ttm] buffer eviction failed|failed to find memory space for buffer", "", "", Cause::memory_full, 83},
    {"page allocation failure", "order", "", Cause::host_memory, 83},
    {"xe_ttm_tt_populate|ttm_pool_alloc", "", "", Cause::host_memory, 83},
    {"failed with -1. errno=12(", "ioctl", "", Cause::host_memory, 82, Cause::memory_full},
    {"failed with -1. errno=28(", "ioctl", "", Cause::memory_full, 82, Cause::host_memory},
    {"failed with -1. errno=5(", "ioctl", "", Cause::hang, 70, Cause::wedged},
    {"drm_ioctl_i915_|drm_ioctl_xe_",
     "failed: no such file|failed: inappropriate ioctl|failed: function not implemented|failed: operation "
     "not "
     "supported",
     "", Cause::kernel_driver, 70, Cause::library,
     "the kernel's driver has no such call, or another meaning for it: it is too old for this driver, or "
     "another system's"},
    {"does not support sr-iov", "", "", Cause::kernel_driver, 60, Cause::none,
     "the kernel's driver of this GPU makes no virtual functions (SR-IOV): another one is needed, or a newer "
     "kernel"},
    {"i915: unknown parameter|xe: unknown parameter", "ignored", "", Cause::kernel_driver, 40, Cause::none,
     "the kernel's driver does not know a parameter that it was given: it is another release, or another "
     "driver"},
    {"rlimit_memlock", "", "", Cause::host_memory, 35, Cause::none,
     "memory of the host cannot be pinned: the limit of locked memory (ulimit -l) is too "
     "low"},

    // Intel's compiler and ocloc.
    {"scratch space required is larger", "", "", Cause::scratch, 94},
    {"max permitted ptss|scratch space exceeds hw", "", "", Cause::scratch, 94},
    {"doesn't contain any kernels|does not contain any kernels|during intel loadbinary|triton error [ze]",
     "contain any kernels|invalid_kernel_name|0x78000011|2013265937", "", Cause::scratch, 91,
     Cause::unresolved,
     "Triton's module has no kernel: most likely the compiler gave it up, since it spills more than the "
     "device "
     "has scratch memory for"},
    {"and spilled around", "", "", Cause::scratch, 31, Cause::none,
     "a kernel has more values than registers, and spills them to memory: it is slow, and "
     "no failure"},
    {"double type is not supported|requires cl_khr_fp64|aspect fp64 is not supported", "",
     "casting to single", Cause::fp64, 94},
    {"extension 'cl_khr_fp64'", "unsupported", "", Cause::fp64, 92},
    {"cl_khr_fp64", "not supported", "", Cause::fp64, 91},
    {"double precision", "not supported", "", Cause::fp64, 88},
    {"#error", "double prec", "", Cause::fp64, 88},
    {"f8 natively|c16 natively", "does not support", "", Cause::fp64, 90},
    {"required aspect", "is not supported on the device", "", Cause::other_target, 86, Cause::none,
     "a kernel needs a feature that the device does not have"},
    {"aspect::fp64", "not support", "", Cause::fp64, 92},
    {"uses-fp64-math", "", "", Cause::fp64, 93},
    {"kernel uses double", "not support", "", Cause::fp64, 91},
    {"kernel is incompatible with all devices", "", "", Cause::fp64, 80, Cause::other_target,
     "a kernel needs what the device does not have: most often double (fp64)"},
    {"specified by intel_reqd_sub_group_size", "", "", Cause::sub_group, 94},
    {"sub-group size|sub group size|subgroup size|reqd_sub_group_size", "not supported", "", Cause::sub_group,
     92},
    {"sub group size|subgroup size", "unsupported", "", Cause::sub_group, 92},
    {"size of kernel arguments exceeds limit", "", "", Cause::argument_size, 94},
    {"kernel arguments exceeds", "limit", "", Cause::argument_size, 93},
    {"igc: internal compiler error|igc internal compiler error", "", "", Cause::compiler_crash, 92},
    {"internal compiler error", "ocloc", "", Cause::compiler_crash, 91},
    {"internal compiler error, abnormal program termination", "", "", Cause::compiler_crash, 91},
    {"intel_memman|i965_drv_video", "assert", "", Cause::library, 93, Cause::no_device,
     "the older driver of VA-API (i965) does not start on this GPU: from Broadwell on intel-media-driver "
     "(iHD) serves it"},
    {"unreachable executed at", "", "", Cause::compiler_crash, 88},
    {"legalization support missing", "", "", Cause::compiler_crash, 91},
    {"(gbe): error", "failed in gen backend", "", Cause::compiler_crash, 88},
    {"llvm error:", "", "", Cause::compiler_crash, 52, Cause::build},
    {"abnormal termination", "igc", "", Cause::compiler_crash, 91},
    {"safetyguardlinux|igd_fcl_mcl", "", "", Cause::compiler_crash, 60},
    {"libigc.so", "[0x", "", Cause::compiler_crash, 58},
    {"libigc.so", "segfault", "", Cause::compiler_crash, 60},
    {"invalid spir-v module|invalid spir-v file|unsupported spir-v", "", "vk", Cause::spirv, 91},
    {"spir-v version", "not supported", "vk", Cause::spirv, 90},
    {"spir-v version", "unsupported", "vk", Cause::spirv, 90},
    {"invalidmodule:", "", "", Cause::spirv, 90},
    {"invalidbuiltinsetname: |invalidtargettriple: |invalidaddressingmodel: |invalidmemorymodel: |"
     "unimplementedopcode: ",
     "", "", Cause::spirv, 93},
    {"requires the following spir-v extension", "", "", Cause::spirv, 90, Cause::none,
     "llvm-spirv needs an extension of SPIR-V that it was not given (--spirv-ext): allow it where the driver "
     "has it, or do without what needs it"},
    // The reader of SPIR-V in Intel's compiler and in llvm-spirv: what it expects, and where it says so.
    {"[src:", "spirvwriter", "requires the following", Cause::compiler_crash, 94, Cause::spirv,
     "llvm-spirv does not translate what it was given: most likely it is of another release than what made "
     "it"},
    {"[src:", "spirv", "", Cause::spirv, 93},
    {".ze_info", "unknown entry", "", Cause::other_target, 90, Cause::none,
     "native code is of a newer compiler (libigc, ocloc) than this driver reads"},
    {".ze_info", "unhandled", "", Cause::other_target, 90, Cause::library,
     "native code is of another compiler (libigc, ocloc) than this driver reads"},
    {"could not determine device target", "", "", Cause::other_target, 91, Cause::none,
     "this ocloc does not know the device that code is asked for"},
    {"cannot get hw info for device", "", "", Cause::other_target, 91, Cause::none,
     "this ocloc does not know the device that code is asked for"},
    {"no kernel named ", "was found", "", Cause::other_target, 90, Cause::build},
    {"no device image compatible", "", "", Cause::other_target, 92},
    {"no device program image found", "", "", Cause::other_target, 90},
    {"backend compiler failed build", "", "", Cause::build, 58},
    // clang's sentences on OpenCL C and SYCL.
    {"changes address space of pointer", "error", "", Cause::build, 88},
    {"sycl kernel cannot", "error", "", Cause::build, 88},
    {"extension to be enabled", "error&requires cl_", "", Cause::build, 93},
    {"unknown argument: '--spirv-ext", "", "", Cause::library, 88, Cause::none,
     "ocloc and the compiler that it opens (opencl-clang) are of different releases"},
    {"build failed with error code: -11|ocloc failed with error code|`ocloc` failed|"
     "program build failed:|module compilation failed",
     "", "", Cause::build, 56},
    {"l0 build module failed|build program log for '|programbuilder build failed|"
     "gpu program build failed",
     "", "", Cause::build, 57},
    {"passmanager::run failed", "", "", Cause::build, 57, Cause::none,
     "Triton's compiler fails before Intel's begins"},
    {"'ocloc'", "non-zero exit status", "", Cause::build, 56},
    {"the program was built for", "devices", "", Cause::build, 56},
    {"create a primitive descriptor", "", "", Cause::other_target, 53, Cause::misuse,
     "oneDNN has no kernel for what it was asked on this device"},
    {"could not create a primitive", "", "", Cause::build, 50, Cause::memory_full,
     "oneDNN could not make a kernel: it does not compile, or memory is short"},
    {"could not execute a primitive", "", "", Cause::memory_full, 50, Cause::hang,
     "oneDNN could not run a kernel: most often memory is short"},
    {"could not create a memory object", "", "", Cause::memory_full, 52, Cause::host_memory},
    {"could not create an engine", "", "", Cause::library, 50, Cause::no_device,
     "oneDNN cannot use this GPU: it, or the driver, is of another release, or finds no "
     "device"},
};

}  // namespace

std::span<const Rule> log_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> rules(std::begin(kSystemRules), std::end(kSystemRules));
    for (const auto more :
         {program_rules(), framework_rules(), compute_rules(), media_rules(), rule_families()})
      rules.insert(rules.end(), more.begin(), more.end());
    return rules;
  }();
  return all;
}

}  // namespace kiln::detail
