// SPDX-License-Identifier: MIT
// Device requests, and the way from a request to an open device.
#include "kiln/open.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "level_zero/call.hpp"
#include "level_zero/discovery.hpp"
#include "level_zero/install_paths.hpp"

namespace kiln {
namespace detail {

std::string cpu_driver_path() {
  // Not for a process with more rights than its user: what is named here is loaded.
  if (const char* chosen = secure_getenv("KILN_CPU_DRIVER"); chosen && *chosen) return chosen;
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&cpu_driver_path), &self) && self.dli_fname) {
    const std::filesystem::path here = std::filesystem::path(self.dli_fname).parent_path();
    std::error_code ignored;
    for (const char* place : {kCpuDriverName, kCpuDriverInBuildTree})
      if (const auto path = here / place; std::filesystem::exists(path, ignored)) return path.string();
  }
  return std::string(kLibraryFolder) + "/" + kCpuDriverName;
}

}  // namespace detail
namespace {

/// Topologies that make Intel's driver answer without a GPU; seen with drivers 22.43 and 26.27.
struct CaptureProduct {
  std::string_view name;
  const char* topology;  // slices x sub-slices x EUs
};
constexpr std::array<CaptureProduct, 7> kCaptureProducts{{{"skl", "1x3x8"},
                                                          {"tgllp", "1x6x16"},
                                                          {"dg2", "8x4x16"},
                                                          {"pvc", "8x8x8"},
                                                          {"bmg", "5x4x8"},
                                                          {"lnl", "2x4x8"},
                                                          {"ptl", "3x4x8"}}};

/// What the CPU device has limits of.
constexpr std::array<std::string_view, 6> kCpuProducts{"tgllp", "dg2", "pvc", "bmg", "lnl", "ptl"};

/// Nothing stands for the driver's own choice.
bool known_to_cpu(std::string_view product) {
  return product.empty() || std::ranges::find(kCpuProducts, product) != kCpuProducts.end();
}

Error bad_request(std::string_view text) {
  Diagnostic diagnostic{"K0307", "`" + std::string(text) + "` names no device", {}, {}};
  diagnostic.help = {
      "use gpu, cpu, cpu:PRODUCT or capture:PRODUCT, where PRODUCT is one of tgllp, dg2, pvc, bmg, lnl, ptl"};
  return Error(ZE_RESULT_ERROR_INVALID_ARGUMENT, "open_device", std::move(diagnostic));
}

Result<SelectedDevice> select(const DeviceRequest& request) {
  switch (request.kind) {
    case DeviceKind::gpu: {
      const auto api = load_loader();
      KILN_TRY(api);
      return first_device(ZE_DEVICE_TYPE_GPU, **api);
    }
    case DeviceKind::cpu: {
      if (!known_to_cpu(request.product)) return tl::unexpected(bad_request("cpu:" + request.product));
      if (!request.product.empty()) setenv("KILN_CPU_PROFILE", request.product.c_str(), 1);
      const auto api = load_driver(detail::cpu_driver_path());
      KILN_TRY(api);
      return first_device(ZE_DEVICE_TYPE_CPU, **api);
    }
    case DeviceKind::capture: {
      const auto product = std::ranges::find(kCaptureProducts, request.product, &CaptureProduct::name);
      if (product == kCaptureProducts.end()) return tl::unexpected(bad_request("capture:" + request.product));
      setenv("NEOReadDebugKeys", "1", 1);
      setenv("SetCommandStreamReceiver", "1", 1);
      setenv("ProductFamilyOverride", request.product.c_str(), 1);
      setenv("HardwareInfoOverride", product->topology, 0);
      for (const char* off : {"UseAubStream", "UseBindlessMode", "UseExternalAllocatorForSshAndDsh"})
        setenv(off, "0", 1);
      setenv("AUBDumpCaptureFileName", "/dev/null", 0);
      const auto api = load_driver("libze_intel_gpu.so.1");
      KILN_TRY(api);
      auto selected = first_device(ZE_DEVICE_TYPE_GPU, **api);
      KILN_TRY(selected);
      // A driver that does not know the product shows a shell of a device, without any queue.
      if (!selected->device.compute_queue_group())
        return tl::unexpected(detail::explain_unknown_product(request.product));
      return selected;
    }
  }
  return tl::unexpected(bad_request("?"));
}

}  // namespace

Result<DeviceRequest> parse_device_request(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string product(colon == text.npos ? "" : text.substr(colon + 1));
  const bool named = colon != text.npos;
  if (kind == "gpu" && !named) return DeviceRequest{DeviceKind::gpu, ""};
  if (kind == "cpu" && named == !product.empty() && known_to_cpu(product))
    return DeviceRequest{DeviceKind::cpu, product};
  if (kind == "capture" && !product.empty()) return DeviceRequest{DeviceKind::capture, product};
  return tl::unexpected(bad_request(text));
}

Result<DeviceRequest> requested_device() {
  const char* text = secure_getenv("KILN_DEVICE");
  return text && *text ? parse_device_request(text) : DeviceRequest{};
}

Result<OpenDevice> open_device(const SelectedDevice& selected, DeviceKind kind) {
  auto context = ContextRef::create(selected.driver);
  KILN_TRY(context);
  auto properties = selected.device.properties();
  KILN_TRY(properties);
  auto compute = selected.device.compute_properties();
  KILN_TRY(compute);
  return OpenDevice{selected.driver,        selected.device,     *std::move(context),
                    *std::move(properties), *std::move(compute), kind};
}

Result<OpenDevice> open_device(const DeviceRequest& request) {
  auto selected = select(request);
  KILN_TRY(selected);
  return open_device(*selected, request.kind);
}

}  // namespace kiln
