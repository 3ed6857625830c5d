// SPDX-License-Identifier: MIT
// Logs of other people's programs: which cause is found, whatever form it has, and what is no failure.
#include <doctest/doctest.h>

#include <random>

#include "diagnose/log_code.hpp"
#include "diagnose/rules/word_finder.hpp"
#include "unit/golden.hpp"
#include "unit/read_log.hpp"

using namespace kiln;
using namespace kiln::test;

TEST_CASE("K0511 to K0527: one golden text each") {
  check_log("K0511",
            "level_zero backend failed with error: 40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)\n"
            "[10140.7] i915 0000:03:00.0: [drm] GPU HANG: ecode 12:10:85defffa, in repro [7742]\n"
            "[10140.7] i915 0000:03:00.0: [drm] repro[7742] context reset due to GPU hang\n");
  check_log("K0512",
            "RuntimeError: Current platform can NOT allocate memory block with size larger than 4GB! Tried "
            "to allocate "
            "7.62 GiB (GPU  0; 15.11 GiB total capacity; 334.79 MiB already allocated)\n");
  check_log("K0513",
            "projected to use 20798 MiB of device memory vs. 31827 MiB of free device memory\n"
            "UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1\n"
            "can't allocate 21583089664 Bytes of memory on device\n");
  check_log("K0513", "Memory cgroup out of memory: Killed process 1217 (llama-server) total-vm:83886080kB\n",
            "cgroup");
  check_log("K0514", "[ERROR] zeInit failed with error 2013265921\n");
  check_log("K0515", "failed to open /dev/dri/renderD128: Permission denied\n");
  check_log("K0516",
            "ImportError: libze_loader.so.1: cannot open shared object file: No such file or directory\n");
  check_log("K0517",
            "error: Double type is not supported on this platform.\nin kernel: 'scale'\n"
            "error: backend compiler failed build.\n -11 (CL_BUILD_PROGRAM_FAILURE)\n");
  check_log("K0518", "  what():  Sub-group size 8 is not supported on the device\n");
  check_log("K0519",
            "error: Total size of kernel arguments exceeds limit! Total arguments size: 2072, limit: 2048\n");
  check_log("K0520",
            "IGC: Internal Compiler Error: Segmentation violation\nBuild failed with error code: -11\n");
  check_log("K0521",
            "Non-uniform work-groups are not supported by the target device -54 "
            "(PI_ERROR_INVALID_WORK_GROUP_SIZE)\n");
  check_log("K0522", "  what():  No kernel named _ZTS6vector was found\n");
  check_log(
      "K0523",
      "WARNING: Resizable BAR not detected for device 0000:42:00.0\nzeInit: ZE_RESULT_ERROR_UNINITIALIZED\n");
  check_log("K0524",
            "RuntimeError: oneCCL: ze_call.cpp:28 do_call: EXCEPTION: ze error at zeMemOpenIpcHandle, code: "
            "ZE_RESULT_ERROR_INVALID_ARGUMENT\n");
  check_log("K0525", "InvalidModule: Invalid SPIR-V module: incorrect SPIR-V version number 1.4\n");
  check_log("K0526",
            "xe 0000:03:00.0: [drm] *ERROR* Tile0: GT0: reset failed (-ETIMEDOUT)\n"
            "xe 0000:03:00.0: [drm] *ERROR* CRITICAL: Xe has declared device 0000:03:00.0 as wedged.\n");
  check_log("K0527",
            "xe 0000:00:02.0: [drm] *ERROR* GT0: Unsupported GuC v70.20.0! v70.29.2 or newer is required\n");
}

TEST_CASE("firmware, exchanges of handles and programs without code, as their programs print them") {
  // The wedged device is what comes of it.
  CHECK(
      code_in("xe 0000:03:00.0: [drm] *ERROR* GT0: load failed: status = 0x40000056, time = 0ms\n"
              "xe 0000:03:00.0: [drm] *ERROR* GT0: firmware production part check failure\n"
              "xe 0000:03:00.0: [drm] *ERROR* CRITICAL: Xe has declared device 0000:03:00.0 as wedged.\n") ==
      "K0527");
  CHECK(code_in("[drm] *ERROR* GT0: firmware signature verification failed\n") == "K0527");
  CHECK(code_in("|CCL_ERROR| ze_fd_manager.cpp:214 fill_device_fds: condition fds[dev_idx] > 0 failed\n") ==
        "K0524");
  CHECK(code_in("[GPU] Can't get property as no supported devices found or an error happened during devices "
                "query.\n") == "K0514");
  CHECK(code_in("No device program image found 0 (CL_SUCCESS)\n") == "K0522");
  CHECK(code_in("CHIP warning : Missing definition for '_Z1fi'\n"
                "zeModuleCreate failed: ZE_RESULT_ERROR_MODULE_BUILD_FAILURE\n") == "K0510");
  CHECK(code_in("[ERROR] Failed to initialize Level Zero runtime\n") == "K0516");
}

TEST_CASE("a program that cannot ask for free memory has a device") {
  const auto warned =
      read_log("Warning: zesInit failed [check] with code 2013265921. Sysman is unavailable.\n");
  REQUIRE(warned);
  CHECK(warned->code == "K0516");
  CHECK(warned->severity == Severity::warning);
  CHECK(warned->message.find("sysman did not start") == 0);
  CHECK(code_in("Warning: zesInit failed with code 2013265921\n"
                "zeMemAllocDevice failed: 0x70000003\n") == "K0507");
  CHECK(code_in("RuntimeError: The device doesn't support querying the available free memory.\n") == "K0516");
  CHECK(code_in("E itex/core/bfc_allocator.cc:98] Allocator ran out of memory trying to allocate "
                "117964800 Bytes\n") == "K0507");
}

TEST_CASE("a code is found however it is written, and the same cause behind it") {
  for (const char* line :
       {"zeMemAllocDevice failed: 0x70000003", "zeMemAllocDevice returned 1879048195",
        "zeMemAllocDevice error 70000003", "zeMemAllocDevice: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY",
        "clCreateBuffer failed (-4)", "clCreateBuffer: CL_MEM_OBJECT_ALLOCATION_FAILURE",
        "urUSMDeviceAlloc failed with error 39",
        "malloc_device: level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)",
        "malloc_device: Native API failed. Native API returns: -5 (PI_ERROR_OUT_OF_RESOURCES)",
        "hipMalloc: hipErrorOutOfMemory (ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY )",
        "<<<< [2] zeMemAllocDevice [9 ns] ptr = 0 -> ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY(0x1879048195)"}) {
    CAPTURE(line);
    const auto finding = read_log(line);
    REQUIRE(finding);
    CHECK(finding->code == "K0507");
    REQUIRE(row(*finding, "undecided"));
    CHECK(row(*finding, "undecided")->text.find("shared local memory") == std::string::npos);
  }
  CHECK(detail::find_code("Level-Zero error:700000041879048196") == "1879048196");
  CHECK(detail::find_code("GPUDeviceStub::init zeInit error: 78000001") == "2013265921");
  CHECK(detail::find_code("err: clFinish -5.") == "-5");
  CHECK(detail::find_code("UR error: urEnqueueKernelLaunch returned 20") == "UR_RESULT_ERROR_DEVICE_LOST");
}

TEST_CASE("every code of OpenCL and UR is one of Level Zero's underneath") {
  for (std::uint32_t number = 1; number <= 70; ++number)
    if (const std::string_view name = detail::ur_name(number); !name.empty()) {
      CAPTURE(name);
      CHECK(explain_code("UR_RESULT_ERROR_" + std::string(name)));
    }
  CHECK(explain_code("-14")->meaning ==
        explain_code("CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST")->meaning);
  CHECK(explain_code("-1001"));
  CHECK_FALSE(explain_code("-1000"));
  CHECK_FALSE(explain_code("CL_DEVICE_NAME"));
  // Memory that could not be had is not blamed on SLM.
  for (const char* name : {"-4", "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"}) {
    const auto meaning = explain_code(name);
    for (const std::string& cause : meaning->causes) CHECK(cause.find("SLM") == std::string::npos);
  }
}

TEST_CASE("the call decides which cause comes first, on its own line and on lines beside it") {
  const std::string code = "level_zero backend failed with error: 40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)\n";
  CHECK(code_in("in sycl::malloc_device\n" + code) == "K0507");
  CHECK(code_in("clEnqueueNDRangeKernel\n" + code) == "K0501");
  CHECK(code_in("auto tile = local_accessor<float>(n, h);\n" + code) == "K0501");
  CHECK(code_in(code + "SYCL error: CHECK_TRY_ERROR((*stream).memcpy(dst, src, n).wait())\n") == "K0507");
  CHECK(code_in("torch.xpu.synchronize()\n" + code) == "K0511");
  CHECK(code_in("zeKernelCreate returned 0x70000003\n") == "K0503");
  CHECK(code_in("zeModuleCreate returned 0x70000003\n") == "K0501");
  CHECK(code_in("zeMemAllocHost returned 0x70000002\n") == "K0513");
  CHECK(code_in(
            "Error during the build of OpenCL program. Build log:\nocl,errcode -6,CL_OUT_OF_HOST_MEMORY\n") ==
        "K0516");
}

TEST_CASE("a copy between devices blames what is between them, not what is on one of them") {
  for (const char* code : {"UR_RESULT_ERROR_DEVICE_LOST", "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"}) {
    const std::string failed = "level_zero backend failed with error: " + std::string(code) + "\n";
    CHECK(code_in(failed + "in function dev2dev_memcpy at ggml-sycl.cpp:556\n") == "K0524");
    CHECK(code_in("hipMemcpyPeer\n" + failed) == "K0524");
    CHECK(code_in(failed + "in function memcpy at ggml-sycl.cpp:556\n") != "K0524");
  }
}

TEST_CASE("a module of Triton's without its kernel is one that the compiler gave up") {
  for (const char* log :
       {"Module doesn't contain any kernels. Please attempt to tune the 'num_warps' parameter.\n",
        "Error during Intel loadBinary: ZE_RESULT_ERROR_INVALID_KERNEL_NAME\n",
        "RuntimeError: Triton Error [ZE]: 0x78000011\n", "RuntimeError: Triton Error [ZE]: 2013265937\n"}) {
    CAPTURE(log);
    const auto finding = read_log(log);
    REQUIRE(finding);
    CHECK(finding->code == "K0502");
    CHECK(row(*finding, "undecided"));
  }
  CHECK(code_in("RuntimeError: Triton Error [ZE]: 0x70000003\n") != "K0502");
  CHECK(code_in("zeKernelCreate: ZE_RESULT_ERROR_INVALID_KERNEL_NAME\n") != "K0502");
}

TEST_CASE("an abort where the driver needs a library names the library") {
  const std::string abort = "Abort was called at 42 line in file:\n../neo/shared/source/";
  for (const char* file : {"built_ins/built_ins.cpp", "os_interface/windows/wddm_memory_manager.cpp",
                           "gmm_helper/client_context/gmm_client_context.cpp"}) {
    const auto finding = read_log(abort + file + "\n");
    REQUIRE(finding);
    CHECK(finding->code == "K0516");
    CHECK(row(*finding, "undecided"));
    CHECK(row(*finding, "driver's file"));
  }
  CHECK(code_in(abort + "gmm_helper/resource_info.cpp\n") == "K0505");
  CHECK(code_in(abort + "helpers/hw_helper.cpp\n") == "K0505");
}

TEST_CASE("the amounts of an allocator tell a full device from a limit, a share and the host's memory") {
  const auto of = [](const std::string& amounts) {
    return code_in("XPU out of memory. Tried to allocate " + amounts);
  };
  CHECK(of("32.00 GiB. GPU 0 has a total capacity of 11.59 GiB of which 9.01 GiB is free.") == "K0507");
  CHECK(of("1.84 GiB. GPU 0 has a total capacity of 22.71 GiB of which 0.00 GiB is free.") == "K0507");
  CHECK(of("4.66 GiB. GPU 0 has a total capacity of 5.65 GiB of which 5.65 GiB is free.") == "K0512");
  CHECK(of("8.11 GiB. GPU 0 has a total capacity of 16.54 GiB of which 16.54 GiB is free. 8.27 GiB allowed; "
           "Of the "
           "allocated memory 0 bytes is allocated") == "K0507");
  CHECK(of("512.00 MiB. GPU 0 has a total capacity of 30.90 GiB of which 11.71 GiB is free. Of the allocated "
           "memory 19.00 "
           "GiB is allocated") == "K0513");
  CHECK(of("1.71 GiB (GPU 0; 15.56 GiB total capacity; 0 bytes already allocated; 0 bytes reserved)") ==
        "K0512");
  CHECK(of("1.71 GiB (GPU 0; 15.56 GiB total capacity; 14.50 GiB already allocated; 15 GiB reserved)") ==
        "K0507");
  // How much is in use is not said.
  CHECK(of("2.34 GiB. GPU 0 has a total capacity of 23.91 GiB") == "K0507");
  CHECK(code_in("can't allocate 20731101184 Bytes of memory on device\n") == "K0512");
  CHECK(code_in("can't allocate 595591168 Bytes of memory on device\n") == "K0507");
  CHECK(code_in("[GPU] Exceeded max size of memory object allocation: requested 1258291200 bytes, but max "
                "alloc size "
                "supported by device is 1073741824 bytes.") == "K0512");
  CHECK(code_in(
            "hipErrorOutOfMemory (requested 4294967296 bytes, CL_DEVICE_MAX_MEM_ALLOC_SIZE is 3086544896) in "
            "allocateImpl\n") == "K0512");
  CHECK(code_in(
            "hipErrorOutOfMemory (requested 1073741824 bytes, CL_DEVICE_MAX_MEM_ALLOC_SIZE is 3086544896) in "
            "allocateImpl\n") == "K0507");
}

TEST_CASE("many lines of one failure are one explanation, and the kernel's log says more than the code") {
  const std::string runtime =
      "RuntimeError: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)\n";
  const std::string kernel =
      "xe 0000:c3:00.0: [drm] Tile0: GT0: Engine memory CAT error [18]: class=ccs, logical_mask: 0x1, "
      "guc_id=11\n"
      "xe 0000:c3:00.0: [drm] Tile0: GT0: Timedout job: seqno=4, lrc_seqno=4, guc_id=11, flags=0x0 in python "
      "[412]\n";
  for (const std::string& log : {runtime + kernel, kernel + runtime}) {
    const auto finding = read_log(log);
    REQUIRE(finding);
    CHECK(finding->code == "K0506");
    CHECK(row(*finding, "engine")->text == "ccs");
    CHECK(row(*finding, "process")->text == "python [412]");
    CHECK(row(*finding, "code")->text.starts_with("UR_RESULT_ERROR_DEVICE_LOST, line "));
    CHECK_FALSE(row(*finding, "undecided"));
  }
  CHECK(row(*read_log("Fence expiration time out i915-0000:06:00.0:openarc[88121]:1f42!"), "process")->text ==
        "openarc[88121]");
  // A sentence of the compiler is more than the code that follows it, and than the words around it.
  CHECK(
      code_in("The program was built for 1 devices\nBuild program log for 'Intel(R) Arc(TM)':\n"
              "error: Double type is not supported on this platform.\nerror: backend compiler failed build.\n"
              "-11 (CL_BUILD_PROGRAM_FAILURE)\n") == "K0517");
}

TEST_CASE("what stands beside a failure is not taken for it") {
  // Asked for and not there, and a misuse that a program goes on after.
  CHECK(code_in("clGetDeviceInfo: CL_INVALID_VALUE\nclFinish: CL_OUT_OF_RESOURCES\n") == "K0511");
  CHECK(code_in("zeDriverGetExtensionFunctionAddress: ZE_RESULT_ERROR_INVALID_ARGUMENT\nzeMemAllocDevice: "
                "ZE_RESULT_ERROR_UNSUPPORTED_SIZE\n") == "K0512");
  CHECK(code_in("warning: failed to mlock 512 B (RLIMIT_MEMLOCK)\nzeInit: ZE_RESULT_ERROR_UNINITIALIZED\n") ==
        "K0514");
  // Registers that spill are slow, and no failure.
  const auto spills =
      read_log("warning: kernel k compiled SIMD32 allocated 128 regs and spilled around 300\n");
  REQUIRE(spills);
  CHECK(spills->severity == Severity::warning);
  // That a build failed is less than the code.
  CHECK(code_in("[GPU] ProgramBuilder build failed!\nclBuildProgram: CL_OUT_OF_RESOURCES\n") == "K0501");
  CHECK(code_in("SYCL error: CHECK_TRY_ERROR(op()): Exception caught in this line of code.\n") == "K0507");
}

TEST_CASE("ordinary text is no failure") {
  for (const char* log : {
           "[1/9] Compiling C++ object error_code.o\n0 errors, 0 warnings\nexit status 0\nerrors: "
           "0\nreturned 0\n",
           "test.cpp:5: warning: enumeration value 'ZE_RESULT_ERROR_DEVICE_LOST' not handled in switch "
           "[-Wswitch]\n",
           "  case CL_OUT_OF_RESOURCES: return \"CL_OUT_OF_RESOURCES\";\n",
           "#define UR_RESULT_ERROR_OUT_OF_RESOURCES 40\n",
           "gcc -DCL_TARGET_OPENCL_VERSION=300 -DCL_USE_DEPRECATED_OPENCL_1_2_APIS -c a.c\n",
           "openlibm.obj : error LNK2001: unresolved external symbol _sinf\n",
           "/usr/bin/ld: main.o: in function `main': main.c:(.text+0x9): undefined reference to `missing'\n",
           "ld.lld: error: undefined symbol: missing\n",
           "subprocess.CalledProcessError: Command died with exit status -11\nExit Code: -6\nreturned -5\n",
           "RuntimeError: CUDA out of memory. Tried to allocate 2.26 GiB (GPU 0; 6.00 GiB total capacity)\n",
           "amdgpu 0000:3d:00.0: amdgpu: ring gfx timeout\n[drm:amdgpu_job_timedout [amdgpu]] *ERROR* "
           "Timedout job\n",
           "i915 0000:00:02.0: [drm] GuC firmware i915/adlp_guc_70.bin version 70.5.1\ni915 0000:00:02.0: "
           "[drm] HuC "
           "authenticated\nxe 0000:03:00.0: [drm] Attempting to resize bar from 256MiB -> 16384MiB\n"
           "xe 0000:03:00.0: [drm] BAR2 resized to 16384M\nxe 0000:03:00.0: [drm] Xe device coredump has "
           "been deleted.\n",
           "misc dxg: dxgk: dxgkio_query_adapter_info: Ioctl failed: -22\n",
           "[opencl:cpu][opencl:0] Intel(R) OpenCL\n[opencl:gpu][opencl:1] Intel(R) Arc(TM) Graphics\n",
           "ZE_LOADER_DEBUG_TRACE:Load Library of libze_intel_vpu.so.1 failed with libze_intel_vpu.so.1: "
           "cannot open "
           "shared object file: No such file or directory\nZE_LOADER_DEBUG_TRACE:Loading Driver "
           "libze_intel_gpu.so.1\n",
           "get_memory_info: [warning] ext_intel_free_memory is not supported (export/set "
           "ZES_ENABLE_SYSMAN=1 to support), "
           "use total memory as free memory\n",
           "Number of platforms                               2\n  Global memory size  16704737280 "
           "(15.56GiB)\n",
           "gcc: internal compiler error: Segmentation fault signal terminated program cc1plus\n",
           "ZE_RESULT_SUCCESS(0x0)\nUR <--- Device->initialize()(UR_RESULT_SUCCESS)\nCL_SUCCESS\n",
           "build 1879048000 of 2026, 0x7000 bytes, version 1.6.33578, job 70000003x, step 21474\n",
           "loss 0.70000003, rate -5, error -0.5, ratio -11.3, failed tests: 0\n",
           "icpx: note: intel\nsycl.cpp:12:3: error: expected ';'\nsycl.cpp:1:1: fatal error: too many "
           "errors\n",
           "ValueError: bad\n",  // of no program that uses a GPU
           "<LOADER>[INFO]: failed to load adapter 'libur_adapter_hip.so.0' with error: "
           "libur_adapter_hip.so.0: "
           "cannot open shared object file: No such file or directory\n<LOADER>[INFO]: loaded adapter "
           "libur_adapter_level_zero.so.0\n",
           "[trace] Load Library of libze_intel_gpu_legacy1.so.1 failed with libze_intel_gpu_legacy1.so.1: "
           "cannot "
           "open shared object file: No such file or directory\n",
       }) {
    CAPTURE(log);
    const auto finding = read_log(log);
    CHECK_MESSAGE(!finding, (finding ? to_text(*finding) : ""));
  }
}

TEST_CASE("libraries that do not load, of Linux and Windows") {
  CHECK(code_in("ImportError: libmkl_sycl_blas.so.4: cannot open shared object file: No such file\n") ==
        "K0516");
  CHECK(code_in("ImportError: libur_loader.so.0: version `LIBUR_LOADER_0.10' not found (required by "
                "libsycl.so.8)\n") == "K0516");
  CHECK(code_in("OSError: [WinError 126] The specified module could not be found. Error loading "
                "\"torch\\lib\\c10_xpu.dll\" or one of its dependencies.\n") == "K0516");
  CHECK(code_in("ocloc failed with error code 250\nError! Loading of IGC library has failed! Filename: "
                "libigc.so.2\n") == "K0516");
  CHECK(code_in("sycl\nOSError: [WinError 193] %1 is not a valid Win32 application\n") == "K0516");
  CHECK(code_in("Could not find AOT device compiler ocloc\nLLVM ERROR: SPIR-V not supported\n") == "K0516");
  CHECK(code_in(
            "xpu\nRuntimeError: Compile package was created with a different toolkit version: 20260100\n") ==
        "K0516");
}

TEST_CASE("that a program failed is said where the log has no cause, and how to get a log that has") {
  const auto died = read_log("ggml_sycl_init: found 1 SYCL devices\nSegmentation fault (core dumped)\n");
  REQUIRE(died);
  CHECK(died->code == "K0508");
  CHECK(row(*died, "undecided"));
  CHECK(row(*died, "at")->text == "line 2 of the log");
  CHECK(std::ranges::any_of(died->help,
                            [](const std::string& help) { return help.find("--record") != help.npos; }));
  // Whatever says more goes first, before it or behind.
  for (const char* log : {"sycl\nSegmentation fault\nxe 0000:03:00.0: [drm] GT0: Timedout job: seqno=1\n",
                          "xe 0000:03:00.0: [drm] GT0: Timedout job: seqno=1\nsycl\nRuntimeError: none\n"})
    CHECK(code_in(log) == "K0511");
  CHECK(code_in("RuntimeError: xpu\nzeMemAllocDevice failed: 0x70000003\n") == "K0507");
  CHECK(code_in("(EngineCore) RuntimeError: Only XE2 kernels are supported currently.\n") == "K0522");
  // A shell's word for a child that it saw killed; in a sentence it is somebody else's.
  CHECK(code_in("loading the model\nKilled\n") == "K0513");
  CHECK(code_in("Killed by a creeper\n").empty());
}

TEST_CASE("a page fault that the driver prints is the cause of the abort behind it") {
  CHECK(code_in(
            "FATAL: Unexpected page fault from GPU at 0xff00ffffffe00000, ctx_id: 1 (CCS) type: 0 "
            "(NotPresent), "
            "level: 0 (PTE), access: 0 (Read), banned: 1, aborting.\nAbort was called at 287 line in file:\n"
            "./shared/source/os_interface/linux/drm_neo.cpp\n") == "K0506");
}

TEST_CASE("words are found together as each alone, whatever their prefixes and suffixes share") {
  std::mt19937 random(7);
  const auto text = [&](std::size_t most) {
    std::string made(1 + random() % most, 'a');
    for (char& c : made) c = static_cast<char>('a' + random() % 3);
    return made;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> made;
    for (int i = 0; i < 12; ++i) made.push_back(text(5));
    const std::vector<std::string_view> words(made.begin(), made.end());
    const detail::WordFinder finder(words);
    std::string line = text(40);
    const auto found = finder.find(line);
    for (std::size_t i = 0; i < words.size(); ++i) CHECK(found[i] == (line.find(words[i]) != line.npos));
    for (char& c : line) c = static_cast<char>(c - 'a' + 'A');
    CHECK(finder.find(line) == found);
  }
}

TEST_CASE("a failure for want of memory and an account of it in one log are explained together") {
  const std::string failed =
      "RuntimeError: level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)\n"
      "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 19.40 GiB. GPU 0 has a total capacity of "
      "31.40 GiB of which 31.39 GiB is free.\n";
  const auto before = read_log(failed);
  REQUIRE(before);
  CHECK(before->code == "K0512");
  REQUIRE(row(*before, "undecided"));
  CHECK(std::ranges::any_of(
      before->help, [](const std::string& help) { return help.starts_with("to decide: `kiln memory"); }));

  // What `kiln memory` printed, without a size: the rules are asked again, with the one of the log.
  const std::string numbers =
      "card       0000:03:00.0, 8086:e223, xe\n  memory   31.4 GiB, free 31.4 GiB\n  window   32.0 GiB\n\n"
      "host       15.3 GiB, available 12.0 GiB\n  swap     4.0 GiB, free 4.0 GiB\n"
      "  promised at most 19.3 GiB at once\n\nprocess    4711, kiln\n"
      "  group    /a: 64.0 GiB, left 60.0 GiB\n  locked   8.0 MiB\n";
  check_log("K0513", failed + numbers, "account");
  CHECK(code_in(numbers + failed) == "K0513");
  // With room for it in the host another cause is left.
  std::string roomy = numbers;
  roomy.replace(roomy.find("15.3 GiB, available 12.0"), 24, "93.3 GiB, available 82.0");
  REQUIRE(read_log(failed + roomy));
  CHECK_FALSE(row(*read_log(failed + roomy), "`kiln memory`, K0240"));
  CHECK(row(*read_log(failed + roomy), "undecided"));

  // What the kernel promises: without a limit there is no such cause, and nobody knows where it is not shown.
  const auto with_promise = [&](const std::string& promise) {
    const std::string line = "  promised at most 19.3 GiB at once\n";
    std::string other = numbers;
    return other.replace(other.find(line), line.size(), promise);
  };
  const auto unlimited = read_log(failed + with_promise("  promised without limit\n"));
  REQUIRE(unlimited);
  CHECK(unlimited->code == "K0512");
  CHECK(row(*unlimited, "`kiln memory`, in the way, K0241"));
  const auto unknown = read_log(failed + with_promise(""));
  REQUIRE(unknown);
  CHECK(unknown->code == "K0512");
  CHECK(row(*unknown, "`kiln memory`, in the way, K0240"));
  CHECK(code_in(failed + with_promise("  promised 8.0 GiB of 9.5 GiB\n")) == "K0513");
  CHECK(code_in(failed + with_promise("  promised 8.0 GiB of 64.0 GiB\n")) == "K0512");

  // Of several the last counts: one card is not two, and what was full then may be free now.
  CHECK(code_in(numbers + failed + numbers) == "K0513");
  std::string full = numbers;
  full.replace(full.find("left 60.0"), 9, "left 10.0");
  const auto again = read_log(full + failed + roomy);
  REQUIRE(again);
  CHECK_FALSE(std::ranges::any_of(
      again->rows, [](const DiagnosticRow& each) { return each.label.starts_with("`kiln memory`"); }));

  // A cause that the log states outright stays.
  const std::string too_large =
      "[GPU] Exceeded max size of memory object allocation: requested 34359738368 bytes, but max alloc size "
      "supported by device is 4294959104 bytes.\n";
  const auto stated = read_log(too_large + numbers);
  REQUIRE(stated);
  CHECK(stated->code == "K0512");
  CHECK(row(*stated, "`kiln memory`, in the way, K0240"));
  CHECK(stated->help.front().starts_with("several smaller allocations"));
  const auto also_held = read_log(too_large + "error[K0244]: `llama-server` holds 30.0 GiB\n");
  REQUIRE(also_held);
  CHECK(also_held->code == "K0512");
  CHECK(row(*also_held, "`kiln memory`, in the way, K0244"));

  // A cause that it printed itself.
  const std::string held =
      "error[K0244]: `llama-server` (process 5001234) holds 30.0 GiB of the card's 32.0 GiB\n"
      "  = asked for: 4294967296 B\n  help: end what is not needed\n";
  check_log("K0507", failed + held, "account");
  const auto warned = read_log(failed + "warning" + held.substr(5));
  REQUIRE(warned);
  CHECK(warned->code == "K0512");  // which the amounts of the failure say
  CHECK(row(*warned, "`kiln memory`, in the way, K0244"));
  CHECK(warned->help.front() == "end what is not needed");

  // Kiln's own refusal beside it; and a failure that has nothing to do with memory.
  const std::string refusal =
      "error[K0214]: the device has no memory left for an allocation\n  = asked for: 4294967296 B\n";
  const auto refused = read_log(refusal + held);
  REQUIRE(refused);
  CHECK(refused->message.find("llama-server") != std::string::npos);
  const auto hung = read_log("UR_RESULT_ERROR_DEVICE_LOST\n" + numbers);
  REQUIRE(hung);
  CHECK_FALSE(std::ranges::any_of(
      hung->rows, [](const DiagnosticRow& each) { return each.label.starts_with("`kiln memory`"); }));
}

TEST_CASE("what a kernel's driver says of itself, of its module and of a node that is not its own") {
  const std::string no_node = "ls: cannot access '/dev/dri': No such file or directory\n";
  CHECK(code_in("i915_compat: Unknown symbol drm_dp_dpcd_read (err -2)\n" + no_node) == "K0527");
  CHECK(code_in("nvidia_drm: Unknown symbol drm_gem_object_free (err -2)\n" + no_node) == "K0514");
  // A name behind "kernel:" is the system's log only behind a time.
  CHECK(code_in("OpenCL error: Error compiling kernel: 1:31:6: error: redeclaration of 'atom_add' must have "
                "it\n") == "K0504");
  CHECK(code_in("OpenCL platform: Nov 24 12:00:00 host kernel: error: redeclaration of 'atom_add'\n") == "");
  CHECK(code_in("kernel: BUG: kernel NULL pointer dereference, address: 0000000000000000\n"
                "kernel: Workqueue: i915 __i915_gem_free_work [i915]\n") == "K0527");
  CHECK(code_in("i915 0000:00:02.0: [drm] *ERROR* [CRTC:131:pipe B] flip_done timed out\n") == "K0527");
  CHECK(code_in("i915 0000:00:02.0: [drm] *ERROR* [CRTC:131:pipe B] flip_done timed out\n"
                "i915 0000:00:02.0: [drm] GPU HANG: ecode 12:1:8ed9fff3, in repro [7742]\n") == "K0511");
  CHECK(code_in("get chip id failed: -1 [22]\nlibva error: iHD_drv_video.so init failed\n") == "K0514");
  CHECK(code_in("get chip id failed: -1 [13]\nlibva error: iHD_drv_video.so init failed\n") == "K0515");
  CHECK(code_in("crw-rw---- 1 root   109 226, 128 Jul  7 16:20 renderD128\n") == "K0515");
  CHECK(code_in("crw-rw---- 1 nobody   108 226, 128 Oct 31 16:13 renderD128\n") == "K0515");
  CHECK(code_in("crw-rw---- 1 nobody video 226,   0 Nov  5 19:24 card0\n") == "");
  CHECK(code_in("crw-rw---- 226, 128\n") == "");
  CHECK(code_in("crw-rw---- 1 0 109 226, 128 Jul  7 16:20 renderD128\n") == "");
  CHECK(code_in("crw-rw---- 1 root render 226, 128 Jul  7 16:20 renderD128\n") == "");
  CHECK(code_in("crw-rw---- 1 root _ssh 226, 128 Jul 15 00:30 renderD128\n") == "K0515");
  CHECK(code_in("crw-rw---- 1 nobody nogroup 226,   1 Jul  7 13:43 card1\n"
                "No VA display found for device /dev/dri/renderD128\n") == "K0515");
}

TEST_CASE("a code of a call that lists devices blames what is installed, not memory") {
  const std::string unknown =
      "RuntimeError: level_zero backend failed with error: 2147483646 "
      "(UR_RESULT_ERROR_UNKNOWN)\n";
  CHECK(code_in("torch._C._xpu_getDeviceCount()\n" + unknown) == "K0516");
  CHECK(code_in(unknown) == "K0507");
}

TEST_CASE("oneVPL's device that failed is no hang where nothing says so") {
  CHECK(code_in("encqsv: MFXVideoENCODE_EncodeFrameAsync failed (-17)\n") == "K0516");
  CHECK(code_in("encqsv: MFXVideoENCODE_EncodeFrameAsync failed (-21)\n") == "K0511");
  CHECK(code_in("h264_qsv: Impossible to convert between the formats supported by the filter "
                "'Parsed_null_0' and the filter 'auto_scale_0'\n") == "K0508");
}
