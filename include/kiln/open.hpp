// SPDX-License-Identifier: MIT
// Opens a device by what the user asked for: a GPU, the CPU device, or Intel's driver without a GPU.
#pragma once

#include <string>
#include <string_view>

#include "kiln/context.hpp"

namespace kiln {

enum class DeviceKind : std::uint8_t {
  gpu,      ///< what the Level Zero loader finds
  cpu,      ///< Kiln's CPU driver, straight through its own table
  capture,  ///< Intel's driver without a GPU: facts and refusals, but kernels are not executed
  driver,   ///< a driver library of the caller's choice, straight through its own table
};

struct DeviceRequest {
  DeviceKind kind = DeviceKind::gpu;
  std::string product;  ///< cpu: limits of that product, empty for the default; capture: required; driver:
                        ///< the library
};

/// "gpu", "cpu", "cpu:PRODUCT", "capture:PRODUCT" or "driver:LIBRARY". Error: INVALID_ARGUMENT (K0307). Pure.
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
/// KILN_CPU_PROFILE, which is set back. capture: sets the driver's debug variables in this process. Both must
/// therefore come before other threads read the environment. A driver reads them once, so that a process has
/// one product of each kind, and no GPU of Intel's once it has a capture device: K0309. Thread-bound. Errors:
/// K0301 to K0310, or the driver's.
[[nodiscard]] Result<OpenDevice> open_device(const DeviceRequest& request);

/// The same for a device that is already known: one that an engine chose, or another than the first.
[[nodiscard]] Result<OpenDevice> open_device(const SelectedDevice& selected, DeviceKind kind);

}  // namespace kiln
