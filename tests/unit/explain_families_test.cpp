// SPDX-License-Identifier: MIT
// Logs in words that no rule was written for: families of sentences, backtraces, and what ordinary logs
// print.
#include <doctest/doctest.h>

#include "diagnose/log_code.hpp"
#include "unit/read_log.hpp"

using namespace kiln;
using namespace kiln::test;

TEST_CASE("families: what is spoken of, and what goes wrong with it, in whatever words") {
  const std::pair<const char*, const char*> lines[] = {
      {"K0501", "[XPU] the kernel requests 98304 bytes of shared local memory, which exceeds 65536"},
      {"K0502", "igc: the spill size is too large, private memory limit exceeded"},
      {"K0504", "ocloc: compilation of kernel.cl failed for dg2"},
      {"K0506", "GPU memory access fault at 0xdeadbeef000, level zero"},
      {"K0507", "Intel GPU: not enough VRAM to load the model"},
      {"K0508", "zeCommandListAppendMemoryCopy: invalid null pointer, error"},
      {"K0510", "error: undefined function 'intel_sub_group_block_read' in kernel"},
      {"K0511", "wait for a GPU event timed out after 60 s (level zero)"},
      {"K0512", "[sycl] a buffer of 5368709120 bytes exceeds the maximum allocation size 4294959104"},
      {"K0513", "level_zero: cannot pin 4096 MiB of system memory"},
      {"K0514", "sycl: no matching platform, GPU not detected"},
      {"K0515", "level_zero: insufficient permission to access the device"},
      {"K0516", "The Intel GPU driver is too old: 31.0.101.2121, at least 31.0.101.5333"},
      {"K0517", "Intel(R) Iris(R) Xe Graphics does not support double precision"},
      {"K0518", "A sub-group of 32 is not supported by Intel(R) Data Center GPU Max"},
      {"K0519", "sycl: kernel arguments of 4096 bytes exceed the maximum parameter size 2048"},
      {"K0520", "IGC assertion failed: false && \"unhandled\""},
      {"K0521", "OpenCL: the global size must be divisible by the local size"},
      {"K0522", "This model requires bf16, which is not supported on Intel UHD Graphics"},
      {"K0524", "|CCL_ERROR| exchange of ipc handles failed"},
      {"K0525", "zeModuleCreate: the SPIR-V module requires an unsupported capability 6145"},
      {"K0526", "i915 0000:03:00.0: PCIe link lost, device unavailable, error"},
      {"K0527", "xe 0000:03:00.0: [drm] *ERROR* failed to load firmware xe/bmg_guc_70.bin"},
      // Hyphens and underscores are spaces.
      {"K0521", "sycl: local_work_size (1024,1,1) exceeds the limit of 512, error"},
      {"K0513", "level_zero: out of pinned_memory"},
      // Tools, languages and modules beside the GPU.
      {"K0516", "icpx: fatal error: 'sycl/sycl.hpp' file not found"},
      {"K0516", "Intel Extension for PyTorch needs to work with PyTorch 2.3, but PyTorch 2.4.0 is found"},
      {"K0516", "/usr/bin/ld: main.o: undefined reference to `zeInit'"},
      {"K0520", "icpx: error: clang frontend command failed due to signal"},
      {"K0522", "[av1_qsv @ 0x55] some encoding parameters are not supported by the QSV runtime"},
      {"K0522", "NotImplementedError: Could not run 'aten::_fft_r2c' with the 'XPU' backend"},
      {"K0508", "chip_spv error: hipErrorInvalidValue (1) in memcpy"},
      {"K0508", "[GPU] Mismatched input shape: expected 224, openvino"},
      {"K0515", "[AVHWDeviceContext @ 0x5] No VA display found for device /dev/dri/renderD128."},
      {"K0522", "ocloc: could not detect the device target lnl"},
      {"K0516",
       "ld: libggml.a(ggml-sycl.o): undefined reference to symbol '_ZNK4sycl3_V16device8get_infoEv'"},
      {"K0516", "The installed version of bitsandbytes was compiled without GPU support."},
      {"K0516", "error: no member named 'ext_oneapi_graph' in namespace 'sycl'"},
      {"K0516", "llvm-foreach: No such file or directory, gen compiler"},
      {"K0510", "JIT session error: Symbols not found: [ _Z3sumdd ], sycl"},
      {"K0522", "llama-server: signal: illegal instruction (core dumped)"},
      {"K0508", "limits[gpu.intel.com/i915]: Unsupported value, supported values: cpu, memory"},
      {"K0511", "level_zero:gpu: error: command reached timeout"},
      {"K0522", "encqsvInit: MFXVideoENCODE_Init failed (-3)"},
      {"K0508", "[h264_qsv @ 0x5] Error initializing the encoder: invalid video parameters (-15)"},
      {"K0525", "; SPIR-V, error: 12: Invalid capability operand: 5583"},
      {"K0516", "-- IGC include dirs: Cannot find source file: SPIRVToOCL.cpp, Intel"},
      {"K0516", "CMake Error: Cannot find SPIRVDLL sources in /home/me/intel-graphics-compiler/llvm-spirv"},
      {"K0516", "libGL error: MESA-LOADER: failed to open i965: /usr/lib/dri/i965_dri.so: No such file"},
      {"K0522", "MESA: warning: Driver does not support the 0x569c PCI ID, Intel"},
      {"K0522", "[GPU] Couldn't find a suitable kernel for convert:Transpose_46453 params raw string: f16"},
      {"K0522", "DispatchStub: missing kernel for xpu"},
      // Packages, versions, amounts, and what else is said of devices and compilers.
      {"K0516", "dpkg: dependency problems prevent configuration of intel-level-zero-gpu"},
      {"K0516", "error: Failed dependencies: libigc.so.1 is needed by intel-opencl-24.1"},
      {"K0516", "Level Zero driver 1.3.27 is below the minimum 1.3.29"},
      {"K0516", "Intel compute runtime 23.17 found, but at least 24.39 is needed"},
      {"K0516", "sycl: libur_adapter_level_zero.so.0: wrong ELF class: ELFCLASS32"},
      {"K0516", "RuntimeError: Invalid device string: 'xpu:0'"},
      {"K0516", "npm: Module did not self-register: openvino.node"},
      {"K0516", "vkCreateInstance failed: no ICD found, Intel"},
      {"K0507", "Intel Arc: unable to fit model: needs 24.1 GiB, 16.0 GiB available"},
      {"K0513", "lms: weights require more system memory (5.5 GiB) than is available (2.0 GiB), Intel GPU"},
      {"K0513", "xpu: shm_open failed: No space left on device"},
      {"K0512", "opencl: buffer of 6442450944 bytes is over CL_DEVICE_MAX_MEM_ALLOC_SIZE"},
      {"K0501", "opencl: kernel foo uses 98304 bytes of local memory but the device has only 65536"},
      {"K0519", "sycl: total size of kernel parameters 4128 is over 2048"},
      {"K0522", "opencl: atomic64 extension is missing on this device"},
      {"K0522", "ocloc: Device name missing or unknown: xyz"},
      {"K0525", "opencl: unsupported capability GroupNonUniformArithmetic in module"},
      {"K0520", "ocloc: fatal error: error in backend: unsupported relocation"},
      {"K0520", "ocloc died with signal 11"},
      {"K0520", "0  common_clang64.dll + 0x1a2554d, Intel"},
      {"K0511", "sycl: kernel did not finish within 30 s, killing"},
      {"K0506", "sycl: kernel accessed an address out of range, GPU"},
      {"K0514", "docker: could not select device driver \"intel\" with capabilities: [[gpu]]."},
      {"K0523", "Intel Arc: Re-Size BAR is not enabled, performance will be limited: error"},
      {"K0504", "icpx: make: *** [Makefile:12: all] Error 1"},
      {"K0504", "sycl: src/a.cpp:12:5: error: variable 'cerr' used but not marked as declare target"},
      {"K0504", "sycl: a.cpp(12): error C2065: 'foo': undeclared identifier"},
      {"K0514", "k8s: 0/2 nodes are available: 2 no healthy devices for gpu.intel.com/i915"},
      {"K0514", "RuntimeError: Cannot find a Level Zero GPU"},
      {"K0515", "vainfo: cannot open /dev/dri/renderD128: user not in group"},
      {"K0516", "vaInitialize: iHD driver has wrong interface version, error"},
      {"K0516", "onnxruntime: OpenVINO EP: library libopenvino.so.2500 is of another version than 2510"},
      {"K0508", "[hevc_qsv] Invalid parameter: bitrate must be greater than 0, error"},
      {"K0517", "numba-dpex: float64 cannot be used: device Intel Arc has no fp64 aspect"},
      {"K0517", "RuntimeError: FP64 data type is unsupported on current platform."},
      {"K0501", "oneDNN: kernel needs 131072 bytes of SLM, device provides only 65536"},
      {"K0510", "IGC: undefined reference to `__devicelib_sin' in SPIR-V module, sycl link"},
      {"K0520", "Exception Code: 0xC0000005 in igc64.dll"},
      {"K0508", "clBuildProgram: build options not valid: -cl-std=CL3.1, Intel"},
      {"K0524", "xccl: rank 1 could not connect to rank 0: allgather timeout"},
      // Of the kernel.
      {"K0527", "modprobe: FATAL: Module i915 not found in directory /lib/modules/5.15.0"},
      {"K0526", "i915 0000:03:00.0: Unable to change power state from D3cold to D0, device inaccessible"},
      {"K0507", "xe 0000:03:00.0: [drm] *ERROR* Out of VRAM: vm_bind failed"},
      {"K0527", "xe 0000:03:00.0: [drm] GT0: GuC version 70.49.4 but PF requires >= 70.54.0"},
      {"K0527", "ERROR: could not insert module i915.ko: Invalid module format"},
      {"K0527", "[   12.345678] RIP: 0010:intel_gt_init+0x40/0x1c0 [i915]"},
      {"K0505", "python3[123]: segfault at 10 ip 00007f sp 00007f error 4 in libze_intel_gpu.so.1.6"},
  };
  for (const auto& [code, line] : lines) {
    CAPTURE(line);
    const auto finding = read_log(line);
    REQUIRE(finding);
    CHECK(finding->code == code);
    CHECK(row(*finding, "undecided"));  // a family guesses, and says so
    CHECK_FALSE(read_log(std::string("cuda: ") + line));
  }
  // They need a GPU that may be Intel's, and go behind sentences and codes.
  CHECK_FALSE(read_log("not enough memory to open the document, error\n"));
  // CUDA that is not there is told where an Intel GPU is named, and else another vendor's matter.
  CHECK(code_in("torch.xpu: Intel(R) Arc(TM)\nRuntimeError: No CUDA GPUs are available\n") == "K0522");
  CHECK_FALSE(read_log("RuntimeError: No CUDA GPUs are available\n"));
  // Who names Intel's beside others found none of them.
  CHECK(code_in("No OpenCL, Metal, HIP or CUDA installation found.\n") == "K0516");
  CHECK(code_in("error: unsupported sycl platform (expected intel got NVIDIA CUDA BACKEND)\n") == "K0522");
  CHECK_FALSE(read_log("OpenCL: no usable NVIDIA CUDA platform\n"));
  CHECK_FALSE(read_log("NVIDIA GeForce RTX 3090\nGPU: not enough VRAM to load the model\n"));
  CHECK(code_in("Intel GPU: not enough VRAM\nzeFenceHostSynchronize: ZE_RESULT_ERROR_DEVICE_LOST\n") ==
        "K0511");
  CHECK(code_in("sycl: kernel failed\nerror: Double type is not supported on this platform.\n") == "K0517");
  // But before what says no more than that a build or a call failed.
  CHECK(code_in("error: in kernel 'k': bf conversion instruction not supported!\n"
                "error: backend compiler failed build.\nIntel(R) Graphics\n") == "K0522");
}

TEST_CASE("a backtrace: the innermost frame of a compiler, a driver or a loader") {
  const std::string died = "Program received signal SIGSEGV, Segmentation fault.\n";
  const std::string compiler = "#0  0x7fffeb1a in ?? () from /usr/lib64/libopencl-clang.so.10\n";
  const std::string driver = "#1  0x7fffeb1b in NEO::Device::f () from /usr/lib/libigdrcl.so\n";
  CHECK(code_in(died + compiler + driver) == "K0520");
  CHECK(code_in(died + driver + compiler) == "K0505");
  CHECK(code_in(died + "#0  0x7fff in clGetPlatformIDs () from /opt/intel/opencl/libOpenCL.so.1\n") ==
        "K0516");
  CHECK(code_in("$ sycl-ls\nFloating point exception (core dumped)\n") ==
        "K0505");  // which only lists devices
}

TEST_CASE("firmware of video is a cause where video failed, or nothing else did") {
  const std::string firmware =
      "i915 0000:03:00.0: [drm] *ERROR* GT0: HuC firmware i915/dg2_huc_gsc.bin: fetch failed\n";
  const std::string bar = "i915 0000:03:00.0: [drm] Using a reduced BAR size of 256MiB.\n";
  CHECK(code_in(firmware) == "K0527");
  CHECK(code_in(bar + firmware) == "K0527");  // a small BAR is no failure either
  CHECK(code_in(firmware + "vaInitialize failed with error code -1 (unknown libva error)\n") == "K0527");
  for (const auto& [code, line] :
       {std::pair{"K0511", "zeFenceHostSynchronize: ZE_RESULT_ERROR_DEVICE_LOST\n"},
        {"K0507", "sycl: not enough VRAM to load the model\n"},
        {"K0511", "xe 0000:03:00.0: [drm] GT0: Timedout job: seqno=1\n"},
        {"K0514", "RuntimeError: No XPU devices are available.\n"},
        {"K0514", "ls h264.mp4 ffmpeg\nRuntimeError: No XPU devices are available.\n"},
        {"K0508", "sycl\nSegmentation fault (core dumped)\n"}}) {
    CAPTURE(line);
    CHECK(code_in(firmware + line) == code);
    CHECK(code_in(line + firmware) == code);
  }
}

TEST_CASE("who died tells whose fault it may be") {
  const std::string entrance = "#0  0x00007fff in zeKernelSetArgumentValue () from libze_intel_gpu.so.1\n";
  CHECK(code_in(entrance + "#1  0x00007fff in piKernelSetArg () from libpi_level_zero.so\n") == "K0508");
  CHECK(
      code_in("#0  0x00007fff in NEO::Kernel::f () from libze_intel_gpu.so.1\n#1  in zeKernelCreate ()\n") ==
      "K0505");
  CHECK(code_in("$ ocloc compile -file a.cl -device dg2\nSegmentation fault\n") == "K0520");
  CHECK(code_in("libva: /usr/lib/dri/iHD_drv_video.so init failed\nDevice creation failed: -5.\n") ==
        "K0516");
  // A device that is none of the context's is there.
  CHECK(code_in("Native API returns: -33 (CL_INVALID_DEVICE)\n") == "K0508");
  // Words in others: "loomsl" has "oom".
  CHECK(code_in("ERROR: clBuildProgram(0x1,-cl-std=CL2.0) failed(-11) for com.loomsl.map\n") == "K0504");
}

TEST_CASE("a death is the compiler's only right below its command") {
  const std::string died = "Segmentation fault (core dumped)\n";
  CHECK(code_in("$ icpx -fsycl main.cpp -o app\n" + died) == "K0520");
  CHECK(code_in("$ icpx -fsycl main.cpp -o app\n$ ./app\nRunning on Intel(R) Arc(TM) A770\n" + died) ==
        "K0508");
  CHECK(code_in("$ icpx -fsycl main.cpp -o app\n$ ./app\n" + died) == "K0508");
  CHECK(code_in("ocloc version: 24.35 found\n" + died) == "K0508");
  CHECK(code_in("ocloc -file a.spv -spirv_input -device bdw\nAssertion 'get() != pointer()' failed.\n") ==
        "K0520");
}

TEST_CASE("an exception or a missing file beside the failure does not hide it") {
  const std::string hung = "RuntimeError: xpu: device lost, the GPU hung\n";
  CHECK(code_in("ModuleNotFoundError: No module named 'xformers'\nProceeding without it\n" + hung) ==
        "K0511");
  CHECK(code_in("libGL error: MESA-LOADER: failed to open zink: zink_dri.so: cannot open shared object "
                "file\nsycl: not enough VRAM to load the model\n") == "K0507");
  CHECK(code_in("cannot find doxygen sources in PATH\n" + hung) == "K0511");
  CHECK(code_in("torch.xpu\nPermissionError: [Errno 13] Permission denied: '/data/out.csv'\n") != "K0515");
  CHECK(code_in("h264_qsv: error (-13)\n") == "K0511");
  CHECK(code_in("h264_qsv: error (-20)\n") != "K0511");
  CHECK(code_in("CL error: clCreateBuffer failed: INVALID_BUFFER_SIZE\n") == "K0512");
}

TEST_CASE("Windows names the library that a process died in") {
  CHECK(code_in("Faulting module name: igd12um64xeh.dll, version: 32.0.101.5768\n") == "K0505");
  CHECK(
      code_in("app.exe caused an Access Violation at location 0 in module igdrcl64.dll Reading from 8.\n") ==
      "K0505");
  CHECK(code_in("Faulting module name: igc64.dll, version: 32.0.101.5768\n") == "K0520");
  CHECK_FALSE(read_log("Faulting module name: nvoglv64.dll, version: 32.0.15.6094\n"));
}

TEST_CASE("what programs that use a GPU print when all is well, and what others' drivers print") {
  for (const char* line : {
           "llama_kv_cache_init:      SYCL1 KV buffer size =  1024,00 MiB",
           "ggml_sycl_init: GGML_SYCL_FORCE_MMQ:   no",
           "[opencl_synchronization_timeout] synchronization timeout set to 200",
           "export ONEAPI_DEVICE_SELECTOR=level_zero:0",
           "ONEAPI_DEVICE_SELECTOR=level_zero:gpu ./a.out",
           "-- Performing Test COMPILER_SUPPORTS_NEON - Failed",
           "-- Looking for CL_VERSION_3_0 - not found",
           "INFO 03-22 22:03:08 [core.py:1108] Initializing with device=xpu, max_seq_len=2048, error "
           "handling=default",
           "WARNING 03-22 [xpu.py:50] XPU does not support custom all reduce, using default",
           "onednn_verbose,v1,primitive,create:dispatch,gemm,gpu,skipping or dispatching to another "
           "implementation",
           "[    2.970399] i915 0000:03:00.0: [drm] GT0: GuC firmware i915/dg2_guc_70.bin version 70.13.1",
           "[    3.014876] i915 0000:03:00.0: [drm] Reducing the compressed framebuffer size. Try to "
           "increase stolen "
           "memory size if available in BIOS.",
           "[    3.200000] usb 1-4: device descriptor read/64, error -71",
           "[Tue Nov 24 12:00:00 2026] ACPI: failed to initialize device PNP0C0A",
           "Nov 24 12:00:00 host kernel: nvme nvme0: failed to set APST feature (2)",
           "[  945.548337] i915 0000:00:02.0: [drm] *ERROR* Atomic update failure on pipe A (start=184 "
           "end=185)",
           "Requirement already satisfied: torch==2.6.0+xpu in ./venv/lib",
           "[17/200] Building CXX object ggml-sycl.dir/error_handling.cpp.o",
           "  Error correction support                        No",
           "i915 0000:00:02.0: [drm] GT0: HuC: authenticated for all workloads",
           "[h264_qsv @ 0x55] Using the VBR with lookahead (LA) ratecontrol method",
           "libva info: va_openDriver() returns 0",
           "INFO 03-22 22:03:08 [platform.py:3] checking if xpu is not available",
           "warning: double check the value of ZE_AFFINITY_MASK, not supported on CPU",
           "UR_DEVICE_INFO_MAX_WORK_GROUP_SIZE 1024",
           "  Double-precision Floating-point support         (n/a)",
           "use xe.force_probe='4680' and i915.force_probe='!4680'",
           "CHIP warn: stop was called but not all events have been cleared",
           "[h264_vaapi @ 0x55] Driver does not support some wanted packed headers (wanted 0xd, found 0x1).",
           "srv load_model: cache_reuse is not supported by this context, it will be disabled",
           "init: model does not have a chat template, using default",
           "[texture-amf] AMF encoder not available on this adapter",
           "[   10.123456] wl: module verification failed: signature and/or required key missing - tainting "
           "kernel",
           "Possible results: VK_ERROR_FEATURE_NOT_PRESENT, VK_ERROR_EXTENSION_NOT_PRESENT",
           "1/1 Test #1: sigill_trap .....   Passed    0.01 sec",
           "Test #3: test_device_lost_recovery ... Passed",
           "PCI code 43 baud",
           "NVENC not built with support for vaapi? yes/no",
           "UnsatisfiedLinkErrorTest > isReported PASSED",
           "  --timeout N  fail when the command reached timeout (default 600)",
           "h264_qsv encoder starting at QP (-2) offset",
           "h264_qsv: Using QP offsets (-4)",
           "[100%] Linking CXX executable bin/test-alloc-fail",
           "  except RuntimeError: pass  # device lost",
           "} catch (const sycl::exception& e) {",
           "Collecting exceptiongroup>=1.0",
           "c++ -Werror -fno-exceptions -c a.cc",
           "Exit status: 0",
           "2026-01-01 [main] INFO loader - ClassNotFoundException handler registered",
           "Conflicts with: intel-opencl-icd-legacy1",
           "CL error table: INVALID_BUFFER_SIZE Error => -61",
           "i915 0000:03:00.0: [drm] GT0: GuC error state capture buffer maybe small: 2097152 < 2129000",
           "MESA: warning: Support for this platform is experimental with Xe KMD, bug reports may be "
           "ignored.",
           "-- Found Python: /usr/bin/python3 (found suitable version \"3.11\", minimum required is \"3.8\")",
           "checking that at least one driver is found: yes",
           "level=INFO msg=\"offload\" memory.required=\"3.3 GiB\" memory.available=\"[15.2 GiB]\"",
           "model requires 4.2 GiB, 16.0 GiB available",
           "projected to use 20798 MiB of device memory vs. 31827 MiB of free device memory",
           "feature cl_khr_fp64 is not present on this device, falling back to float",
           "tqdm: no progress bar for device xpu",
           "0 errors generated.",
           "12:00:01: ERROR: 0 failed",
           "context is over 4096 tokens",
           "  * Fix GPU hang on resume (level zero)",
           "- Revert \"sycl: device lost is reported\"",
           "FAILED: bin/copy_buffer_to_image.spv\nFAILED: bin/alloc_test.bin",
           "opened /dev/dri/renderD128",
           "found no errors on device",
           "modprobe: FATAL: Module zfs not found in directory /lib/modules/6.1.0",
           "modprobe: ERROR: could not insert 'vboxdrv': Exec format error",
           "insmod: ERROR: could not load module foo.ko: No such file or directory",
           "The tool exits with error code 5 when the file is missing.",
           "If the build failed, clBuildProgram returns error code -11.",
           "zeModuleCreate returns ZE_RESULT_ERROR_MODULE_BUILD_FAILURE if the module does not compile.",
           "  clGetPlatformInfo(NULL, CL_PLATFORM_NAME, ...)        No platform",
           "  clCreateContextFromType(NULL, CL_DEVICE_TYPE_GPU)     No devices found in platform",
           "$ git log --oneline\na1b2c3d xe: fix GPU hang on resume\nb1b2c3d sycl: device lost is reported",
           "commit 1234567890123456789012345678901234567890\nMerge: 1234567 89abcde\nAuthor: A <a@b>\n"
           "Date:   Tue Nov 3 2026\n\n    drm/xe: fix page fault when the engine resets\n\n"
           "    Abort was called at 1 line in file: x\n",
       }) {
    CAPTURE(line);
    const auto finding = read_log(std::string("Intel(R) Arc(TM), sycl\n") + line);
    CHECK_MESSAGE(!finding, (finding ? to_text(*finding) : ""));
  }
}

TEST_CASE("what stands beside lines of no failure is still told") {
  const std::string commit = "commit 1234567890123456789012345678901234567890\n";
  const std::string lost = "    RuntimeError: level_zero: UR_RESULT_ERROR_DEVICE_LOST\n";
  CHECK(code_in(commit + lost) == "K0511");  // of a report, that names the commit it was built from
  CHECK(code_in(commit + "Author: A <a@b>\n\n    xe: fix\n\nxe 0000:03:00.0: [drm] GT0: Timedout job: "
                         "seqno=1\n") == "K0511");
  CHECK(code_in("$ git log --oneline\na1b2c3d xe: fix GPU hang\n$ ./app\n" + lost) == "K0511");
  CHECK(code_in("Number of platforms 0\n  clGetPlatformInfo(NULL, …)  No platform\n$ clinfo\n") == "K0514");
  CHECK(code_in("modprobe: ERROR: could not insert 'i915': Unknown symbol in module\n") == "K0527");
  CHECK(code_in("OpenCL: when I run it clBuildProgram returns error code -11 if the GPU is chosen\n") ==
        "K0504");
}

TEST_CASE("codes without a prefix, and SYCL's") {
  CHECK(detail::find_code("zeMemAllocDevice: OUT_OF_DEVICE_MEMORY") ==
        "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
  CHECK(detail::find_code("the queue is gone: DEVICE_LOST") == "UR_RESULT_ERROR_DEVICE_LOST");
  CHECK_FALSE(detail::find_code("VK_ERROR_DEVICE_LOST"));
  CHECK_FALSE(detail::find_code("IS_DEVICE_LOST_HANDLER"));
  CHECK(code_in("caught sycl::errc::memory_allocation\n") == "K0507");
  CHECK(code_in("exception code: sycl:13\n") == "K0522");
}

TEST_CASE("a device that is lost in an allocation may not be in the context") {
  const auto traced = read_log(
      ">>>> [12] zeMemAllocDevice: hContext = 0x1 size = 64\n"
      "<<<< [14] zeMemAllocDevice [2 ns] -> ZE_RESULT_ERROR_DEVICE_LOST (0x70000001)\n");
  REQUIRE(traced);
  CHECK(traced->code == "K0508");
  CHECK(traced->message.find("not in the context") != traced->message.npos);
  CHECK(row(*traced, "undecided"));
  CHECK(code_in("urUSMDeviceAlloc failed: UR_RESULT_ERROR_DEVICE_LOST\n") == "K0507");
}

TEST_CASE("a device that a wait does not find any more is one that is lost") {
  const std::string lost = "Native API returns: -1 (PI_ERROR_DEVICE_NOT_FOUND)\n";
  CHECK(code_in("torch.xpu.synchronize()\n" + lost) == "K0511");
  CHECK(code_in("sycl::queue q\n" + lost) == "K0514");
}

TEST_CASE("what programs say of builds, hangs and devices in words of their own") {
  // A program that was not built is no unresolved symbol, which Level Zero's code of the same name is.
  CHECK(code_in("what(): ViennaCL: FATAL ERROR: CL_INVALID_PROGRAM_EXECUTABLE.\n") == "K0504");
  CHECK(code_in("zeKernelCreate failed: ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED\n") == "K0510");
  CHECK(code_in("Failed to build program kernel_1: CL_INVALID_OPERATION\n") == "K0504");
  CHECK(code_in("drm_intel_gem_bo_context_exec() failed: Input/output error\n") == "K0511");
  CHECK(code_in("clGetPlatformIDs(-1001)\n") == "K0514");
  CHECK(code_in("Available devices for Open VINO: CPU\n") == "K0514");
  CHECK(code_in("Available devices for Open VINO: CPU GPU\n").empty());
  CHECK(code_in("Failed to serve gpu.intel.com/i915: dial unix kubelet.sock: connect: permission denied\n") ==
        "K0515");
}

TEST_CASE("what only looks like a failure is none") {
  for (const char* log :
       {"sshd[812]: Received signal 15; terminating.\n", "worker received signal: SIGHUP, reloading\n",
        "wifi: signal 62 dBm\n", "exit code 1340\n", "installed SIGSEGV handler\n",
        "handling signal 11 and others, no access violation seen\n",
        "Segmentation fault (core dumped) gcc -c foo.c\n",
        "clang: error: unable to execute command: Segmentation fault (core dumped)\n",
        "collect2: fatal error: ld terminated with signal 11 [Segmentation fault], core dumped\n",
        "PlatformException(-1001, The request timed out., null)\n",
        "NSURLErrorDomain Code=-1001 platform=macOS\n", "nouveau 0000:01:00.0: gpu recovery failed\n",
        "evaluate: metric rouge not found in cache\n",
        "metric `val_loss` which is not available, available metrics are: loss\n"}) {
    CAPTURE(log);
    CHECK_FALSE(read_log(log));
  }
  for (const char* line :
       {"metric `val_loss` which is not available\n", "flash_attn is not installed, using eager attention\n",
        "xformers is not installed, falling back to sdpa\n",
        "template 'render' not found, using default\n"}) {
    CAPTURE(line);
    CHECK_FALSE(read_log(std::string("torch.xpu: Intel(R) Arc(TM) A770 Graphics\n") + line));
  }
}

TEST_CASE("names of exceptions are read as the words that they are made of") {
  for (const auto& [code, name] : {std::pair{"K0514", "program.DeviceNotFoundError"},
                                   {"K0518", "program.SubGroupSizeNotSupportedError"},
                                   {"K0516", "LibraryNotLoadedException"}}) {
    CAPTURE(name);
    CHECK(code_in(std::string("sycl: ") + name + "\n") == code);
  }
  // Of two words the last is that something failed.
  CHECK(code_in("sycl: RuntimeError\n").empty());
}

TEST_CASE("a process that died is told in any log, and blamed on nothing") {
  for (const char* log :
       {"Segmentation fault (core dumped)\nValueError: bad\n", "rank 1 died from signal 7\n",
        "#1 0x1 in handler() at libapp.so\n#2 0x2 in <signal handler called>, SIGSEGV\n"}) {
    CAPTURE(log);
    const auto finding = read_log(log);
    REQUIRE(finding);
    CHECK(finding->code == "K0508");
    CHECK(row(*finding, "undecided"));
  }
  CHECK_FALSE(read_log("NVIDIA GeForce RTX 3090\nSegmentation fault (core dumped)\n"));
  CHECK(code_in("Intel(R) Gen9\n* thread #1, name = 'ze_peak', stop reason = signal SIGABRT\n") == "K0508");
  CHECK_FALSE(read_log("libGL error: MESA-LOADER: failed to open nouveau: No such file or directory\n"));
  CHECK_FALSE(
      read_log("gcc: internal compiler error: Segmentation fault signal terminated program cc1plus\n"));
}

TEST_CASE(
    "a program that only lists devices: a signal is the driver's, an answer is a library that is missing") {
  CHECK(code_in("$ sycl-ls\nSegmentation fault (core dumped)\n") == "K0505");
  CHECK(code_in("$ sycl-ls\nNative API failed. Native API returns: 4 (UR_RESULT_ERROR_INVALID_VALUE)\n") ==
        "K0516");
  CHECK(code_in("$ clinfo\nterminate called after throwing an instance of 'cl::Error'\n") == "K0516");
  CHECK(code_in("number of platforms : error -1001\n") == "K0514");
  CHECK(code_in("loss -1001 of the model\n").empty());
}

TEST_CASE("lspci shows a card of whose memory the host sees 256 MiB") {
  const std::string card = "03:00.0 VGA compatible controller: Intel Corporation DG2 [Arc A770] (rev 08)\n";
  const std::string small = "\tRegion 2: Memory at 8010000000 (64-bit, prefetchable) [size=256M]\n";
  const auto finding = read_log(card + small);
  REQUIRE(finding);
  CHECK(finding->code == "K0523");
  CHECK(finding->severity == Severity::warning);  // it stands beside whatever failed
  CHECK(code_in(card + small + "zeFenceHostSynchronize: ZE_RESULT_ERROR_DEVICE_LOST\n") == "K0511");
  CHECK_FALSE(read_log(card + "\tRegion 2: Memory at 8010000000 (64-bit, prefetchable) [size=16G]\n"));
  // That of an integrated GPU is a window into the host's memory, and always small.
  CHECK_FALSE(read_log("00:02.0 VGA compatible controller: Intel Corporation Meteor Lake-P [Arc Graphics]\n" +
                       small));
  CHECK_FALSE(
      read_log(card + "00:02.0 VGA compatible controller: Intel Corporation UHD Graphics 770\n" + small));
  for (const char* next : {"04:00.0 Processing accelerators: Xilinx Corporation Device 5000\n",
                           "0000:04:00.0 VGA compatible controller: Advanced Micro Devices [AMD/ATI] Navi\n"})
    CHECK_FALSE(read_log(card + next + small));
  CHECK(code_in("0000:" + card + small) == "K0523");
}

TEST_CASE("assertions of results, counters, groups, and what a reader of SPIR-V expects") {
  const auto asserted =
      read_log("sysmon: main.cc:9: int main(): Assertion `status == ZE_RESULT_SUCCESS' failed.\n");
  REQUIRE(asserted);
  CHECK(asserted->code == "K0516");
  CHECK(row(*asserted, "undecided"));
  CHECK(code_in("Intel GPU: Failed to initialize PMU! (Operation not permitted)\n") == "K0515");
  CHECK(code_in("docker xpu: Unable to find group render: no matching entries in group file\n") == "K0515");
  CHECK(code_in("[WARNING] unitrace: No metrics found (status = 0x0)\n") == "K0516");
  CHECK(code_in("0/1 nodes are available: 1 Insufficient gpu.intel.com/xe.\n") == "K0514");
  CHECK(
      code_in(
          "RequiresVersion: Cannot fulfill SPIR-V version restriction [Src: libSPIRV/SPIRVModule.cpp:9 f ]\n"
          "internal compiler error\n") == "K0525");
  CHECK(code_in("genx: 'i64' data type is not supported by this target <ADLS>\n") == "K0522");
  CHECK(code_in("xe 0000:03:00.0: GPU recovery timed out, cancelling all in-flight rendering\n") == "K0526");
}

TEST_CASE("words of video, and of what does without them") {
  CHECK(
      code_in(
          "[h264 @ 0x55e8] Hardware does not support image size 7680x4320 (constraints: width 32-4096).\n") ==
      "K0522");
  CHECK(code_in("[ERROR], sts=MFX_ERR_UNSUPPORTED(-3), Init, m_mfxSession.Init failed at p.cpp:293\n") ==
        "K0516");
  CHECK(code_in("libva info: va_openDriver() returns -1\n") == "K0516");
  CHECK(code_in("libva info: va_openDriver() returns 0\n").empty());
  CHECK(code_in("WARNING: configured /dev/dri/renderD129 (driver: nvidia) is not an Intel GPU\n") == "K0508");
  CHECK(code_in("drmn0: Failed to idle engines, declaring wedged!\n") == "K0526");
  // A warning of OpenCL C: the constant becomes a float.
  CHECK(
      code_in(
          "opencl: <source>:2:9: warning: double precision constant requires cl_khr_fp64, casting to single "
          "precision\n")
          .empty());
  CHECK(code_in("sycl: Cannot select: 0x7f: i32 = bswap 0x7e\n") == "K0520");
}

TEST_CASE("numbers of Vulkan and of CLBlast, names of devices, and SLM in other words") {
  CHECK(code_in("vkAllocateMemory failed -2\n") == "K0507");
  CHECK(code_in("vkQueueSubmit failed -4\n") == "K0511");
  CHECK(code_in("read failed -2\n").empty());
  CHECK(code_in("CLBlast: -2044\n") == "K0517");
  CHECK(code_in("ggml_opencl: no device matching 'A750' was found.\n") == "K0508");
  CHECK(code_in("Requested local memory size not available\n") == "K0501");
  CHECK(code_in("RuntimeError: No supported device found (CUDA/XPU/HPU/...).\n") == "K0514");
}

TEST_CASE("words that other programs have too say nothing without a GPU") {
  for (const char* log : {"ImportError: please `pip install requests` first\n",
                          "mount: failed: CAP_SYS_ADMIN is required\n",
                          "Your printer driver is outdated\n",
                          "ValueError: Invalid buffer size\n",
                          "error: more than one matching device found, use -s\n",
                          "Process likely out of memory, restarting\n",
                          "Chrome ran out of memory when loading this page\n",
                          "aws: requested profile not supported\n",
                          "scanner: no supported device found\n",
                          "Upgrade to the latest driver for your mouse\n",
                          "error: invalid device id 7\n",
                          "header not available in this browser\n",
                          "Bluetooth: this device will be ignored, version 2\n",
                          "error: backend 'x11' was not found\n",
                          "adb: no device matching 'emulator'\n",
                          "make: Error compiling kernel: 6.1\n",
                          "timeout waiting for device /dev/ttyUSB0\n",
                          "error: unknown option '--frobnicate'\n",
                          "PCI device 0000:05:00.0 is in use by driver QEMU\n",
                          "Invalid device specification \"tty\"\n"}) {
    CAPTURE(log);
    const auto finding = read_log(log);
    CHECK_MESSAGE(!finding, (finding ? to_text(*finding) : ""));
  }
}
