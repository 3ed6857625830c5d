// SPDX-License-Identifier: MIT
// Numbers and recognizes devices.
#include "build/device_place.hpp"

#include "level_zero/source.hpp"

namespace kiln::detail {
namespace {

/// All but the place in the order.
std::optional<DevicePlace> describe(DriverRef driver, DeviceRef device) {
  const auto properties = device.properties();
  const auto version = driver.version();
  if (!properties || !version) return std::nullopt;
  DevicePlace place;
  if (const Source* source = source_of(driver.api())) place.source = source->library;
  place.name = properties->name;
  place.vendor_id = properties->vendor_id;
  place.device_id = properties->device_id;
  place.ip_version = properties->ip_version.value_or(0);
  place.driver_version = *version;
  return place;
}

bool alike(const DevicePlace& a, const DevicePlace& b) {
  return a.name == b.name && a.vendor_id == b.vendor_id && a.device_id == b.device_id &&
         a.ip_version == b.ip_version && a.driver_version == b.driver_version;
}

}  // namespace

std::optional<DevicePlace> place_of(DriverRef driver, DeviceRef device) {
  const auto all = drivers(driver.api());
  auto place = describe(driver, device);
  if (!place || place->source.empty() || !all) return std::nullopt;
  std::optional<DevicePlace> like;
  for (std::uint32_t i = 0; i < all->size(); ++i) {
    const auto devices = (*all)[i] == driver ? driver.devices() : std::vector<DeviceRef>();
    for (std::uint32_t j = 0; devices && j < devices->size(); ++j) {
      place->driver = i;
      place->device = j;
      if ((*devices)[j] == device) return place;
      if (const auto other = describe(driver, (*devices)[j]); !like && other && alike(*other, *place))
        like = place;
    }
  }
  return like;
}

std::optional<SelectedDevice> device_at(const DevicePlace& place, const Api& api) {
  const auto all = drivers(api);
  if (!all || place.driver >= all->size()) return std::nullopt;
  const DriverRef driver = (*all)[place.driver];
  const auto devices = driver.devices();
  if (!devices || place.device >= devices->size()) return std::nullopt;
  const DeviceRef device = (*devices)[place.device];
  const auto found = describe(driver, device);
  if (!found || !alike(*found, place)) return std::nullopt;
  return SelectedDevice{driver, device};
}

}  // namespace kiln::detail
