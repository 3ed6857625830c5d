// SPDX-License-Identifier: MIT
// A device by a description that holds in another process too, where its handle means nothing.
#pragma once

#include <optional>
#include <string>

#include "kiln/device.hpp"

namespace kiln::detail {

/// Where another process finds the same device, and how it knows that it has found it.
struct DevicePlace {
  std::string source;        ///< Source::library of its table
  std::uint32_t driver = 0;  ///< in the order of drivers()
  std::uint32_t device = 0;  ///< in the order of DriverRef::devices()
  std::string name;          ///< of the device
  std::uint32_t vendor_id = 0, device_id = 0, ip_version = 0, driver_version = 0;
};

/// Of a device; of a sub-device the device that it is a part of, or one like it: native code is the same.
/// Nothing where the table is the caller's own, or the device is not among those of the driver.
[[nodiscard]] std::optional<DevicePlace> place_of(DriverRef driver, DeviceRef device);

/// The device there, or nothing when another is there. `api` is the table of `place.source`.
[[nodiscard]] std::optional<SelectedDevice> device_at(const DevicePlace& place, const Api& api);

}  // namespace kiln::detail
