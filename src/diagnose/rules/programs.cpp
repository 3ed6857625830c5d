// SPDX-License-Identifier: MIT
// Sentences of runtimes and programs, and what marks those of an Intel GPU.
#include <algorithm>
#include <initializer_list>

#include "diagnose/log_causes.hpp"

namespace kiln::detail {
namespace {

constexpr std::string_view kGpuWords[] = {
    "xpu", "ur error", "sycl", "level_zero", "level zero", "level-zero", "levelzero", "libze", "ze_result",
    "oneapi", "ocloc", "intel", "openvino", "libigc", "i915", "oneccl", "dnnl", "onednn", "triton", "ipex",
    "opencl", "cl_", "xe2", "xe3", "xe 0000", "[drm", "arc(tm)", "battlemage", "alchemist", "lunar lake",
    "dpcpp", "dpc++", "dpctl", "dpnp", "dpex", "adaptivecpp", "icpx", "uhd graphics", "iris", "chip info",
    "chip error", "chip warn", "chip_be", "chip debug", "zemodule", "zekernel", "zecommand", "zemem",
    "zedevice", "zedriver", "ze_loader", "spir64", "spirv64", "zeinit", "zecontext", "zeevent", "zefence",
    "zeimage", "onearray", "cl::", "clbuild", "xccl", "clenqueue", "clcreate", "clfinish", "igfx", "igdkmd",
    " igc", " ocl", "|ccl_", "zes_", "igdrcl", "igdfcl", "igc64", "genx", "ihd_", "qsv", "onevpl", "libmfx",
    "hiperror", "module xe", "chip_", " pvc", " dg2", " bmg", " arc ", "xetla", "hd graphics", "libvpl",
    "iris_dri", "beignet", "mfx_err", "mfxload", "mfxinit", "gbe::", "inference\\src", "inference/src",
    "gen compiler", "unitrace", "onetrace", "i965",
    // Of Intel's driver of Windows.
    "igd9", "igd10", "igd11", "igd12", "igdumd", "igvk64", "igxelp"};
constexpr std::string_view kAnyGpuWords[] = {
    "gpu",    "llama",     "ggml",     "vulkan",    "renderd",    "/dev/dri",   "vaapi",    "spirv",
    "spir-v", "torch",     "libva",    "va-api",    "vainfo",     "hashcat",    "blender",  "fp64",
    "drmn0",  "vaprofile", "vacreate", "hwcontext", "avhwdevice", "avhwframes", "vadisplay"};

constexpr std::string_view kMediaWords[] = {"vaapi",  "va-api", "vainitialize", "libva",    " qsv",
                                            "onevpl", "ffmpeg", "transcod",     "h264",     "hevc",
                                            "hdcp",   " pxp",   "gstreamer",    "jellyfin", " mfx"};

constexpr std::string_view kProgramDied = "the process died, and this log does not say in which call";
constexpr std::string_view kProgramFailed =
    "the program failed, and this log does not say why the GPU or its driver would";
constexpr std::string_view kNotForThis =
    "the program does not support this device, or what it was asked for there";
constexpr std::string_view kOtherRelease =
    "libraries that a program takes for the GPU are of different releases";

constexpr Rule kProgramRules[] = {
    // SLM, and sizes of work-groups.
    {"out of resource: shared memory", "", "", Cause::slm, 95},
    {"total local memory size", "exceeds", "", Cause::slm, 92},
    {"too much local memory", "", "", Cause::slm, 91},
    {"exceeds maximum value (|requiredworkgroupsize =", "", "", Cause::group_size, 90},
    {"non-uniform work-groups are not supported|of a work-group cannot exceed|"
     "in a work-group cannot exceed|out of resource: threads",
     "", "", Cause::group_size, 92},
    {"invalid work-group size|invalid work group size", "", "", Cause::group_size, 80},
    {"required work-group size", "match", "", Cause::group_size, 90},

    // Allocators. What has numbers is read by them too.
    {"can not allocate memory block with size larger than|exceeded max size of memory "
     "object allocation",
     "", "", Cause::too_large, 94},
    {"max size of memory allocation|no available memory for the cache blocks|"
     "less than desired gpu memory utilization",
     "", "", Cause::memory_full, 90},
    {"limits for a single allocation|larger than max mem alloc size|"
     "exceeds cl_device_max_mem_alloc_size",
     "", "", Cause::too_large, 92},
    {"out of device memory on current platform", "", "", Cause::memory_full, 82},
    {"xpu out of memory", "", "", Cause::memory_full, 80, Cause::host_memory},
    {"bytes of memory on device", "allocate", "", Cause::memory_full, 79, Cause::host_memory},
    {"bytes memory on device", "malloc", "", Cause::memory_full, 79, Cause::host_memory},
    {"failed to allocate sycl", "", "", Cause::memory_full, 78, Cause::host_memory},
    {"unable to allocate sycl", "", "", Cause::memory_full, 77, Cause::host_memory},
    {"allocator ran out of memory trying to allocate", "itex", "", Cause::memory_full, 78,
     Cause::host_memory},
    {"oom when allocating tensor", "xpu", "", Cause::memory_full, 78, Cause::host_memory},
    {"outofgpumemoryerror", "", "", Cause::memory_full, 76, Cause::host_memory},
    {"failed to allocate", "usm", "", Cause::memory_full, 76, Cause::host_memory},
    {"usm allocation", "fail", "", Cause::memory_full, 76, Cause::host_memory},
    {"[gpu] cl_out_of_resources exception", "", "", Cause::memory_full, 56, Cause::page_fault,
     "OpenVINO met a failure of the GPU: most often its memory is full"},
    {"[gpu] out of gpu resources", "", "", Cause::memory_full, 56, Cause::page_fault,
     "OpenVINO met a failure of the GPU: most often its memory is full"},
    {"available kv cache memory", "larger than", "", Cause::memory_full, 90},
    {"hiperroroutofmemory", "", "", Cause::memory_full, 50, Cause::too_large},
    {"dnnl_out_of_memory", "", "", Cause::memory_full, 56, Cause::hang},
    {"reduce memory consumption", "gpu", "", Cause::memory_full, 55, Cause::page_fault},
    {"sycl error:", "", "", Cause::memory_full, 8, Cause::hang,
     "a call of SYCL failed, and this log does not say why; most often memory is short"},
    {"llama runner process has terminated", "", "", Cause::library, 7, Cause::memory_full,
     "Ollama's runner ended, and this log does not say why; most often a library of oneAPI"
     " or the driver is missing or of another release, or memory is short"},
    {"ur error", "runtimeerror", "", Cause::memory_full, 9, Cause::hang},

    {"zememallocdevice|zememallocshared", "device_lost|70000001|1879048193", "", Cause::misuse, 56,
     Cause::hang, kForeignDevice},

    // A warning of chipStar, and the reason where the module then does not build.
    {"missing definition for '", "", "", Cause::unresolved, 59},
    {"zemoduledynamiclink", "unsupported_feature", "", Cause::unresolved, 82, Cause::none,
     "modules were built without -library-compilation, and cannot be linked"},
    {"dynamic link not supported without", "", "", Cause::unresolved, 92, Cause::none,
     "modules were built without -library-compilation, and cannot be linked"},

    // Peers.
    {"zememopenipchandle|zememgetipchandle", "ze_result_error", "", Cause::peer, 82},
    {"zememopenipchandle", "0x7", "", Cause::peer, 82},
    {"init_device_fds", "opendir", "", Cause::peer, 84, Cause::no_device,
     "oneCCL looks for GPUs in /dev/dri/by-path, which is not there: a container needs all of /dev/dri"},
    {"init_device_fds|fill_device_fds", "failed", "", Cause::peer, 82},
    {"fi_getinfo", "error|fail|providers 0", "", Cause::library, 60, Cause::peer,
     "libfabric offers oneCCL or MPI no way to other processes: most often FI_PROVIDER_PATH or FI_PROVIDER "
     "names "
     "what is not there"},
    {"failed to initialize atl", "", "", Cause::library, 55, Cause::peer,
     "oneCCL does not start: most often libfabric or MPI is missing, or of another release"},
    {"mpl_gpu_|mpidi_gpu|ch4/ipc", "error|fail", "", Cause::peer, 57, Cause::memory_full,
     "MPI cannot copy or open memory of a GPU: most often that of another process"},
    {"pidfd_getfd", "", "", Cause::peer, 75},
    {"oneccl: ze", "exception", "", Cause::peer, 54, Cause::library},

    // Libraries and devices.
    {"libze_loader", "cannot open shared object", "", Cause::library, 75, Cause::none,
     "the loader of Level Zero (libze_loader.so.1) is not installed"},
    {"libze_loader", "undefined symbol", "", Cause::library, 75},
    {"libze_intel_gpu", "cannot open shared object", "legacy", Cause::library, 60, Cause::none,
     "Intel's driver of Level Zero is not installed, or a library that it needs"},
    {"load library of libze_intel_gpu", "failed", "legacy", Cause::library, 60, Cause::none,
     "Intel's driver of Level Zero does not load: what it names is missing, or of another "
     "release"},
    {"libigc.so", "cannot open shared object", "", Cause::library, 74, Cause::none,
     "the compiler of Intel's driver (libigc) is not installed"},
    {"libigdfcl", "cannot open shared object", "", Cause::library, 74, Cause::none,
     "the compiler of Intel's driver (libigdfcl) is not installed"},
    {"libigdgmm", "cannot open shared object", "", Cause::library, 74},
    {"libsycl.so", "cannot open shared object", "", Cause::library, 75, Cause::none,
     "SYCL's runtime (libsycl) is not found: `source /opt/intel/oneapi/setvars.sh`"},
    {"cannot open shared object", kGpuLibrary, "", Cause::library, 72},
    {"' not found (required by", kGpuLibrary, "", Cause::library, 72, Cause::none, kOtherRelease},
    {"undefined symbol:", kGpuLibrary, "", Cause::library, 71, Cause::none, kOtherRelease},
    {"[winerror 126]", "error loading", "", Cause::library, 72, Cause::none, kLibraryMissing},
    {"[winerror 127]|[winerror 1114]", "error loading", "", Cause::library, 72, Cause::none, kOtherRelease},
    {"dll load failed", "", "", Cause::library, 60, Cause::none, kLibraryMissing},
    {".dll was not found", "", "", Cause::library, 60, Cause::none, kLibraryMissing},
    {".dll not found", "", "", Cause::library, 60, Cause::none, kLibraryMissing},
    {"tool could not be found", "ocloc", "", Cause::library, 88, Cause::none,
     "ocloc is not installed, or not in PATH: intel-ocloc"},
    {"loading of igc library has failed", "", "", Cause::library, 93, Cause::none,
     "the compiler of Intel's driver (libigc) is not installed, or of another release than"
     " the driver"},
    {"loading of fcl library has failed", "", "", Cause::library, 93, Cause::none,
     "the compiler of OpenCL C (libigdfcl) is not installed, or of another release than "
     "the driver"},
    {"igc initialization failure|fcl initialization failure", "", "", Cause::library, 92},
    {"registered more than once", "option '", "", Cause::library, 88, Cause::none,
     "two copies of LLVM are in one process: libraries of different builds, such as "
     "libigc, opencl-clang and a program's own"},
    {"failed to find c compiler", "", "", Cause::library, 88, Cause::none,
     "Triton finds no C compiler, which it needs while the program runs: gcc or clang, "
     "named by CC"},
    {"cannot find -lze_loader", "", "", Cause::library, 88, Cause::none,
     "what programs are linked with to use Level Zero is missing: libze-dev (level-zero-"
     "dev)"},
    {"level_zero/ze_api.h", "no such file", "", Cause::library, 88, Cause::none,
     "the headers of Level Zero are missing: libze-dev (level-zero-dev)"},
    {"ze_api.h", "not found", "", Cause::library, 88, Cause::none,
     "the headers of Level Zero are missing: libze-dev (level-zero-dev)"},
    {"ocloc", "not found|could not find", "", Cause::library, 54, Cause::none,
     "ocloc is not installed, or not in PATH: intel-ocloc"},
    {"'ocloc'", "no such file", "", Cause::library, 88, Cause::none,
     "ocloc is not installed, or not in PATH: intel-ocloc"},
    {"failed to get device memory size", "", "", Cause::library, 56, Cause::none,
     "the driver does not say how much memory is free: sysman is off (ZES_ENABLE_SYSMAN=1)"
     " or too old"},
    {"libopencl.so", "cannot open shared object", "", Cause::library, 74, Cause::none,
     "the loader of OpenCL (ocl-icd-libopencl1) is not installed"},
    {"undefined symbol: ze", "", "", Cause::library, 74, Cause::none,
     "a program and the loader of Level Zero are of different releases"},
    {"undefined symbol: _zn4sycl", "", "", Cause::library, 74, Cause::none,
     "a program and SYCL's runtime (libsycl) are of different releases"},
    {"not compiled with xpu enabled", "", "", Cause::library, 74, Cause::none,
     "this PyTorch was built without Intel GPUs: install it from "
     "download.pytorch.org/whl/xpu"},
    {"not linked with support for xpu", "", "", Cause::library, 74, Cause::misuse,
     "this PyTorch has no Intel GPUs: install it from download.pytorch.org/whl/xpu, or, before 2.4, import "
     "intel_extension_for_pytorch first"},
    {"undefined symbol: ur", "", "", Cause::library, 72},
    {"glibcxx_", "not found", "", Cause::library, 58, Cause::none,
     "an older libstdc++ (often conda's) is found before the one that the driver needs"},
    {"level zero loader", "could not be opened", "", Cause::library, 74},
    {"level zero loader or headers", "not found", "", Cause::library, 74, Cause::none,
     "what programs are linked with to use Level Zero is missing: libze-dev (level-zero-"
     "dev)"},
    {"opencl device not found", "onednn_verbose", "", Cause::library, 74, Cause::no_device,
     "oneDNN needs OpenCL's driver for the GPU (intel-opencl-icd) also under SYCL, and "
     "does not find it"},
    {"drivers discovered", "0 drivers", "", Cause::no_device, 45, Cause::library,
     "the loader of Level Zero found no driver"},
    {"support querying the available free memory", "", "", Cause::library, 56, Cause::none,
     "the driver does not say how much memory is free: sysman is off (ZES_ENABLE_SYSMAN=1)"
     " or too old"},
    {"zesinit failed", "", "", Cause::library, 31, Cause::none,
     "sysman did not start, which tells how much memory is free: programs go on without it"},
    {"failed to initialize level zero runtime", "", "", Cause::library, 45, Cause::no_device,
     "unitrace cannot start Level Zero with its metrics: their libraries (libigdmd, libmd)"
     " are missing, or i915's perf_stream_paranoid or xe's observation_paranoid in "
     "/proc/sys/dev is not 0"},
    {"permission denied|operation not permitted|eacces", "/dev/dri", "", Cause::permission, 76},
    {"permission denied", "renderd", "", Cause::permission, 76},
    {"permission denied", "/dev/dxg", "", Cause::permission, 76},
    {"permission denied", "/dev/accel", "", Cause::permission, 76},
    {"permission denied", "kubelet", "", Cause::permission, 76, Cause::none,
     "the plugin that serves GPUs to Kubernetes may not reach the kubelet: SELinux, or the rights of its "
     "pod"},
    {"failed to open /dev/dri", "", "", Cause::permission, 47, Cause::no_device},
    {"hardware transcoding", "opening hw device failed", "", Cause::permission, 47, Cause::library,
     "the GPU could not be opened for video: most often this container or user has no right on "
     "/dev/dri/renderD128, else the driver of VA-API is missing or too old"},
    {"avc: ", "denied&dri_device_t|renderd|dri/|dxg", "", Cause::permission, 76, Cause::none,
     "SELinux does not let this program have the GPU's node (`ausearch -m avc` has the denials): a container "
     "needs the boolean container_use_dri_devices, or `--security-opt label=type:container_runtime_t`"},
    {"crw-rw----|crw-------", "root root&226,", "", Cause::permission, 49, Cause::no_device,
     "the GPU's node belongs to root alone in this container or machine: give it a group that the program "
     "has "
     "(`--group-add`, udev's rule for the group render)"},
    {"number of dpcpp devices should be greater than zero", "", "", Cause::no_device, 48, Cause::library},
    {"error at zekernelsetgroupsize", "", "", Cause::group_size, 60, Cause::misuse},
    {"no device of requested type available|no xpu devices|xpu device count is zero|"
     "failed to initialize xpu devices",
     "", "", Cause::no_device, 48, Cause::library},
    {"not registered in the openvino runtime", "gpu", "", Cause::no_device, 48, Cause::permission,
     "OpenVINO finds no GPU: its driver of OpenCL (intel-opencl-icd), the node or the "
     "rights are missing"},
    {"failed to build program", "cl_invalid_operation", "", Cause::build, 56, Cause::other_target},
    {"invalid_program_executable|invalid program executable", "", "", Cause::build, 56, Cause::other_target,
     "a program of OpenCL was not built for this device: the build before it failed, or was for another"},
    {"no supported devices found", "[gpu]", "", Cause::no_device, 48, Cause::library},
    {"no opencl platform|no opencl device|no platforms found|no gpu device|no gpu found|"
     "hiperrornodevice",
     "", "", Cause::no_device, 46, Cause::library},
    {"no opencl", "platform found", "", Cause::no_device, 46, Cause::library},
    {"no matching devices found", "", "", Cause::no_device, 44, Cause::library},
    {"initialise vaapi connection|initialize vaapi connection", "fail", "", Cause::library, 46,
     Cause::permission},
    {"heci", "error in|failed to init", "", Cause::kernel_driver, 70, Cause::library,
     "the driver of the management engine (HECI), which the GPU's firmware is reached by, does not answer"},
    {"drv_video.so", "init failed|unknown|has no function", "", Cause::library, 47, Cause::no_device,
     "the driver of VA-API (intel-media-va-driver) does not start on this GPU: it is too old for it, or "
     "lacks a library"},
    {"get chip id failed|gem_aperture failed", "[22]|invalid argument", "", Cause::no_device, 48,
     Cause::library,
     "the node that was opened is of no GPU that i915 drives: another vendor's, or a newer kernel driver's"},
    {"get chip id failed|gem_aperture failed", "[13]|permission denied", "", Cause::permission, 76},
    {"crw-rw----", "nobody nogroup|65534 65534&226,", "", Cause::permission, 49, Cause::no_device,
     "the GPU's node belongs to nobody in this container: the group that may open it is not mapped into it"},
    {"mfx session", "error|fail", "", Cause::library, 47, Cause::no_device, kNoMediaRuntime},
    {"device creation failed", "", "", Cause::no_device, 43, Cause::library},
    {"ggml_assert", "device_count", "", Cause::no_device, 46, Cause::library},
    {"failed to create plugin", "gpu", "", Cause::no_device, 46, Cause::library},
    {"context was not initialized for", "device", "", Cause::no_device, 48, Cause::library},
    {"torch.xpu.is_available() is false|xpu is not available", "", "checking|if xpu|whether",
     Cause::no_device, 47, Cause::library},
    {"re-initialize xpu in forked", "", "", Cause::misuse, 90, Cause::none,
     "a GPU cannot be used in a child of fork() whose parent used it: PyTorch's "
     "multiprocessing method `spawn`"},
    // In a log of a program that uses a GPU; without one it may be any file that was cut short.
    {"bus error", "", "pcie", Cause::small_bar, 43, Cause::host_memory,
     "a bus error: most often the host reached beyond the part of the GPU's memory that it"
     " sees (Resizable BAR is off), or /dev/shm is full"},
    {"sigbus", "", "", Cause::small_bar, 43, Cause::host_memory,
     "a bus error: most often the host reached beyond the part of the GPU's memory that it"
     " sees (Resizable BAR is off), or /dev/shm is full"},
    {"0 active drivers", "", "", Cause::no_device, 47, Cause::library,
     "Triton finds no GPU, or none that it has a back end for"},
    {"no xpu device|no sycl device", "", "", Cause::no_device, 47, Cause::library},
    {"no matching device", "sycl", "", Cause::no_device, 46, Cause::library},
    {"find preferred gpu platform", "", "", Cause::no_device, 48, Cause::library},
    {"did not find matching ze_device_type|no usable gpus found", "", "", Cause::no_device, 44,
     Cause::library},
    {"can not found any devices|no intel gpu", "", "", Cause::no_device, 46, Cause::library},
    {"/dev/dri", "no such file", "", Cause::no_device, 49, Cause::none,
     "there is no /dev/dri: the machine, container or virtual machine has no node of a GPU"},
    {"/dev/dri/renderd", "enoent", "", Cause::no_device, 44},
    {"/dev/dxg", "no such file", "", Cause::no_device, 49, Cause::none,
     "there is no /dev/dxg: Windows gives its Linux subsystem no GPU"},
    {"available devices for open vino: cpu|available devices for openvino: cpu", "", "gpu", Cause::no_device,
     43, Cause::library,
     "OpenVINO finds the CPU alone: the GPU's driver of OpenCL, the node or the rights are missing"},
    {"number of platforms ", " 0", "", Cause::no_device, 43, Cause::permission,
     "OpenCL finds no driver, or the driver no device"},

    // That a program failed, and not why.
    {"cannot open shared object", "", "mesa-loader|libgl", Cause::library, 29, Cause::none, kLibraryMissing},
    {"' not found (required by", "", "", Cause::library, 29, Cause::none, kOtherRelease},
    {"undefined symbol:", "", "", Cause::library, 29, Cause::none, kOtherRelease},
    {"compilationerror|triton compilation failed", "", "", Cause::build, 4},
    {"error: only ", "support", "", Cause::other_target, 3, Cause::misuse, kNotForThis},
    {"not support", "error:", "", Cause::other_target, 3, Cause::misuse, kNotForThis},
    {"not implemented", "error:", "", Cause::other_target, 3, Cause::misuse, kNotForThis},
    {"outofmemory|out of memory", "", "", Cause::memory_full, 3, Cause::host_memory},
    {"segmentation fault|sigsegv|(core dumped)|0xc0000005|0xc0000409|exit code -11|died from signal|killed "
     "by "
     "signal",
     "", "gcc|g++|cc1|rustc|clang|collect2|install|register", Cause::none, kDeathRank, Cause::none,
     kProgramDied},
    // Of a program that uses a GPU alone: "signal 62 dBm", "received signal SIGHUP, reloading".
    {"floating point exception|illegal instruction|access violation|signal 11|signal 6|code 139|code 134|"
     "died unexpectedly|stopped unexpectedly|terminated unexpectedly|worker died|"
     "fatal signal|terminated by signal|received signal|stop reason = signal",
     "", "sighup|dbm", Cause::none, 1, Cause::none, kProgramDied},
    {"sigkill|signal 9|code 137|exit code -9", "", "", Cause::host_memory, 12, Cause::misuse,
     "the process was killed, most likely for want of memory of the host"},
    {"runtimeerror:", "", "", Cause::none, 1, Cause::none, kProgramFailed},
    {"oserror:", "", "", Cause::none, 1, Cause::none, kProgramFailed},
    {"valueerror:", "", "", Cause::none, 1, Cause::none, kProgramFailed},
    {"assertionerror", "", "", Cause::none, 1, Cause::none, kProgramFailed},
    {"terminate called", "", "", Cause::none, 1, Cause::none, kProgramFailed},
    {"ggml_assert", "", "", Cause::none, 1, Cause::none, kProgramFailed},
    {"exception caught at", "", "", Cause::none, 1, Cause::none, kProgramFailed},
    {"panicked at", "", "", Cause::none, 1, Cause::none, kProgramFailed},
    {"fatal error", "", ": fatal error:", Cause::none, 1, Cause::none, kProgramFailed},
    {"fatal:", "", "", Cause::none, 1, Cause::none, kProgramFailed},
    {"error loading| error |errors ", "",
     "correction|handling|margin|rate|0 error|no error|info:| info |warn|debug|.cpp|.hpp|"
     "cmake",
     Cause::none, 1, Cause::none, kProgramFailed},
    {"error: ", "",
     ": error:|: fatal error:|.cpp:|.hpp:|.cc:|.c:|.h:|0 error|no error|error: 0|ld:|"
     "cmake|info:| info ",
     Cause::none, 1, Cause::none, kProgramFailed},
    {"level=error|[ error ]|*error*|[error]| error -|aborted|uncaught|unhandled|exception|"
     "crash|failed to|failure|exit status|exit code",
     "", ": error:|: fatal error:|0 fail|status 0|status: 0|code 0|no failure", Cause::none, 1, Cause::none,
     kProgramFailed},
};

}  // namespace

std::span<const Rule> program_rules() { return kProgramRules; }

std::span<const std::string_view> gpu_words() { return kGpuWords; }
std::span<const std::string_view> media_words() { return kMediaWords; }
std::span<const std::string_view> any_gpu_words() { return kAnyGpuWords; }

bool names_optional_library(std::string_view small) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"gpu_legacy1", "intel_vpu", "intel_npu", "adapter_hip",
                                              "adapter_cuda", "adapter_native_cpu", "adapter_offload"},
      [&](std::string_view other) { return small.find(other) != small.npos; });
}

bool names_gpu_library(std::string_view small) {
  for (const std::string_view part : {"ze_loader",
                                      "ze_intel_gpu",
                                      "ze_tracing_layer",
                                      "ze_validation_layer",
                                      "libigc",
                                      "igdfcl",
                                      "iga64",
                                      "igdgmm",
                                      "igdrcl",
                                      "igdmd",
                                      "ocloc",
                                      "libsycl",
                                      "sycl8.dll",
                                      "ur_loader",
                                      "ur_adapter_level_zero",
                                      "pi_opencl",
                                      "opencl-clang",
                                      "ur_adapter_opencl",
                                      "pi_level_zero",
                                      "libopencl.so",
                                      "opencl.dll",
                                      "mkl_sycl",
                                      "onemkl",
                                      "dnnl",
                                      "libccl",
                                      "torch_xpu",
                                      "c10_xpu",
                                      "libimf",
                                      "libsvml",
                                      "libintlc",
                                      "libirng",
                                      "libumf",
                                      "xptifw",
                                      "libpti",
                                      "openvino_intel_gpu"})
    if (small.find(part) != small.npos) return true;
  return false;
}

}  // namespace kiln::detail
