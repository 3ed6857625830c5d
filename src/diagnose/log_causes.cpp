// SPDX-License-Identifier: MIT
// The causes of failures, with what to do about each.
#include "diagnose/log_causes.hpp"

namespace kiln::detail {
namespace {

#define KILN_KERNEL_LOG "the kernel's log of that minute: `sudo dmesg -T | grep -E 'i915|xe|oom'`"
#define KILN_REASONS "NEOReadDebugKeys=1 PrintDebugMessages=1 makes Intel's driver print its reasons"

// Sources: intel/compute-runtime 22.43 to 26.31; the kernel's drivers i915 and xe, 5.10 to 7.0; the threads
// of the table in docs/explain.md.
constexpr CauseText kCauses[] = {
    {Cause::none,
     "K0508",
     "a call failed, and the log says no more than its code",
     "another failure",
     {},
     KILN_REASONS},
    {Cause::slm,
     "K0501",
     "a work-group asks for more SLM than the device has",
     "more shared local memory (SLM) than a work-group can have",
     {"give the kernel smaller `__local` arguments (SYCL: local_accessor) or arrays: `kiln devices` shows "
      "what a "
      "device has, 64 KiB on Gen12 and Arc A, 128 KiB on PVC, Arc B and Lunar Lake",
      "Triton: smaller blocks, fewer num_stages; `kiln check FILE` compares kernels with products"},
     "NEOReadDebugKeys=1 PrintDebugMessages=1 prints `Size of SLM (…) larger than available (…)` where it is "
     "SLM"},
    {Cause::scratch,
     "K0502",
     "a kernel needs more scratch memory than a hardware thread can have",
     "more scratch memory than a hardware thread can have",
     {"smaller arrays in the kernel, or the kernel in two parts",
      "-ze-opt-large-register-file doubles the registers; a sub-group size of 16 instead of 32 halves what "
      "they hold",
      "Triton: smaller blocks, more num_warps, grf_mode='large'"},
     "the build log says `total scratch space exceeds HW supported limit`"},
    {Cause::private_memory,
     "K0503",
     "a kernel needs more private or scratch memory than there is",
     "private or scratch memory of all hardware threads",
     {"`kiln inspect FILE` shows private and scratch memory of its kernels, a hardware thread",
      "smaller arrays in the kernel; a sub-group size of 16 instead of 32; -ze-opt-large-register-file; the "
      "kernel in "
      "two parts"},
     "`kiln inspect FILE`"},
    {Cause::build,
     "K0504",
     "a module could not be made",
     "the kernel does not compile",
     {"read the build log: the compiler's first `error:` is the reason (Level Zero: "
      "zeModuleBuildLogGetString; OpenCL: "
      "CL_PROGRAM_BUILD_LOG; oneDNN: ONEDNN_VERBOSE=all)",
      "with an empty log: static SLM above the device's (before driver 26.18), or a compiler (libigc) of "
      "another "
      "release than the driver; `kiln check FILE` tells the first, `kiln doctor` the second"},
     "the build log"},
    {Cause::driver_abort,
     "K0505",
     "Intel's driver ended the process",
     "an abort inside the driver",
     {},
     KILN_REASONS},
    {Cause::page_fault,
     "K0506",
     "a kernel read or wrote where it may not, and the GPU stopped",
     "a kernel that reads or writes where it may not (a page fault)",
     {"check the pointers and indices of the kernels that ran last: memory that was freed, host memory that "
      "the device "
      "does not see, an index beyond the buffer",
      "the CPU device finds such accesses: `kiln run FILE --check-memory`"},
     KILN_KERNEL_LOG},
    {Cause::memory_full,
     "K0507",
     "the memory of the device is full",
     "a device whose memory is full",
     {"less at once: a smaller batch, context or model, fewer layers on the GPU, or a more compact number "
      "format",
      "end other programs that hold memory of the device"},
     "`kiln memory` while the program runs"},
    {Cause::misuse,
     "K0508",
     "a call was given what it does not take",
     "an argument that the call does not take",
     {"ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_PARAMETER_VALIDATION=1 names wrong parameters of Level Zero"},
     "ZE_ENABLE_VALIDATION_LAYER=1 ZE_ENABLE_PARAMETER_VALIDATION=1"},
    {Cause::unresolved,
     "K0510",
     "a module uses a function that is defined nowhere",
     "a function that is defined nowhere",
     {"look for a misspelt function, a missing library of the device, or a built-in that this release of the "
      "compiler "
      "does not have: then newer packages of libigc and the driver, from one release",
      "`kiln inspect FILE` names symbol and kernel; or link what defines it, beforehand or by "
      "zeModuleDynamicLink "
      "(both modules built with -library-compilation)"},
     "the build log"},
    {Cause::hang,
     "K0511",
     "the GPU hung, and the kernel's driver stopped what ran there",
     "a GPU that hung or took too long, and was reset",
     {"a kernel that never ends, or runs for longer than the driver allows: look for endless loops and waits "
      "between "
      "work-groups, and divide long work",
      "long kernels that are right: i915.enable_hangcheck=0 and `echo 0 > "
      "/sys/class/drm/card*/engine/*/preempt_timeout_ms`; xe: job_timeout_ms and preempt_timeout_us in "
      "/sys/class/drm/card*/device/tile*/gt*/engines/*",
      "if it comes and goes with releases: newer kernel, GuC firmware (linux-firmware) and driver, one at a "
      "time",
      "the process must start anew: its contexts on that device are lost"},
     KILN_KERNEL_LOG},
    {Cause::too_large,
     "K0512",
     "an allocation is larger than the device takes in one piece",
     "a single allocation above the device's largest (often 4 GiB)",
     {"several smaller allocations: a smaller batch, context or tile",
      "SYCL, PyTorch, llama.cpp on Level Zero: UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1; OpenVINO: "
      "GPU_ENABLE_LARGE_ALLOCATIONS=YES; OpenCL: CL_MEM_ALLOW_UNRESTRICTED_SIZE_INTEL",
      "and build the kernels with -ze-opt-greater-than-4GB-buffer-required (OpenCL: "
      "-cl-intel-greater-than-4GB-buffer-required): without it Arc A and older answer wrong beyond 4 GiB",
      "Windows' subsystem for Linux takes 1 GiB in one piece"},
     "`kiln devices` shows the largest allocation"},
    {Cause::host_memory,
     "K0513",
     "the memory of the host ran out behind that of the device",
     "memory of the host, which the driver also takes for memory of the device",
     {"drivers after 26.05 back memory of the device by the host's where several GPUs see each other: one "
      "GPU a process "
      "(ZE_AFFINITY_MASK=0), or driver 26.05",
      "free memory of the host, a larger limit of the container or cgroup (memory.max), more swap, `ulimit "
      "-l "
      "unlimited`"},
     "`kiln memory --pid PID` and `dmesg | grep -i oom` while it fails; again with ZE_AFFINITY_MASK=0"},
    {Cause::no_device,
     "K0514",
     "no device was found",
     "no driver, or no device that it knows",
     {"`kiln doctor` says which of loader, driver, node and rights is missing",
      "a container needs `--device /dev/dri` and the driver's packages inside; Windows' subsystem for Linux "
      "has /dev/dxg "
      "instead"},
     "`kiln doctor`"},
    {Cause::permission,
     "K0515",
     "this user may not open the GPU",
     "rights on the GPU's node",
     {"join the group that owns the node: `sudo usermod -aG render $USER`, then log in again; in a container "
      "`--group-add $(stat -c %g /dev/dri/renderD128)`",
      "`kiln doctor` shows nodes, owners and groups",
      "the GPU's counters: root, `sudo setcap cap_perfmon+ep PROGRAM` (a container: --cap-add=PERFMON), or 0 "
      "in "
      "/proc/sys/dev/i915/perf_stream_paranoid or /proc/sys/dev/xe/observation_paranoid"},
     "`kiln doctor`"},
    {Cause::library,
     "K0516",
     "a library of the driver is missing, or of another release",
     "a library that is missing, or of another release",
     {"install it: the loader is libze1 (level-zero), the driver libze-intel-gpu1 (intel-level-zero-gpu), "
      "its compiler "
      "libigc2 (libigc1, intel-igc-core); those of one release together",
      "look for a second copy in front of it (conda, LD_LIBRARY_PATH): `LD_DEBUG=libs PROGRAM`, and `kiln "
      "doctor`"},
     "`kiln doctor`"},
    {Cause::fp64,
     "K0517",
     "a kernel uses double, which the device does not have",
     "double (fp64), which the device does not have",
     {"float instead: constants with `f`, no double in host code that SYCL compiles for the device; OpenCL: "
      "only where "
      "cl_khr_fp64 is there",
      "or the compiler's emulation, which is slow: OverrideDefaultFP64Settings=1 IGC_EnableDPEmulation=1",
      "a machine with two GPUs: choose the one that was meant (ONEAPI_DEVICE_SELECTOR, ZE_AFFINITY_MASK)"},
     "the build log says `Double type is not supported`; `kiln check FILE` names such kernels"},
    {Cause::sub_group,
     "K0518",
     "a kernel requires a sub-group size that the device does not have",
     "a sub-group size that the device does not have",
     {"another size, or none: Arc A and older have 8, 16 and 32, PVC, Arc B and Lunar Lake 16 and 32",
      "`kiln check FILE` says which products take it; ahead of time, compile only the kernels that fit the "
      "target"},
     "the build log"},
    {Cause::argument_size,
     "K0519",
     "a kernel has more bytes of arguments than the device takes",
     "too many bytes of kernel arguments",
     {"pass large structs through a buffer: a kernel takes 2048 bytes in all, captures of a lambda included"},
     "the build log"},
    {Cause::compiler_crash,
     "K0520",
     "the compiler itself failed",
     "a failure of the compiler itself",
     {"libigc and driver of one release, the newest if possible: `kiln doctor` names both",
      "find the kernel, and report it with its SPIR-V: `ocloc compile -spirv_input -file F.spv -device …` "
      "repeats it; "
      "IGC_ShaderDumpEnable=1 writes what was compiled"},
     "`ocloc compile` of the same SPIR-V"},
    {Cause::group_size,
     "K0521",
     "a work-group size does not fit",
     "a work-group size that does not fit",
     {"a global size that is a multiple of the group's, and a group within the limits of the device (`kiln "
      "devices`: 512 "
      "or 1024 work-items) and of the kernel (`kiln inspect FILE`), which many registers halve"},
     "`kiln inspect FILE` and `kiln devices`"},
    {Cause::other_target,
     "K0522",
     "the program has no code for this device",
     "code that was compiled for another device",
     {"compile for this device too, or to SPIR-V beside it (SYCL: -fsycl-targets=spir64, or …,intel_gpu_…): "
      "`kiln inspect "
      "FILE` names targets, `kiln devices` the device",
      "link SYCL programs by the SYCL compiler, shared libraries included: other linkers drop the device's "
      "code",
      "for a target that ocloc does not know: an ocloc that has it (`ocloc ids TARGET`); 24.35 was the last "
      "with Gen8, 9 "
      "and 11"},
     "`kiln inspect FILE` and `kiln devices`"},
    {Cause::small_bar,
     "K0523",
     "the host sees a small part of the GPU's memory at once: Resizable BAR is off",
     "Resizable BAR that is off",
     {"switch on Resizable BAR and Above 4G Decoding in the firmware's settings (BIOS, UEFI); a bridge or "
      "switch in front "
      "of the card must give it the room (`lspci -vv`: Region 2)",
      "Intel's driver uses no GPU with a small BAR under xe; i915 does, slowly"},
     "`lspci -vv -s BUS:DEVICE` beside the card's memory"},
    {Cause::peer,
     "K0524",
     "memory of one GPU or process could not be opened by another",
     "memory that another process could not open",
     {"containers: --ipc=host, --cap-add=SYS_PTRACE (or kernel.yama.ptrace_scope=0), /dev/dri with by-path "
      "inside, and "
      "enough of /dev/shm",
      "oneCCL: CCL_ZE_IPC_EXCHANGE=sockets (or pidfd), CCL_TOPO_P2P_ACCESS=0, CCL_ENABLE_SYCL_KERNELS=0; "
      "each worker with "
      "the same ZE_AFFINITY_MASK order",
      "drivers, kernel and oneCCL of releases that belong together: one process and one GPU tell whether it "
      "is this"},
     "the same with one GPU"},
    {Cause::spirv,
     "K0525",
     "the compiler does not take this SPIR-V",
     "SPIR-V that this compiler does not take",
     {"a newer libigc, or SPIR-V that is made for it: llvm-spirv --spirv-max-version=1.2 --spirv-ext=-all, "
      "+SPV_KHR_… only for what the device has",
      "`kiln inspect FILE` names version, capabilities and extensions"},
     "`kiln inspect FILE`"},
    {Cause::wedged,
     "K0526",
     "the GPU does not come back: the kernel's driver could not reset it",
     "a GPU that no longer answers",
     {"a restart of the machine, or of the card: `echo 1 > /sys/bus/pci/devices/0000:BUS:DEVICE.0/reset`, "
      "and the driver "
      "bound again",
      "what came before in the kernel's log is the cause: a hang, a page fault, a power or PCIe error",
      "if it returns: newer kernel and GuC firmware, no deep sleep (pcie_aspm=off, xe.max_vfs=0), another "
      "slot or power "
      "supply"},
     KILN_KERNEL_LOG},
    {Cause::kernel_driver,
     "K0527",
     "the kernel's driver did not start on this GPU",
     "a kernel driver that did not start",
     {"the firmware that it names: newer linux-firmware (i915/*_guc_*.bin, xe/*_guc_*.bin), then "
      "`update-initramfs -u`",
      "a kernel that knows the GPU; xe.force_probe=ID or i915.force_probe=ID where it says that support is "
      "not finished",
      "`kiln doctor` shows which driver is bound"},
     "`sudo dmesg | grep -E 'i915|xe'`"},
};
#undef KILN_KERNEL_LOG
#undef KILN_REASONS

}  // namespace

const CauseText& text_of(Cause cause) {
  for (const CauseText& text : kCauses)
    if (text.cause == cause) return text;
  return kCauses[0];
}

}  // namespace kiln::detail
