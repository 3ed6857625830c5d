// SPDX-License-Identifier: MIT
// Why there is no GPU: each cause with its own diagnostic and cure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/result.hpp"

namespace kiln::detail {

/// K0301: the loader could not be opened. `reason` is dlerror()'s text.
[[nodiscard]] Error explain_missing_loader(const char* reason);

/// A device node of a GPU.
struct RenderNode {
  std::string path;
  int error = 0;  ///< errno of opening it, 0 when it opens
};

/// The entries of a folder that begin so, each opened once.
[[nodiscard]] std::vector<RenderNode> device_nodes(const std::string& path, std::string_view prefix);

/// KILN_CPU_DRIVER, else own_file(kOwnCpuDriver).
[[nodiscard]] std::string cpu_driver_path();

/// KILN_LAYER, else own_file(kOwnLayer): what `kiln exec` puts before drivers.
[[nodiscard]] std::string layer_path();

/// Intel's driver for GPUs, as the loader knows it.
inline constexpr const char* kIntelDriver = "libze_intel_gpu.so.1";
/// How to get it.
inline constexpr const char* kInstallIntelDriver =
    "install it: `apt install intel-opencl-icd` on Debian 12, `apt install libze-intel-gpu1` on Debian "
    "testing "
    "and newer Ubuntu (Debian 13 has none), package `intel-compute-runtime` or `intel-level-zero-gpu` "
    "elsewhere";

/// What makes Intel's driver show that product without a GPU. Error: K0307.
[[nodiscard]] Result<std::vector<std::pair<const char*, std::string>>> capture_variables(
    const std::string& product);

/// What this machine shows of Intel's driver and of GPUs.
struct GpuSurvey {
  std::string alternative;                  ///< ZE_ENABLE_ALT_DRIVERS, the driver that is used instead
  std::optional<std::string> driver_error;  ///< why Intel's driver cannot be opened
  std::vector<RenderNode> nodes;
};

/// K0302 no driver, K0303 no device, K0304 a device that this user may not open, K0305 anything else. Pure.
[[nodiscard]] Error explain_missing_gpu(ze_result_t code, const char* call, const GpuSurvey& survey);

/// The same for this machine: looks at the installed driver and at /dev/dri.
[[nodiscard]] Error explain_missing_gpu(ze_result_t code, const char* call);

/// K0308: Intel's driver without a GPU was asked for a product that this release does not know.
[[nodiscard]] Error explain_unknown_product(const std::string& product);

/// K0309: a driver that reads its environment once was loaded for another device: "capture:dg2" is in the way
/// of "gpu".
[[nodiscard]] Error explain_taken_driver(const std::string& wanted, const std::string& loaded);

/// K0310: a driver library of the user's choice shows no device.
[[nodiscard]] Error explain_empty_driver(const std::string& library);

}  // namespace kiln::detail
