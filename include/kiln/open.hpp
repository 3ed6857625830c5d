// SPDX-License-Identifier: MIT
// Opens a device by what the user asked for: a GPU, the CPU device, or Intel's driver without a GPU.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "kiln/context.hpp"

namespace kiln {

enum class DeviceKind : std::uint8_t {
  gpu,      ///< what the Level Zero loader finds
  cpu,      ///< Kiln's CPU driver, straight through its own table
  capture,  ///< Intel's driver without a GPU: facts and refusals, but kernels are not executed
  driver,   ///< a driver library of the caller's choice, straight through its own table
  /// Intel's driver 22.43 with a simulated GPU behind it, which executes native code: docs/simulated-gpu.md
  simulated,
};

struct DeviceRequest {
  DeviceKind kind = DeviceKind::gpu;
  std::string product;  ///< cpu: limits of that product, empty for the default; capture and simulated:
                        ///< required; driver: the library
};

/// "gpu", "cpu", "cpu:PRODUCT", "capture:PRODUCT", "sim:PRODUCT" or "driver:LIBRARY". Error: INVALID_ARGUMENT
/// (K0307). Pure.
[[nodiscard]] Result<DeviceRequest> parse_device_request(std::string_view text);

/// What KILN_DEVICE asks for, or a GPU. Error: as parse_device_request.
[[nodiscard]] Result<DeviceRequest> requested_device();

struct OpenDevice {
  DriverRef driver;
  DeviceRef device;
  Context context;
  DeviceProperties properties;
  ComputeProperties compute;
  DeviceKind kind = DeviceKind::gpu;
};

/// Loads the driver that the request needs and opens its first device. Never falls back. Devices of different
/// kinds are open side by side.
/// cpu: the driver is KILN_CPU_DRIVER, else the installed libze_kiln_cpu.so; the product goes to it in
/// KILN_CPU_PROFILE, which is set back. capture and simulated: set the driver's debug variables in this
/// process. All must therefore come before other threads read the environment. A driver reads them once, so
/// that a process has one product of each kind, and no GPU of Intel's once it has a capture or simulated
/// device: K0309. A simulated GPU is lost with the first fault of a kernel. Thread-bound. Errors: K0301 to
/// K0311, or the driver's.
[[nodiscard]] Result<OpenDevice> open_device(const DeviceRequest& request);

/// The same for a device that is already known: one that an engine chose, or another than the first.
[[nodiscard]] Result<OpenDevice> open_device(const SelectedDevice& selected, DeviceKind kind);

/// An OpenDevice in a context that somebody else owns: an engine's own, or one that several devices share.
/// The context is never destroyed here and must outlive this. Movable; converts to what Kiln's functions
/// take.
class LentDevice {
 public:
  LentDevice() = default;
  LentDevice(LentDevice&&) noexcept = default;
  LentDevice& operator=(LentDevice&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    device_ = std::move(other.device_);
    return *this;
  }
  ~LentDevice() { give_back(); }

  [[nodiscard]] const OpenDevice& get() const& { return device_; }
  const OpenDevice& get() const&& = delete;
  operator const OpenDevice&() const& { return device_; }
  operator const OpenDevice&() const&& = delete;
  const OpenDevice* operator->() const& { return &device_; }
  const OpenDevice* operator->() const&& = delete;

 private:
  friend Result<LentDevice> lend_device(const SelectedDevice&, ContextRef, DeviceKind);
  explicit LentDevice(OpenDevice&& device) : device_(std::move(device)) {}
  void give_back() { static_cast<void>(device_.context.release()); }

  OpenDevice device_;
};

/// Raw handles go in: `lend_device({driver, device}, context, DeviceKind::gpu)`; those of a driver beside
/// default_api() with its table (Ref). The context must be one of that driver, with that device. Errors:
/// K0222, K0228, or the driver's.
[[nodiscard]] Result<LentDevice> lend_device(const SelectedDevice& selected, ContextRef context,
                                             DeviceKind kind);

}  // namespace kiln
