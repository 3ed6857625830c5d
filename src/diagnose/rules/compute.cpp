// SPDX-License-Identifier: MIT
// Sentences of programs that compute on a GPU (images, hashes, science, models), and of those that give it to
// containers; ranks as in system.cpp.
#include "diagnose/log_causes.hpp"

namespace kiln::detail {
namespace {

constexpr std::string_view kNotSupportedValue =
    "the program is asked for what it does not know: it names what it takes";

constexpr Rule kComputeRules[] = {
    // Who names the device.
    {"illegal value for deviceindex|no such physical index or device|device handle not "
     "found for device "
     "id|hardware device selection string has the wrong length",
     "", "", Cause::misuse, 60, Cause::no_device, kNoSuchDevice},
    {"invalid device_id", "specified.", "", Cause::misuse, 60, Cause::no_device, kNoSuchDevice},
    {"--device must be between", "number of devices available", "", Cause::misuse, 60, Cause::no_device,
     kNoSuchDevice},
    {"no device matching|no platform matching", "opencl|sycl|gpu", "", Cause::misuse, 60, Cause::no_device,
     kNoSuchDevice},
    {"invalid platform id", "run-time error: platform", "", Cause::misuse, 60, Cause::no_device,
     kNoSuchDevice},
    {"invalid number of devices specified", "modelmanager", "", Cause::misuse, 60, Cause::no_device,
     kNoSuchDevice},
    {"backend '", "' was not found&backend config", "", Cause::misuse, 60, Cause::library, kNoSuchDevice},
    {"requested by sd_vk_device|sd_vk_device environment variable|requested main_gpu is outside", "", "",
     Cause::misuse, 33, Cause::no_device, kNoSuchDevice},
    {"ds_accelerator must be|invalid firmware type|target_device: |not found in supported config keys",
     "must be|is not allowed|valid options|supported config keys", "", Cause::misuse, 60, Cause::none,
     kNotSupportedValue},
    // Kompute, OSPRay, boost.compute.
    {"family queue index does not exist|evalasync called when|zero-sized memory object|copy tensors of "
     "different "
     "sizes|"
     "[ospinit() called twice",
     "", "", Cause::misuse, 60},
    {"invalid buffer size", "", "", Cause::too_large, 25, Cause::misuse},
    {"kernel compilation failed (-11)", "", "", Cause::build, 57},
    {"build program failure|error compiling kernel:", "gegl|openmm|opencl", "", Cause::build, 57},
    // CLBlast's numbers of its own, and OpenCL's.
    {"clblast: -2044|clblast: 2044|knodoubleprecision", "", "", Cause::fp64, 85},
    {"clblast: -54|clblast: -55|clblast: -53", "", "", Cause::group_size, 60},
    {"clblast: -2046|kinvalidlocalmemusage", "", "", Cause::slm, 85},
    {"clsetkernelarg: -51", "", "", Cause::argument_size, 60, Cause::misuse},
    // Vulkan's numbers, as those who compute by it print them.
    {" vk", " failed -2 | failed: -2 ", "", Cause::memory_full, 56, Cause::too_large},
    {" vk", " failed -1 | failed: -1 ", "", Cause::host_memory, 56, Cause::memory_full},
    {" vk", " failed -4 | failed: -4 ", "", Cause::hang, 56, Cause::page_fault},
    {" vk", " failed -7 | failed -8 | failed -11 ", "", Cause::other_target, 56, Cause::library},
    {" vk", " failed -3 | failed -6 | failed -9 ", "", Cause::library, 56, Cause::no_device},
    {"image dimension too large|image data block is too big|is too big to fit in a single block", "", "",
     Cause::too_large, 60},
    {"no vulkan device", "", "info", Cause::no_device, 46, Cause::library},
    // SLM in other words.
    {"requested local memory size not available|kib local device memory", "not available|overflowing", "",
     Cause::slm, 85},
    {"shared_memory_bytes_used|max_shared_memory_per_block", "check failed|only ", "", Cause::slm, 92},
    // Memory.
    {"ran out of memory when regular vae|got an oom, unloading|vae decode failed (likely out of memory|may "
     "be out of vram",
     "", "", Cause::memory_full, 46, Cause::host_memory},
    {"but free vram is", "", "", Cause::memory_full, 33, Cause::misuse},
    {"could not alloc buffer on device", ": -61 ", "", Cause::too_large, 85},
    // What is not installed, or too old.
    {"no opencl library found|no working opencl library|unable to load opencl library|no compiler is "
     "available for this "
     "device",
     "", "", Cause::library, 46, Cause::no_device},
    {"upgrade to the latest driver|driver is outdated", "gpu|intel|graphics", "cuda|amd", Cause::library, 46,
     Cause::other_target, "the driver is older than the program wants"},
    {"discarding device", "is blacklisted", "", Cause::library, 60, Cause::other_target,
     "the program leaves this release of the driver out, with which it met wrong answers: another is needed"},
    {"discarding device", "due to missing|because it is", "", Cause::other_target, 60},
    {"header not available in this", "oneapi", "", Cause::library, 60},
    {"sycl runtime is not d|xccl is not enabled in this|not supported in the current pytorch version", "", "",
     Cause::library, 46, Cause::none,
     "this PyTorch, or what it needs beside it, is of another release than the program wants"},
    // No device.
    {"failed to detect requested gpu device|failed to return any opencl platforms|failed to find gpus|"
     "no appropriate opencl platform|could not create device: device not found|requires at least one gpu",
     "", "", Cause::no_device, 46, Cause::library},
    {"no supported device found", "xpu|gpu", "", Cause::no_device, 46, Cause::library},
    {"is no longer discoverable", "pci address", "", Cause::no_device, 46, Cause::wedged},
    {"does not support double precision|no double precision support", "", "", Cause::fp64, 88,
     Cause::other_target},
    {"xmx matrix engine not available|unsupported features were requested: features(|does not support base "
     "atomics",
     "", "", Cause::other_target, 60},
    {"kernel module xe is not loaded|kernel module i915 is not loaded", "", "", Cause::kernel_driver, 60},
    {"this device will be ignored", "opencl version", "", Cause::other_target, 46},
    {"may be in survivability mode|is in survivability mode", "", "", Cause::wedged, 89,
     Cause::kernel_driver},
    // Rights, and who holds the device.
    {"/dev/vfio", "permission denied|not permitted", "", Cause::permission, 25},
    {"pci device", "is in use by", "", Cause::misuse, 25, Cause::none, kDeviceHeld},
    {"xpu", "device type tensor to numpy", "", Cause::misuse, 85, Cause::none,
     "a tensor of the device is read by the host: `.cpu()` copies it there first"},
};

}  // namespace

std::span<const Rule> compute_rules() { return kComputeRules; }

}  // namespace kiln::detail
