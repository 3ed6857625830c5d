// SPDX-License-Identifier: MIT
// Families of sentences: what is spoken of, and what went wrong with it, in whatever words a program has for
// both.
#include "diagnose/log_causes.hpp"

namespace kiln::detail {
namespace {

// What goes wrong. Words that also stand in lines about no failure are in no list by themselves.
#define KILN_FAILS                                                                  \
  "fail|error|cannot|can't|can not|could not|couldn't|unable|n't be able|not able " \
  "to|refused|fatal|exception"
#define KILN_TOO_MUCH                                                                                        \
  "exceed|too large|too big|too many|too much|too small|larger than|bigger than|greater than|more than|out " \
  "of "                                                                                                      \
  "|insufficient|not enough|exhausted|ran out|over the limit|has only|only has|only have|is over |above "    \
  "the|"                                                                                                     \
  "over the max|provides only|only provides|offers only|beyond the|than is available|than available|than "   \
  "there is|no space left"
#define KILN_UNSUPPORTED                                                                                   \
  "not support|n't support|unsupported|not implement|unimplemented|not available|no support|incompatible|" \
  "not compatible|only support|no available|not registered|does not have|doesn't have|no kernel|not yet "
#define KILN_MISSING                                                                                         \
  "not found|no such file|not find|n't find|unable to find|cannot open|could not open|can't open|unable to " \
  "open|"                                                                                                    \
  "failed to open|not load|cannot load|failed to load|unable to load|missing|not installed|not exist|n't "   \
  "exist|not_found|error loading|could not find|not be found|could not locate|unable to locate"
#define KILN_FRAME                                                                                          \
  "#0|#1|#2|#3|#4|#5|#6|#7|#8|#9|frame #| by 0x| at 0x|in ?? ()|() from |+0x|unknown line|exception code: " \
  "0xc|[0x|!0x|+ "                                                                                          \
  "0x|faulting module| in module | at file |segfault at|general protection"
#define KILN_DISPLAY \
  "atomic|pipe |crtc|hdmi|edid|link training|vblank|underrun|backlight|psr|connector|dmc|flip_done"
// What is said of a failure and is none, or is no program's.
#define KILN_NO_FAILURE                                                                                      \
  "warn| info: | info 0| info 1| info 2|level=info|debug|note:|[info]|performing test|looking for|-- "       \
  "check|deprecat|0 "                                                                                        \
  "errors|0 failed|no "                                                                                      \
  "error|skipp|ninja:|command was|will be disabled|using default|packed headers|amf encoder|nvenc|yes/no|] " \
  "info | - info "

// What names memory, and tells of none that is short.
#define KILN_NO_MEMORY                                                                  \
  KILN_NO_FAILURE                                                                       \
  "|query|memory info|memory size|memory access|buffer overflow|in-memory|free memory|" \
  "usm_memory|memorycopy|memoryfill|invalid|null pointer|unhealthy|no healthy|devices " \
  "unavailable|.bin|.spv|buffer_to|to_buffer|usm_pointer|pointer type|framebuffer|ring buffer"

// In each: the likeliest cause, and another that such sentences have too. What names a limit ranks higher
// than what names a thing alone. Ranks: kFamilyRank to kFallbackRank.
constexpr Rule kFamilies[] = {
    // Limits of a kernel.
    {"fp64|float64|double",
     KILN_UNSUPPORTED
     "|requires|without|missing|has no|cannot be used|can not be used|lacks|no fp64|no double",
     KILN_NO_FAILURE "|double free|double check", Cause::fp64, 29, Cause::other_target},
    {"sub-group|sub group|subgroup|sub_group|simd8|simd16|simd32|simd width|simd size|"
     "warp size|warp_size|threads_per_warp",
     KILN_UNSUPPORTED "|invalid|must be|illegal|requires|required|assert|not divisible|expects",
     KILN_NO_FAILURE, Cause::sub_group, 29, Cause::other_target},
    {"kernel arg|kernel param|argument size|arguments size|size of argument|parameter size|"
     "parameters size",
     KILN_TOO_MUCH "|limit", KILN_NO_FAILURE, Cause::argument_size, 29, Cause::misuse},
    {"local memory|shared memory|shared local|slm|local_accessor|local mem ", KILN_TOO_MUCH "|limit",
     KILN_NO_FAILURE "|shm", Cause::slm, 28, Cause::memory_full},
    {"work-group|work group|workgroup|group size|work size|worksize|nd-range|"
     "local size|global size|local range|global range|local work|global work|wg size|block size|thread block|"
     "work items|workitems",
     KILN_TOO_MUCH
     "|invalid|must be|divisible|multiple of|not support|unsupported|n't support|illegal|assert",
     KILN_NO_FAILURE, Cause::group_size, 28, Cause::slm},
    {"scratch space|scratch memory|scratch limit|scratch size|private memory|spill|register file",
     KILN_TOO_MUCH "|" KILN_FAILS "|limit", KILN_NO_FAILURE, Cause::scratch, 27, Cause::private_memory},
    {"spir-v|spirv|spv_khr|spv_intel|spv_ext",
     KILN_UNSUPPORTED "|invalid|unknown|disabled|fail|error:|malformed|unexpected|not allowed|version",
     KILN_NO_FAILURE "|vk|vulkan|shader| sources in |not find|not found|no such "
                     "file|.spv|recipe for target|spirv_input|assertion|stack dump|terminate",
     Cause::spirv, 26, Cause::library},

    {"capability|capabilities", "unsupported|not support|unknown|not declared|not allowed&module|spir|opcode",
     KILN_NO_FAILURE "|vk|vulkan|shader", Cause::spirv, 26, Cause::library},

    // Memory.
    {"not fit|n't fit|unable to fit|too large to fit|tried to allocate|trying to allocate|attempted to "
     "allocate|"
     "needs |requires |required ",
     " gib| gb| mib| mb|bytes|memory|vram&available|free|capacity|remaining|only|has &not fit|n't "
     "fit|unable|only|but "
     "|insufficient|cannot|fail|error|tried|trying|attempted",
     KILN_NO_FAILURE
     "|system memory|host memory|system ram| ram |cpu memory|slm|local memory|shared memory|scratch|stack",
     Cause::memory_full, 24, Cause::host_memory},
    {"page fault|pagefault|illegal access|illegal memory|illegal address|invalid address|"
     "address out of range|accessed an address|invalid global read|invalid global write|memory "
     "access|out-of-bounds|out of bounds|outofbounds|use-after-free|use after free|"
     "unmapped",
     "gpu|device|kernel|xpu|engine|i915| xe 0|global memory|ccs",
     KILN_NO_FAILURE "|sigsegv|signal |for length|list index|array index|python", Cause::page_fault, 27,
     Cause::misuse},
    {"max alloc|maximum alloc|max_alloc|max mem alloc|max_mem_alloc|maximum buffer|max buffer|"
     "maximum size|single alloc|single buffer|one allocation|allocation size|allocation limit|"
     "buffer size|alloc size|4gb|4 gb|4gib|4 gib",
     KILN_TOO_MUCH "|limit", KILN_NO_FAILURE "|group|kv cache", Cause::too_large, 26, Cause::memory_full},
    {"host memory|usm host|usm_host|host alloc|host buffer|hostalloc|allochost|malloc_host|"
     "sycl_host|pinned|system memory|system ram| ram |/dev/shm|shm_open|cgroup|page-locked|cpu memory|"
     "locked memory| swap|mlock|paging file|pagefile|commit limit",
     KILN_TOO_MUCH "|" KILN_FAILS, KILN_NO_FAILURE, Cause::host_memory, 25, Cause::memory_full},
    {"query|querying|memory info|memory_info|mem_get_info|free memory|memory size|"
     "memory properties|sysman|zes",
     KILN_FAILS "|" KILN_UNSUPPORTED, KILN_NO_FAILURE "|out of |initiali", Cause::library, 23,
     Cause::no_device,
     "the driver does not answer what it is asked of the device: it or its sysman part is "
     "too old, off (ZES_ENABLE_SYSMAN=1), or of another release"},
    {"alloc|vram|usm|buffer| oom ", KILN_FAILS, KILN_NO_MEMORY, Cause::memory_full, 22, Cause::host_memory},
    {"memory", KILN_FAILS, KILN_NO_MEMORY "|memory operation", Cause::memory_full, 18, Cause::host_memory},
    {"alloc|memory|vram|usm|buffer| oom ", KILN_TOO_MUCH, KILN_NO_MEMORY, Cause::memory_full, 22,
     Cause::host_memory},

    // The kernel's drivers.
    {kKernelLine, "bar 2|bar 0|bar2&no space|can't assign|failed to assign", "", Cause::small_bar, 27},
    {"bar 2|bar 0|bar2", "no space|can't assign|failed to assign", "", Cause::small_bar, 26,
     Cause::kernel_driver},
    {kKernelLine, "wedged|off the bus|non-operational|unreachable|returns 0xffffffff|all ones", KILN_DISPLAY,
     Cause::wedged, 25, Cause::kernel_driver},
    {kKernelLine, "vram|lmem&out of |-28|enospc|no space|evict|exhausted", KILN_DISPLAY "|bar",
     Cause::memory_full, 26, Cause::host_memory},
    {kKernelLine, "force_probe|not properly supported|unknown device|unsupported device", "",
     Cause::kernel_driver, 26, Cause::none},
    {kKernelLine,
     "firmware|guc|huc|gsc|mmio request&requires |fail|error|not "
     "found|missing|mismatch|unsupported|older|newer",
     KILN_DISPLAY, Cause::kernel_driver, 26, Cause::hang},
    {kKernelLine, "alloc|memory|(-12)|(-28)|enomem|enospc|evict|migrate&fail|error|out of |unable|cannot",
     KILN_DISPLAY, Cause::host_memory, 25, Cause::memory_full},
    {kKernelLine,
     "probe|initiali|init |load|bind|register&fail|error|cannot|could not|unable|timed out|"
     "not support",
     KILN_DISPLAY, Cause::kernel_driver, 24, Cause::wedged},
    {kKernelLine,
     "pcie|mmio|forcewake|d3cold|runtime pm|suspend|resume|aer|power&fail|error|timed out|"
     "timeout|lost|refused|unable|inaccessible|cannot",
     KILN_DISPLAY, Cause::wedged, 24, Cause::hang},
    {kKernelLine, "mailbox|pcode|power&fail|timed out|timeout|error", KILN_DISPLAY, Cause::wedged, 23,
     Cause::hang},
    {kKernelLine, "timedout|timed out|timeout| hang|hung|stuck|reset", KILN_DISPLAY "|reset done|bar",
     Cause::hang, 22, Cause::wedged},
    {kKernelLine, "*error*|error|failed|reset", KILN_DISPLAY "|reset done", Cause::hang, 14,
     Cause::kernel_driver, "the kernel's driver reports an error of the GPU"},

    {kKernelLine, "flip_done timed out|commit wait timed out", "", Cause::kernel_driver, 13, Cause::hang,
     "the kernel's driver waits in vain for a display, which is no failure of what computes"},
    {"modprobe|insmod|dkms|depmod|kernel module|insert module|module format|bad return status for module "
     "build",
     "fail|error|not found|bad exit|bad return|fatal|could not|unable&i915| xe|drm|dmabuf",
     "nvidia|nouveau|zfs|virtualbox", Cause::kernel_driver, 25, Cause::library,
     "the kernel's module for this GPU is missing, or does not build for this kernel"},
    {kKernelLine, "page fault|pagefault|fault addr|faulted|fault response|cat error", KILN_DISPLAY,
     Cause::page_fault, 27, Cause::hang},

    // What the GPU does not finish.
    {" hang | hang:| hang,|hung|hangs|device lost|device_lost|devicelost|lost device|"
     "device is lost|device removed|device_removed|0x887a000| tdr|video_tdr|livekernelevent|"
     "stopped responding|timed out|time out|timeouterror|timeout error|timeout expired|"
     "timeout reached|timeout waiting|timeout while|wait timeout|etimedout|not respond|"
     "n't respond|deadlock|stuck|gpu reset|engine reset|did not finish|not finish within|not complete "
     "within|did not "
     "complete",
     "gpu|device|kernel|engine|fence|queue|stream|event|sync|command|batch|xpu|sycl|level|"
     "display driver|tdr|livekernel",
     KILN_NO_FAILURE "|connection|connect |http|network|download|socket|server|curl", Cause::hang, 24,
     Cause::page_fault},

    // Rights, libraries, devices.
    {"group render|group video|render group|video group|group 'render'",
     KILN_MISSING "|unable to find|no matching|not in |not a member", KILN_NO_FAILURE, Cause::permission, 28,
     Cause::no_device},
    {"not in group|not in the group|not in the render|not in the video|not a member of|user not in",
     "group|render|video|dri&dri|render|gpu|video|xpu", KILN_NO_FAILURE, Cause::permission, 27,
     Cause::no_device},
    {"cannot open|can't open|could not open|unable to open|failed to open",
     "/dev/dri|renderd1|/dev/accel|/dev/dxg", KILN_NO_FAILURE "|no such", Cause::permission, 20,
     Cause::no_device},
    {"permission denied|eacces|eperm|not permitted|access denied|access is denied|"
     "permissionerror|insufficient permission|no permission|not allowed to",
     "dri|render|drm|gpu|dxg|accel|card0|card1|i915|level|opencl|device", KILN_NO_FAILURE "|docker.sock",
     Cause::permission, 28, Cause::no_device},
    {"pmu|perf event|perf_event|perfmon|observation_paranoid|perf_stream_paranoid",
     "fail|denied|permission|not permitted", "info:|watchdog|nmi", Cause::permission, 27, Cause::other_target,
     "the GPU's counters cannot be read: most likely they are for root, or for CAP_PERFMON"},
    {"resizable bar|resizable-bar|rebar|resize bar|re-size bar|re-bar|small bar|bar2|bar 2|large bar|above "
     "4g",
     KILN_FAILS "| not | off|disabled|small|no space", "info:|debug", Cause::small_bar, 26,
     Cause::kernel_driver},
    {"oneccl|xccl|ccl_|ccl:", "could not connect|cannot connect|timeout|timed out", KILN_NO_FAILURE,
     Cause::peer, 25, Cause::hang},
    {"oneccl|ccl_|ccl:", KILN_FAILS "|" KILN_UNSUPPORTED, KILN_NO_FAILURE "|pointer type", Cause::peer, 19,
     Cause::library},
    {"p2p|peer access|peer-to-peer|peer to peer|ipc handle|ipc_handle|"
     "ipchandle|ipc memory|open ipc|pidfd|drmfd|all_reduce|allreduce|allgather|collective|remote memory",
     KILN_FAILS "|" KILN_UNSUPPORTED, KILN_NO_FAILURE "|pointer type", Cause::peer, 24, Cause::library},
    {"oneapi_device_selector|sycl_device_filter|ze_affinity_mask|device selector|"
     "selector string|filter string|filter selector|unsupported backend|unknown backend|invalid backend",
     "error|invalid|unknown|unsupported|incorrect|malformed|not recogni|could not",
     KILN_NO_FAILURE "|export |set ", Cause::misuse, 24, Cause::no_device,
     "what chooses the device (ONEAPI_DEVICE_SELECTOR, ZE_AFFINITY_MASK, an option of the "
     "program) is not taken"},
    {"no device|no gpu|no xpu|no sycl|no level|no opencl|no intel|no usable|no available|"
     "no compatible|no suitable|no supported|no adapter|no platform|no such device|none found|"
     "not detected|found 0 | 0 device|0 gpu|device not found|gpu not found|device count|"
     "could not find any|not find a device|not be created|creationerror|no va display|no display found|no "
     "drm|"
     "no render|no graphics|cannot open drm|could not open drm|empty list of devices|list of devices is "
     "empty",
     "device|gpu|platform|adapter|xpu|backend|display|render&no | not|0|invalid|unable|fail|error",
     "firmware|info: |debug|note:", Cause::no_device, 23, Cause::library},
    {"find a gpu|find any gpu|find a device|find any device|find a level zero|find any level zero|find an "
     "xpu|find any "
     "xpu|find a suitable|find any suitable|find an opencl|find any opencl|find a sycl|find any sycl|find "
     "any platform|"
     "found no gpu|found no device|found no xpu|found no suitable|found no opencl|found no platform",
     "gpu|device|xpu|platform&not |no |unable|n't|failed",
     KILN_NO_FAILURE "|librar|header|file|package|symbol|kernel", Cause::no_device, 22, Cause::library},
    {"available devices|devices available|supported devices", "'cpu'|: cpu|[cpu|\"cpu\"", "gpu|xpu|npu",
     Cause::no_device, 18, Cause::library},
    {"no gpu|no device|no xpu|not found|not available|unavailable|not detected|no opencl|"
     "failed",
     "falling back to cpu|fallback to cpu|falling back to the cpu|using cpu|use cpu|"
     "using the cpu|run on cpu&gpu|device|xpu|sycl|opencl|level",
     "", Cause::no_device, 19, Cause::library},
    {"unknown argument|unrecognized|unknown option|unsupported option|invalid option|"
     "unexpected option",
     "error|fail|option|'-", KILN_NO_FAILURE, Cause::library, 27, Cause::build,
     "a compiler or tool does not know an option that it is given: they are of different "
     "releases"},
    {"may need to install|need to be installed|needs to be installed|please install|must be installed|is not "
     "installed|are not installed",
     "", KILN_NO_FAILURE "|using|fall|default|instead|optional", Cause::library, 20, Cause::no_device},
    {"metric",
     "no metrics found|metrics discovery|metrics library|metric group|igdmd|igdml|mdapi&no metrics|not "
     "found|is not|missing|unavailable|could not",
     "", Cause::library, 23, Cause::permission,
     "the GPU's metrics are not there: most likely their libraries (libigdmd, libigdml, libmd) are missing"},
    {"insufficient gpu.intel|gpu.intel.com", "insufficient|unavailable|not found|unhealthy|no healthy", "",
     Cause::no_device, 24, Cause::library,
     "there is no GPU to give to this container: the device plugin found none, or all are taken"},
    {"dependency problems|failed dependencies|conflicting dependencies|unmet dependenc|nothing provides|"
     "resolutionimpossible|packagesnotfounderror|unsatisfiableerror|solving environment: failed|is needed by|"
     "unresolvable|broken dependenc",
     "", KILN_NO_FAILURE, Cause::library, 25, Cause::misuse,
     "packages do not fit together: those of one release are needed"},
    {"could not find a version|no matching distribution|couldn't install|dependency resolver|"
     "requires a different|dependency conflict|no matching package|unable to locate package|"
     "unmet dependencies|has no installation candidate",
     "", KILN_NO_FAILURE, Cause::library, 24, Cause::other_target,
     "a package is not to be had for this Python, system or release"},
    {"extension|aspect|feature|capabilit|instruction set|data type|dtype",
     "missing|not present|not available|lacks|absent|without&this device|the device|this gpu|this "
     "platform|this "
     "hardware",
     KILN_NO_FAILURE "|fall|instead|optional|(n/a)", Cause::other_target, 24, Cause::library,
     kDoesNotSupport},
    {"unknown device id|unrecognized device|unrecognised device|unknown gpu|unknown product|unknown "
     "target|device "
     "name missing|unsupported device|unsupported gpu|unknown device name",
     "", KILN_NO_FAILURE "|exception", Cause::other_target, 24, Cause::no_device,
     "this GPU is not one that the program, compiler or driver knows: most likely it is newer or older than "
     "it"},
    {"device type at start of device string|invalid device string|unknown device type|invalid device type",
     "xpu", "", Cause::library, 26, Cause::other_target,
     "this PyTorch has no `xpu`: one that is built for Intel's GPUs is needed"},
    {"could not select device driver|error gathering device information|adding custom device", "", "",
     Cause::no_device, 24, Cause::library},
    {".so|.dll|.dylib|librar|module|.node",
     "wrong elf class|invalid elf|file too short|image not "
     "found|self-register|self register|wrong architecture",
     "", Cause::library, 24, Cause::other_target},
    {"not a valid win32 application|[winerror 193]", "", "", Cause::library, 24, Cause::other_target},
    {"no icd|icd loader|vkcreateinstance|opencl icd|vulkan icd",
     "fail|no icd|undefined|cannot|could not|not found", KILN_NO_FAILURE, Cause::library, 22,
     Cause::no_device},
    {"missing kernel for|suitable kernel", "kernel for|find", KILN_NO_FAILURE, Cause::other_target, 24,
     Cause::misuse, "the library has no kernel of this operation for this device"},
    {"does not support the 0x", "pci id", "", Cause::other_target, 13, Cause::library,
     "the driver does not know this GPU: it is older or newer than it"},
    {"not compiled with cuda", "", KILN_NO_FAILURE, Cause::other_target, 29, Cause::library,
     "the program asks PyTorch for CUDA, which Intel's GPUs do not have: it must choose `xpu`"},
    {"no module named|cannot import name|has no attribute|unexpected keyword argument",
     "xpu|sycl|ipex|intel|openvino|triton|dpctl|dpnp|vllm|oneccl|torch|sgl", KILN_NO_FAILURE, Cause::library,
     24, Cause::misuse, "modules of Python are missing, or of releases that do not belong together"},
    {"status 127|code 127|0xc0000135|0xc000007b|0xc0000139|0xc0000142", "", KILN_NO_FAILURE, Cause::library,
     24, Cause::misuse, "a program or a library that it needs was not found when it started"},
    {"unable to decode by qsv|unable to encode by qsv", "", KILN_NO_FAILURE, Cause::other_target, 26,
     Cause::library, kNotAsAsked},
    // Numbers of oneVPL and the Media SDK.
    {"mfx|qsv|vpl|quick sync", "(-3)|err_unsupported|(-24)&fail|error|err_", KILN_NO_FAILURE,
     Cause::other_target, 24, Cause::library, kNotAsAsked},
    {"mfx|qsv|vpl|quick sync",
     "(-15)|(-2)|(-14)|(-5)|err_not_enough_buffer|err_invalid_video_param|err_null_ptr|err_incompatible_"
     "video&fail|error|err_",
     KILN_NO_FAILURE, Cause::misuse, 24, Cause::other_target,
     "the encoder or decoder does not take what it was given"},
    {"qsv|vaapi|mfx|vpl", "invalid parameter|invalid value|out of range|must be",
     KILN_NO_FAILURE "|vainitialize|va_opendriver|error code 18", Cause::misuse, 21, Cause::other_target,
     "the encoder or decoder does not take what it was given"},
    {"display handle|vadisplay|va display", "fail|invalid|error|no va", KILN_NO_FAILURE, Cause::library, 21,
     Cause::no_device,
     "the driver of VA-API or oneVPL does not start: it is of another release, or finds no device"},
    {"mfx|qsv|vpl|quick sync", "(-4)|err_memory_alloc&fail|error|err_", KILN_NO_FAILURE, Cause::memory_full,
     24, Cause::host_memory},
    {"mfx|qsv|vpl|quick sync", "(-13)|(-21)|err_device_lost|err_gpu_hang&fail|error|err_", KILN_NO_FAILURE,
     Cause::hang, 24, Cause::library},
    // Whatever the driver of VA-API answers, where nothing says that the GPU hung.
    {"mfx|qsv|vpl|quick sync", "(-17)|err_device_failed&fail|error|err_", KILN_NO_FAILURE, Cause::library, 23,
     Cause::hang},
    {"no path between colorspaces", "", "", Cause::misuse, 24, Cause::other_target,
     "the filters of a video are joined that do not take each other's formats"},
    {"invalid pointer|invalid usm pointer|null pointer|invalid handle|null handle|bad handle", "",
     KILN_NO_FAILURE, Cause::misuse, 21, Cause::library},
    {"producer: 'llvm", "invalid record|unknown attribute|invalid|error", "", Cause::spirv, 26,
     Cause::library, "bitcode of another release of LLVM, which the compiler of this driver does not read"},
    {"capability operand|invalid opcode|invalid instruction operand", "", KILN_NO_FAILURE, Cause::spirv, 26,
     Cause::library},
    {"cannot find source file|no sources given to target|no rule to make target|cannot find input file", "",
     KILN_NO_FAILURE, Cause::library, 22, Cause::build,
     "what is built lacks a part, most likely one of another release"},
    {"cannot find", " sources in ", KILN_NO_FAILURE, Cause::library, 22, Cause::build,
     "what is built lacks a part, most likely one of another release"},
    {"vainitialize|va_opendriver|ihd_drv|vaapi|libva|qsv|mfx",
     "fail|error|returns -1|unknown|unsupported|cannot", KILN_NO_FAILURE, Cause::library, 20,
     Cause::no_device},
    {"unable to locate|cannot locate|could not locate|no such file|not found|n't find|missing",
     "directory|executable|runner|command|script|tool|path",
     KILN_NO_FAILURE "|model|.gguf|.safetensors|.json|.xml|modprobe", Cause::library, 13, Cause::misuse},
    {"libze|libsycl|libur_|libigc|libopencl|_jll", "not defined|undefvar|not available", KILN_NO_FAILURE,
     Cause::library, 22, Cause::no_device},
    {"fatal error:", "file not found|no such file", KILN_NO_FAILURE, Cause::library, 24, Cause::misuse,
     "a header is missing: what a program is built with for the GPU is not installed, or not found"},
    {"no member named|is not a member of|has no member|no type named|no template named",
     "sycl|ze_|oneapi|dnnl|mkl|dpct|esimd|xpu|cl_", KILN_NO_FAILURE, Cause::library, 23, Cause::build,
     "what a program is built with for the GPU is of another release than the program"},
    {"compiled without|built without|not compiled with|not built with|without support for|not linked with",
     "gpu|xpu|sycl|opencl|level|openvino|vaapi|qsv|support", KILN_NO_FAILURE "|cuda", Cause::library, 24,
     Cause::no_device, "a library or program was built without the GPU: another package of it is needed"},
    {"held broken packages|not going to be installed|not installable|which is also in package|conflicts with",
     "", "conflicts with:", Cause::library, 22, Cause::misuse,
     "packages do not fit together: those of one release are needed"},
    {"unsatisfiedlinkerror|noclassdeffounderror|classnotfoundexception|dllnotfoundexception|"
     "entrypointnotfound|"
     "badimageformat|symbol lookup error",
     "", KILN_NO_FAILURE "|handler", Cause::library, 25, Cause::none, kLibraryMissing},
    {"vk_error_incompatible_driver|vk_error_layer_not_present|vk_error_initialization_failed|"
     "errorincompatibledriver|errorinitializationfailed",
     "", KILN_NO_FAILURE, Cause::library, 22, Cause::no_device},
    {"vk_error_extension_not_present|vk_error_feature_not_present|vk_error_format_not_supported|"
     "errorfeaturenotpresent|errorextensionnotpresent|dxgi_error_unsupported",
     "", KILN_NO_FAILURE, Cause::other_target, 22, Cause::library},
    {"libgl error|mesa-loader|mesa: error", KILN_FAILS, KILN_NO_FAILURE, Cause::library, 20,
     Cause::no_device},
    {"no driver found that can be installed|driver being installed is not validated", "", KILN_NO_FAILURE,
     Cause::library, 24, Cause::kernel_driver},
    {"(code 43)|code 43)", "", "exit", Cause::kernel_driver, 22, Cause::library},
    {"unsupported value|invalid value", "supported values|expected one of|must be one of|valid values",
     KILN_NO_FAILURE, Cause::misuse, 25, Cause::other_target},
    {"illegal instruction|sys=132|exit status 132|code 132|0xc000001d|sigill", "", "handler",
     Cause::other_target, 20, Cause::library,
     "the program has instructions that this processor does not have"},
    {"reached timeout of|timed out tests|command reached timeout|exceeded the timeout", "",
     "http|download|default|--timeout", Cause::hang, 14, Cause::misuse},
    {"no such device|enodev", "drm|gpu|i915|render|device|dev/|xpu|vaapi", KILN_NO_FAILURE, Cause::no_device,
     16, Cause::kernel_driver},
    {"device or resource busy|ebusy", "drm|gpu|i915|render|device|card|vfio|xpu", KILN_NO_FAILURE,
     Cause::misuse, 16, Cause::kernel_driver, kDeviceHeld},
    {"input/output error|(eio)", "drm|gpu|i915|render|intel", KILN_NO_FAILURE, Cause::hang, 14,
     Cause::wedged},
    {"no cuda gpus|cuda is not available|cuda not available|found no nvidia driver|torch.cuda.is_available() "
     "is false",
     "", KILN_NO_FAILURE, Cause::other_target, 23, Cause::library,
     "the program asks for CUDA, which Intel's GPUs do not have: it must choose `xpu`"},
    {"needs to work with|requires|built with|compiled with|built against|built for|expects|expected",
     "version|release|torch|python|numpy|oneapi|triton|driver|runtime|firmware|libigc&but |is "
     "found|found:|got "
     "|instead|you are using|installed is|you have",
     KILN_NO_FAILURE "|scalar type|dtype|data type|tensor|shape|dimension|argument|suitable| memory|vram",
     Cause::library, 22, Cause::other_target},
    {"at least|minimum|required|is needed|needed is|needs ",
     "version|driver|runtime|firmware|level zero|oneapi|release&"
     "but |found, |you have|is below|below the|lower than|older than|installed is",
     KILN_NO_FAILURE "|suitable| memory|vram|tensor|dtype|argument", Cause::library, 22, Cause::other_target},
    {"undefined reference to|cannot find -l|library not found for -l|lnk1104|lnk1181|lnk2019|lnk2001",
     "`ze|`cl|sycl|mkl|dnnl|tbb|level_zero|ze_loader|opencl|openvino|oneapi|gpu",
     "error: undefined reference", Cause::library, 24, Cause::unresolved,
     "what a program is linked with for the GPU lacks a function: a library is missing, or of another "
     "release"},
    {"but the target was not found|instantiate abstract class", "", KILN_NO_FAILURE, Cause::library, 22,
     Cause::misuse, "parts of a program are missing, or of releases that do not belong together"},
    {"modulenotfounderror:", "", KILN_NO_FAILURE, Cause::library, 19, Cause::none, kLibraryMissing},
    {"importerror:", "", KILN_NO_FAILURE, Cause::library, 15, Cause::none, kLibraryMissing},
    {"notimplementederror", "", KILN_NO_FAILURE, Cause::other_target, 18, Cause::misuse, kDoesNotSupport},
    {"permissionerror:", "/dri|render|drm|accel|dxg", KILN_NO_FAILURE, Cause::permission, 20, Cause::misuse},
    {"filenotfounderror:", "", "model|.gguf|.json|.safetensors|.txt", Cause::library, 14, Cause::misuse},
    {"attributeerror:", "", "'nonetype'", Cause::library, 13, Cause::misuse,
     "modules of Python are missing, or of releases that do not belong together"},
    {"timeouterror", "", "http|connect|url", Cause::hang, 13, Cause::peer},
    {"spawn|execv|createprocess|cannot execute|exec format|llvm-foreach:",
     "no such file|enoent|not found|"
     "exec format|error",
     KILN_NO_FAILURE, Cause::library, 23, Cause::misuse,
     "a tool that is started on the way is missing, or does not run on this system"},
    {"dlopen|loadlibrary", "fail|error|cannot|unable|null", KILN_NO_FAILURE, Cause::library, 21,
     Cause::no_device},
    {".so|.dll|.dylib|librar|loader|adapter|plugin| runtime |runtime.|package|header|toolkit|ocloc|"
     "setvars|mkl|icpx|dpc++|driver|level zero|level-zero|opencl|oneapi",
     KILN_MISSING, KILN_NO_FAILURE "|kernel name|model|tokenizer", Cause::library, 21, Cause::no_device},
    {"/dev/dri|/dev/dxg|renderd1",
     "not a device|n't exist|not exist|no such|not found|missing|is empty|cannot access", "",
     Cause::no_device, 24, Cause::permission},
    {"device|gpu|platform|xpu|backend|accelerator",
     KILN_MISSING "|unavailable|not available|not visible|not recogni|not present|initializ|init |create|"
                  "get |out of range&" KILN_FAILS "|not |no |unavailable|out of range",
     KILN_NO_FAILURE "|file|symbol|kernel|memory|alloc|warm|feature|func=", Cause::no_device, 16,
     Cause::library},
    {"driver|runtime|compiler|igc|loader|level zero|level-zero|oneapi|librar|opencl|package|"
     "abi |symbol|version",
     "too old|older than|is older|incompatible|mismatch|wrong version|another version|interface "
     "version|unexpected "
     "version|wrong abi|not compatible|outdated|unsupported version|"
     "different version|expected version|created with a different|"
     "built with a different|compiled with a different|or newer|or later|version `|newer version|conflict|"
     "does not match|undefined symbol|entry point|is broken|currently broken|installation is probably broken",
     KILN_NO_FAILURE "|already satisfied", Cause::library, 22, Cause::other_target},

    // What is compiled, and what cannot be.
    {"igc|ocloc|opencl-clang|igdfcl|llvm|compiler|icpx|triton",
     "crash|internal error|internal compiler|assertion|stack dump|unreachable|segmentation|"
     "sigsegv|core dumped|abort|submit a bug|access violation",
     KILN_NO_FAILURE "|gcc|cc1plus|rustc", Cause::compiler_crash, 20, Cause::build},
    {"internal compiler error", "", "gcc|cc1plus|g++|rustc", Cause::compiler_crash, 26, Cause::build},
    {"assert", "_success' failed|_success failed|_success)' failed|_success);' failed", KILN_NO_FAILURE,
     Cause::library, 21, Cause::no_device, "a call failed, and the program ends without its code"},
    {"error in backend:|llvm error:|cannot select:|error: internal error", "", "gcc|rustc|out of memory",
     Cause::compiler_crash, 23, Cause::library},
    {"ocloc|igc|icpx|llvm-spirv|opencl-aot|compiler|clang|sycl-post-link",
     "died with signal|killed by signal|terminated by signal|exited with signal|died by signal|returned "
     "-11|code "
     "-11|code 139|status 139|returned 139|code 134|status 134|code -6",
     "gcc|rustc", Cause::compiler_crash, 23, Cause::library},
    {"internal error|assertion `|unreachable", "assert|llvm|mlir|visa|codegen|executed at",
     KILN_NO_FAILURE "|gcc", Cause::compiler_crash, 19, Cause::build},
    // The innermost frame counts, which stands first.
    {"frontend command failed|due to signal|please submit a bug|include the crash backtrace|"
     "crash backtrace, preprocessed source|stack dump:",
     "", "gcc|g++|rustc", Cause::compiler_crash, 22, Cause::build},
    {"libigc|igdfcl|opencl-clang|llvmspirvlib|spirv::|llvm::|igc::|visa|clang::|gbe::|zn4llvm|zn3igc|"
     "zn5spirv|"
     "igc64|igdfcl64|igc32|igdfcl32|common_clang",
     KILN_FRAME, "gcc", Cause::compiler_crash, 25, Cause::build},
    // The innermost frame is the call itself: it followed a handle or pointer that it was given.
    {"#0",
     " zekernel| zecommand| zedriver| zedevice| zemem| zemodule| zeevent| zecontext| zefence&ze_intel_gpu",
     "", Cause::misuse, 26, Cause::driver_abort,
     "the process died at the entrance of a call of Intel's driver: most likely on a handle or pointer that "
     "it was given"},
    {"libigdgmm|gmmlib", KILN_FRAME, "", Cause::library, 26, Cause::driver_abort,
     "the process died in libigdgmm: most likely it and the driver above it are of different releases"},
    {"neo::|zn3neo|zn2l0|l0::|oclrt::|libigdrcl|libze_intel_gpu|igdrcl|"
     "ze_intel_gpu64|igd9|igd10|igd11|igd12|igdumd|igvk64|igxelp",
     KILN_FRAME, "", Cause::driver_abort, 25, Cause::misuse, "the process died inside Intel's driver"},
    {"libze_loader|libopencl.so|opencl.dll|ze_loader.dll|libsycl|libur_|ur_win|libpi_|"
     "openclon12",
     KILN_FRAME, "", Cause::library, 25, Cause::misuse,
     "the process died in a loader or runtime: most likely libraries of different releases"},
    {"symbols not found|failed to lookup symbol|undefined function|cannot find symbol", "",
     KILN_NO_FAILURE "|.so|.dll", Cause::unresolved, 25, Cause::library},
    {"undefined function", "found in", "info: ", Cause::unresolved, 25, Cause::library},
    {"__devicelib|__spirv_|intel_sub_group|__builtin_ib", "undefined|unresolved|not found", KILN_NO_FAILURE,
     Cause::unresolved, 28, Cause::library},
    {"unresolved symbol|unresolved external|unresolved function|undefined device function|"
     "undefined function|undefined reference|undefined external",
     "", KILN_NO_FAILURE "|lnk|ld:|.obj|(.text|ld.lld|collect2", Cause::unresolved, 24, Cause::library},
    {"device target|target device|target platform|device family",
     "detect|determine|unknown|invalid|unrecogni|unsupported", KILN_NO_FAILURE, Cause::other_target, 24,
     Cause::library},
    {"wrong device|another device|different device|for this device|for device|target|binary|"
     "device image|native code|aot|gen9|gen11|gen12|stepping|architecture|arch ",
     "mismatch|incompatible|not compatible|invalid|unknown|unrecogni|no device image|"
     "no program|not built|not compiled|compiled for|built for|does not match|unsupported|"
     "not support",
     KILN_NO_FAILURE, Cause::other_target, 20, Cause::library},
    {"device|gpu|xpu|platform|hardware|kernel|operator|backend|dtype|data type|float|bf16|"
     "bfloat|fp16|half|fp8|int8|int4|quant|'aten| op |aspect|extension|feature|capab|"
     "attention|format|matmul|conv|joint_matrix|dpas|xmx|image|atomic|primitive|encod|decod|codec|profile|"
     "h264|hevc|av1|vp9|parameter|ratecontrol|layout|implementation|precision|algorithm|model|tensor",
     KILN_UNSUPPORTED
     "|blacklist|blocklist|denylist|no layout|no implementation|could not run|cannot run|not capable|"
     "doesn't provide|does not provide|not enabled|is disabled",
     KILN_NO_FAILURE "|not supported (export|dynamic function", Cause::other_target, 17, Cause::misuse,
     kDoesNotSupport},
    {"data type|instruction|intrinsic|builtin|built-in|function|register",
     "not supported by this target|not supported on this target|not supported by target|not supported for "
     "this target|not supported by this device|not supported on this platform|not supported by the hardware",
     KILN_NO_FAILURE, Cause::other_target, 24, Cause::fp64},
    // That the steps of a build failed; what failed in them stands above, and ranks higher.
    {"make: ***|make[1]: ***|make[2]: ***|make[3]: ***|build stopped: subcommand failed|error "
     "generated.|errors generated.|compilation terminated|"
     "subprocess-exited-with-error|command failed with exit code",
     "", "gcc:|0 error", Cause::build, 14, Cause::library, kDoesNotCompile},
    // clang's, of a source without a name, which the reader of compilers' errors does not take for one.
    {"error: redeclaration of|error: redefinition of|error: conflicting types for|error: use of undeclared|"
     "error: unknown type name|error: no matching function|error: call to '|"
     "error: assigning to '|error: initializing '|error: casting '|error: passing '|error: invalid operands|"
     "error: static assertion failed|error: implicit declaration|error: too many arguments to|"
     "error: too few arguments to|error: variable has|error: cannot convert|error: cannot initialize",
     "", KILN_NO_FAILURE "|gcc|rustc", Cause::build, 29, Cause::library, kDoesNotCompile},
    {"no matching function for call to|use of undeclared identifier|implicit declaration of function",
     "sub_group|work_group|get_global_|get_local_|get_group_|_opencl|barrier|vload|vstore|convert_|as_half",
     "", Cause::build, 26, Cause::none, kDoesNotCompile},
    {"build option|compile option|compiler option|cl-std",
     "not valid|invalid|unknown|not support|unsupported|unrecogni", KILN_NO_FAILURE, Cause::misuse, 20,
     Cause::build,
     "the compiler of the driver does not take an option that a program builds its kernels with"},
    {"compiling|compilation|compile|codegen|code generation|jit ",
     "fail|error|invalid|unable|could not|cannot", KILN_NO_FAILURE "|.o |.obj|memory", Cause::build, 16,
     Cause::compiler_crash},
    {"compil|build|codegen|jit |ocloc|program|module|igc|mlir|ptx|spirv|kernel",
     "fail| error:|errors occur|could not|unable to|undeclared|cannot",
     KILN_NO_FAILURE "|.o |.obj|memory|enqueue|ndrange|launch|submit|zecommand", Cause::build, 15,
     Cause::compiler_crash},
    {"mismatch|does not match|doesn't match|must match|must have the same|expected all|but got|but "
     "found|should have|"
     "should be the same|must be on the same",
     "shape|dtype|data type|scalar type|input type|weight type|dimension|tensor|layout|same "
     "device|argument|number "
     "of|size of",
     KILN_NO_FAILURE, Cause::misuse, 12, Cause::other_target},
    {"hiperrorinvalid|hiperrorprofiler", "", KILN_NO_FAILURE, Cause::misuse, 21, Cause::other_target},
    {"hiperrorinitializationerror|hiperrornotinitialized|hiperrorinvaliddevice", "", KILN_NO_FAILURE,
     Cause::no_device, 22, Cause::library},
    {"hiperrorlaunchfailure|hiperrorlaunchtimeout|hiperrorlaunchoutofresources", "", KILN_NO_FAILURE,
     Cause::hang, 21, Cause::page_fault},
    {"hiperrorshared|hiperrorfilenotfound", "", KILN_NO_FAILURE, Cause::library, 21, Cause::misuse},
    {"hiperrornotsupported", "", KILN_NO_FAILURE, Cause::other_target, 21, Cause::misuse},
    {"invalid|out of range|null|must be|expected|mismatch|bad |illegal|wrong|unknown",
     "argument|parameter|device|handle|context|queue|pointer|value|event|option|shape|index|"
     "dimension|size&error|fail|exception|assert|invalid",
     KILN_NO_FAILURE, Cause::misuse, 11, Cause::other_target},
    {"sycl:9|errc::memory_allocation|errc:memory_allocation", "", KILN_NO_FAILURE, Cause::memory_full, 22,
     Cause::too_large},
    {"sycl:12|sycl:13|errc::kernel_not_supported|errc::feature_not_supported", "", KILN_NO_FAILURE,
     Cause::other_target, 22, Cause::fp64},
    {"sycl:7|errc::build", "", KILN_NO_FAILURE, Cause::build, 19, Cause::compiler_crash},
    {"sycl:4|errc::nd_range", "", KILN_NO_FAILURE, Cause::group_size, 22, Cause::slm},
    {"vk_error_out_of_device_memory|erroroutofdevicememory|vk_error_out_of_host_memory|"
     "erroroutofhostmemory",
     "", KILN_NO_FAILURE, Cause::memory_full, 23, Cause::too_large},
    {" killed |: killed|was killed", "", "docker", Cause::host_memory, 12, Cause::misuse,
     "the process was killed, most likely for want of memory of the host"},
};
#undef KILN_NO_MEMORY
#undef KILN_NO_FAILURE
#undef KILN_DISPLAY
#undef KILN_FRAME
#undef KILN_MISSING
#undef KILN_UNSUPPORTED
#undef KILN_TOO_MUCH
#undef KILN_FAILS

}  // namespace

std::span<const Rule> rule_families() { return kFamilies; }

}  // namespace kiln::detail
