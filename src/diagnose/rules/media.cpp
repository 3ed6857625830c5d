// SPDX-License-Identifier: MIT
// Sentences of programs that decode, encode and show video on an Intel GPU, and of the libraries below them;
// ranks as in system.cpp.
#include "diagnose/log_causes.hpp"

namespace kiln::detail {
namespace {

constexpr std::string_view kFiltersOfDevices =
    "the filters, decoder and encoder of a video were not given the device that they need, or another's "
    "frames: "
    "-init_hw_device with -filter_hw_device, and hwupload or hwmap between what is on the GPU and what is "
    "not";
constexpr Rule kMediaRules[] = {
    // FFmpeg.
    {"this version of libva does|this version of runtime does|this version of onevpl does", "", "",
     Cause::library, 60, Cause::other_target},
    {"hardware does not support image size", "", "", Cause::other_target, 60, Cause::none, kNotAsAsked},
    {"more than one matching device found", "avhwdevice", "", Cause::misuse, 60, Cause::no_device,
     "several devices fit the name that the program was given: one must be named exactly"},
    {"filtering requires a|filtering requires an", "device", "", Cause::misuse, 60, Cause::none,
     kFiltersOfDevices},
    {"a hardware device reference is required|a hardware frames reference is required|"
     "expected for hardware decoding, but got",
     "", "", Cause::misuse, 60, Cause::none, kFiltersOfDevices},
    {"impossible to convert between the formats supported by the filter", "", "", Cause::misuse, 46,
     Cause::other_target, "the filters of a video are joined that do not take each other's formats"},
    {"requires a fixed frame pool size", "", "", Cause::misuse, 60, Cause::none,
     "the frames of a video were not given room beforehand: -extra_hw_frames, or initial_pool_size"},
    {"allocated surfaces count", "pool_size", "", Cause::misuse, 60, Cause::none,
     "the frames of a video have too little room: -extra_hw_frames"},
    {"no va display found for device /dev/dri", "", "", Cause::permission, 45, Cause::no_device},
    {"invalid device specification", "qsv|vaapi|opencl|vulkan|drm|d3d11", "", Cause::misuse, 60,
     Cause::no_device,
     "-init_hw_device names its device in another way: TYPE=NAME:DEVICE, or TYPE=NAME@SOURCE of one that "
     "stands before"},
    {"failed to sync surface", "hw busy", "", Cause::hang, 60, Cause::page_fault},
    // VA-API and oneVPL, whoever asks.
    {"vaprofile|vaentrypoint", "not supported|unsupported|not implemented",
     "falling back|info:", Cause::other_target, 46, Cause::library, kNotAsAsked},
    {"encoder [vaapi]|encoder [quicksync]|encoder [qsv]", "does not support", "", Cause::other_target, 46,
     Cause::library, kNotAsAsked},
    {"va_opendriver() returns -1", "", "", Cause::library, 34, Cause::no_device,
     "the driver of VA-API (iHD, i965) is not there, or does not start on this GPU"},
    {"unknown libva error", "", "", Cause::library, 46, Cause::no_device,
     "the driver of VA-API (iHD, i965) is not there, or does not start on this GPU"},
    {"legacy intel-vaapi-driver detected", "", "", Cause::library, 60, Cause::none,
     "the older driver of VA-API (i965) is found before intel-media-driver (iHD), which Quick Sync needs: "
     "LIBVA_DRIVER_NAME=iHD"},
    {"create a mfx loader|mfxload failed|mfxload() failed|mfxload returned", "", "", Cause::library, 60,
     Cause::no_device, kNoMediaRuntime},
    {"mfxinit|mfxsession.init|mfx_session", "err_unsupported|(-3)", "", Cause::library, 56, Cause::no_device,
     kNoMediaRuntime},
    {"mfx_err_device_lost|lose the hw acceleration device|hardware device was lost", "", "", Cause::hang, 60,
     Cause::library},
    {"incorrect qsv device index", "", "", Cause::misuse, 60, Cause::no_device, kNoSuchDevice},
    {"isn't an intel device|is not an intel device|not an intel gpu", "", "", Cause::misuse, 60,
     Cause::no_device,
     "the node that the program was given is of another vendor's GPU: /dev/dri/by-path tells which is whose"},
    // What takes pictures of a screen.
    {"failed to gain cap_sys_admin|handle for drm framebuffer", "cap_sys_admin|not permitted", "",
     Cause::permission, 60, Cause::none,
     "frames of the screen are for root, or for CAP_SYS_ADMIN: `sudo setcap cap_sys_admin+p PROGRAM`"},
    {"not from this mesa build", "", "", Cause::library, 60, Cause::none,
     "libraries of Mesa are of different releases"},
    {"kernel missing|kernel is missing", "anv|mesa|iris|drm", "", Cause::kernel_driver, 60, Cause::library,
     "the kernel's driver lacks what Mesa's driver needs: a newer kernel"},
    {"dxvkmemoryallocator: memory allocation failed", "", "", Cause::memory_full, 60, Cause::host_memory},
};

}  // namespace

std::span<const Rule> media_rules() { return kMediaRules; }

}  // namespace kiln::detail
