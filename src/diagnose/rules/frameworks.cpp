// SPDX-License-Identifier: MIT
// Sentences by the program that prints them, as they stand in its sources; ranks as in system.cpp.
#include "diagnose/log_causes.hpp"

namespace kiln::detail {
namespace {

constexpr std::string_view kOwnAssertion =
    "an assertion of a kernel failed: most likely an index or a label is out of range";

constexpr Rule kFrameworkRules[] = {
    // PyTorch, and what belongs to it.
    {"device is out of range, device is", "total number of device", "", Cause::misuse, 90, Cause::no_device,
     "the program asks for a device by a number that there is not"},
    {"doesn't have xccl built in|doesn't have ccl built in", "", "", Cause::library, 85, Cause::none,
     "this PyTorch was built without oneCCL: one with XCCL is needed, or oneccl_bind_pt"},
    {"global id: [", "local id: [&assertion", "", Cause::misuse, 88, Cause::page_fault, kOwnAssertion},
    {"degenerate zebin", "", "", Cause::compiler_crash, 92, Cause::scratch},
    {"unknown grf_mode", "", "", Cause::misuse, 85},
    {"grf_mode", "cannot be used with num_warps", "", Cause::misuse, 88},
    {"doesn't reference xpu device memory", "", "", Cause::misuse, 92, Cause::none,
     "a kernel of Triton is given memory of the host: move the tensor to `xpu`"},

    // OpenVINO.
    {"no supported ocl devices found", "", "", Cause::no_device, 75, Cause::library},
    {"allocated by a different engine|shared usm buffer has smaller size|shared buffer has smaller size", "",
     "", Cause::misuse, 85},
    {"does not advertise cl_", "", "", Cause::other_target, 85, Cause::library},
    {"error set arg", "code: -51", "", Cause::argument_size, 75, Cause::misuse},
    {"onednn engine can be used for intel gpus only", "", "", Cause::other_target, 85},

    // llama.cpp, Ollama.
    {"check_allow_gpu_index error", "[0--", "", Cause::no_device, 86, Cause::library},
    {"check_allow_gpu_index error", "", "", Cause::misuse, 85, Cause::no_device,
     "the program asks for a device by a number that there is not"},
    {"bytes on host|bytes of memory on host", "allocate", "", Cause::host_memory, 80, Cause::memory_full},
    {"model requires more system memory", "", "", Cause::host_memory, 88},

    // Programs of science.
    {"requested too much scratch memory on level 0", "", "", Cause::slm, 95, Cause::none,
     "Kokkos takes scratch memory of level 0 from shared local memory: use less of it, or level 1"},
    {"requested too much scratch memory on level 1", "", "", Cause::memory_full, 90, Cause::none,
     "Kokkos takes scratch memory of level 1 from the memory of the device"},
    {"requested too large team size", "", "", Cause::group_size, 92},
    {"library not compiled for this accelerator", "", "", Cause::other_target, 85},
    {"status: incompatible (please recompile", "", "", Cause::other_target, 80, Cause::none,
     "GROMACS was built for another kind of GPU (GMX_GPU_NB_CLUSTER_SIZE)"},
    {"unsupported use of double value", "", "", Cause::fp64, 92},
    {"oneapi initialized but no drivers found", "", "", Cause::no_device, 60, Cause::library},
    {"computefollowsdatainferenceerror|executionqueueinferenceerror|executionplacementerror", "", "",
     Cause::misuse, 90, Cause::none, "arrays that belong to different queues are given to one operation"},
    {"unsupportedbackenderror", "", "", Cause::other_target, 80},
    {"arrayfire exception", "not supported for this device", "", Cause::other_target, 80, Cause::fp64},
    {"arrayfire exception", "double precision", "", Cause::fp64, 90},
    {"arrayfire exception", "device out of memory", "", Cause::memory_full, 80},
    {"cannot find symbol ", "in kernel library", "", Cause::unresolved, 88},

    // Pictures, video, and what else takes a GPU.
    {"requested to create oneapi device while not enabled", "", "", Cause::library, 85, Cause::none,
     "this Blender was built without oneAPI"},
    {"not enough allocatable device memory", "", "", Cause::memory_full, 85, Cause::too_large},
    {"no usable encoding profile|no usable encoding entrypoint|no support for codec", "", "",
     Cause::other_target, 75, Cause::library,
     "this GPU, or its driver, does not encode or decode in the way that it was asked for"},
    {"opencl function is not available", "", "", Cause::library, 80, Cause::none,
     "the loader of OpenCL is too old for the program, or there is none"},
    {"failed to initialize pmu", "permission denied|operation not permitted", "", Cause::permission, 80,
     Cause::none, "the GPU's counters cannot be read: they are for root, or for CAP_PERFMON"},
    {"required for i915 pmu support|required for xe pmu support", "", "", Cause::kernel_driver, 80,
     Cause::other_target},
    {"platform_not_found_khr", "", "", Cause::no_device, 60, Cause::library},
    {"vulkan support is incomplete", "", "", Cause::other_target, 40, Cause::library},
    {"display driver", "stopped responding. save your work and reboot", "", Cause::wedged, 86, Cause::hang},

    // SYCL's runtime and its adapters.
    {"no valid l0 drivers found", "", "", Cause::no_device, 60, Cause::library},
    {"skipping level zero adapter due to the loader version", "", "", Cause::library, 82, Cause::none,
     "SYCL does not use this release of Level Zero's loader, which it knows to be faulty: take another"},
    {"p2p is not accessible", "", "", Cause::peer, 84},
    {"adapter v2 is used but the current driver does not support", "", "", Cause::library, 82, Cause::none,
     "the second adapter of Level Zero needs a newer driver: SYCL_UR_USE_LEVEL_ZERO_V2=0 chooses the first"},
    {"all memory allocations must be tracked", "", "", Cause::misuse, 80, Cause::none,
     "memory is freed that SYCL's runtime did not allocate, or in another context"},
    {"missing backend, format of filter", "", "", Cause::misuse, 88, Cause::none,
     "ONEAPI_DEVICE_SELECTOR is written wrongly: `backend:devices`"},
    {"devicesanitizer: double-free|devicesanitizer: bad-free|devicesanitizer: bad-context|"
     "devicesanitizer: invalid-argument",
     "", "", Cause::misuse, 93},
    {"devicesanitizer: ", "access|free", "", Cause::page_fault, 92, Cause::misuse},
    {"joint_matrix", "is not supported on this device", "", Cause::other_target, 90, Cause::none,
     "the device has no matrix units, or none for these types and sizes"},
    {"number of work-groups exceed limit", "", "", Cause::group_size, 91},
    {"work group size not bigger than|work-group size not bigger than", "", "", Cause::group_size, 90},
    {"kernel argument values have not been specified|selected device is not in the given context", "", "",
     Cause::misuse, 85},
    {"sub-buffer object is specified as the value", "", "", Cause::misuse, 85},
    {"failure to allocate memory for data store", "", "", Cause::memory_full, 80, Cause::too_large},
    {"image format is not supported by device|images are not supported by this device", "", "",
     Cause::other_target, 85},
    {"does not support", "usm allocations", "", Cause::other_target, 85, Cause::none,
     "the device does not have unified shared memory (USM) of this kind"},
    {"invalid_kernel_argument_size", "", "", Cause::argument_size, 60, Cause::misuse},

    // Intel's driver and compiler.
    {"fatal: unknown device: deviceid", "", "", Cause::library, 86, Cause::other_target,
     "the driver does not know this GPU: it is older than it"},
    {"fatal: cannot query ", "parameter", "", Cause::kernel_driver, 84, Cause::no_device,
     "the kernel's driver does not answer what Intel's driver asks of the GPU: one of them is too old"},
    {"unresolved symbol <", "module", "", Cause::unresolved, 88},
    {"unsupported device binary", "gfxcore_family", "", Cause::other_target, 92},
    {"invalid option (arg", "", "", Cause::misuse, 88, Cause::library,
     "ocloc does not know an option that it is given"},
    {"unsupported call to llvm.genx|conversion instruction not supported|can be used only on supported "
     "platform",
     "error", "", Cause::other_target, 92, Cause::none,
     "a kernel has an instruction that the device does not have"},
    {"zegetglobalprocaddrtable function pointer null", "", "", Cause::library, 80, Cause::none,
     "a driver of Level Zero that the loader found is too old for it, or damaged"},
    {"might be an invalid", "in call to ze", "", Cause::misuse, 60},
    {"cannot be used as the type of a kernel parameter", "", "", Cause::build, 90},
    {"error: call to 'native_|error: call to 'half_|error: call to 'convert_|error: call to 'vload|"
     "error: call to 'vstore|error: call to 'atomic_|error: call to 'sub_group_|error: call to 'work_group_",
     "ambiguous", "", Cause::build, 88},

    // oneDNN and oneMKL.
    {"gpu devices queried but not found", "", "", Cause::no_device, 80, Cause::library},
    {"profiling is not supported with out-of-order queues", "", "", Cause::misuse, 88},
    {"device_bad_alloc", "", "", Cause::memory_full, 84, Cause::too_large},
    {"host_bad_alloc", "", "", Cause::host_memory, 84},

    // The translator between LLVM and SPIR-V, in the compilers and in Intel's driver.
    {"invalidbitwidth: |invalidfunctioncall: |invalidwordcount: |invalidmagicnumber: |invalidinstruction: |"
     "invalidfunctioncontrolmask: |invalidllvmmodule: |unsupportedtriple: ",
     "", "", Cause::spirv, 93},
    {"unsupportedvarargfunction: |invalidvarargfunction: ", "", "", Cause::build, 93, Cause::spirv},
};

}  // namespace

std::span<const Rule> framework_rules() { return kFrameworkRules; }

}  // namespace kiln::detail
